// Server-sent events over fetch: unlike `EventSource`, it sends headers and leaves the reconnection to us.

import { api } from "./api-client.js";
import { MIN_BACKOFF, MAX_BACKOFF } from "./reconnect.js";

/** The server sends a comment every few seconds; a connection that is silent for so many milliseconds is dead. */
const IDLE_TIMEOUT = 60_000;

/**
 * Creates a decoder of server-sent events, which may be split anywhere between chunks.
 * @param {(event: {id: string | null, data: string}) => void} onEvent
 * @returns {(chunk: string) => void}
 */
export function eventDecoder(onEvent) {
  let buffer = "";
  let data = [];
  let id = null;
  const readLine = (text) => {
    if (text === "") {
      if (data.length) onEvent({ id, data: data.join("\n") });
      data = [];
    } else if (!text.startsWith(":")) {
      const colon = text.indexOf(":");
      const name = colon < 0 ? text : text.slice(0, colon);
      const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
      if (name === "data") data.push(value);
      if (name === "id") id = value;
    }
  };
  return (chunk) => {
    buffer += chunk;
    // A carriage return at the end may be the first half of a line break.
    const complete = buffer.endsWith("\r") ? buffer.length - 1 : buffer.length;
    const lines = buffer.slice(0, complete).split(/\r\n|\n|\r/);
    buffer = lines.pop() + buffer.slice(complete);
    lines.forEach(readLine);
  };
}

/**
 * Subscribes to a conversation and reconnects until it is stopped.
 *
 * Every connection begins with `loadSnapshot`, which returns the sequence number of the snapshot's last event; later
 * events go to `onEvent`. So the first connection, a lost one and a restarted server are one code path.
 * @param {string} id
 * @param {{loadSnapshot: (signal: AbortSignal) => Promise<number>, onEvent: (event: any) => void,
 *          onState: (state: "connecting" | "open" | "lost" | "refused", error?: Error) => void}} handlers
 * @returns {{stop: () => void, retry: () => void, reload: () => void}}
 */
export function followConversation(id, { loadSnapshot, onEvent, onState }) {
  const stopped = new AbortController();
  let wake = () => {};
  let delay = MIN_BACKOFF;
  let connection = new AbortController();
  let isReloading = false;

  const connect = async () => {
    connection = new AbortController();
    const { signal } = connection;
    let timer = 0;
    const restartIdleTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(() => connection.abort(), IDLE_TIMEOUT);
    };
    try {
      restartIdleTimer();
      const after = await loadSnapshot(signal);
      const response = await api.events(id, after, signal);
      onState("open");
      delay = MIN_BACKOFF;
      const decode = eventDecoder(({ data }) => signal.aborted || onEvent(JSON.parse(data)));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        restartIdleTimer();
        const { done, value } = await reader.read();
        if (done) return;
        decode(value);
      }
    } finally {
      clearTimeout(timer);
    }
  };

  const backOff = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, delay);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      delay = Math.min(delay * 2, MAX_BACKOFF);
    });

  (async () => {
    onState("connecting");
    while (!stopped.signal.aborted) {
      try {
        await connect();
        if (!stopped.signal.aborted) onState("lost");
      } catch (error) {
        if (stopped.signal.aborted) return;
        if (isReloading) {
          isReloading = false;
          continue;
        }
        // A retry does not help against a client error, except that of the rate limit.
        if (error.status >= 400 && error.status < 500 && error.status !== 429) {
          onState("refused", error);
          return;
        }
        onState("lost", error);
      }
      if (!stopped.signal.aborted) await backOff();
    }
  })();

  const retry = () => wake();
  addEventListener("online", retry, { signal: stopped.signal });
  const stop = () => {
    stopped.abort();
    connection.abort();
    wake();
  };
  /** Loads a snapshot at once, and continues after it. */
  const reload = () => {
    isReloading = true;
    connection.abort();
    wake();
  };
  return { retry, stop, reload };
}
