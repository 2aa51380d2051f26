// Server-sent events over fetch: unlike EventSource it sends headers, and how to come back is ours to say.

import { api } from "./client.js";
import { FIRST, SLOWEST } from "./reconnect.js";

/** The server says something at least every few seconds; a connection this quiet is dead, whatever the system thinks. */
const QUIET = 60_000;

/**
 * Cuts a stream of text into events, wherever its pieces end.
 * @param {(event: {id: string | null, data: string}) => void} tell
 * @returns {(piece: string) => void}
 */
export function decoder(tell) {
  let rest = "";
  let data = [];
  let id = null;
  const line = (text) => {
    if (text === "") {
      if (data.length) tell({ id, data: data.join("\n") });
      data = [];
    } else if (!text.startsWith(":")) {
      const colon = text.indexOf(":");
      const name = colon < 0 ? text : text.slice(0, colon);
      const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
      if (name === "data") data.push(value);
      if (name === "id") id = value;
    }
  };
  return (piece) => {
    rest += piece;
    // A carriage return at the very end may be half of a line end.
    const whole = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    const lines = rest.slice(0, whole).split(/\r\n|\n|\r/);
    rest = lines.pop() + rest.slice(whole);
    lines.forEach(line);
  };
}

/**
 * Follows a conversation until it is told to stop.
 *
 * Each time a connection stands, `begin` brings the conversation as it is now and returns the number of the last event
 * in it; what comes after follows through `event`. So a lost connection, a restarted server and a first look are the
 * same thing.
 * @param {string} id
 * @param {{begin: (signal: AbortSignal) => Promise<number>, event: (told: any) => void,
 *          state: (state: "connecting" | "open" | "lost" | "refused", error?: Error) => void}} on
 * @returns {{stop: () => void, retry: () => void}}
 */
export function follow(id, on) {
  const ended = new AbortController();
  let wake = () => {};
  let wait = FIRST;

  const once = async () => {
    const quiet = new AbortController();
    const signal = AbortSignal.any([ended.signal, quiet.signal]);
    let timer = 0;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), QUIET);
    };
    try {
      heard();
      const after = await on.begin(signal);
      const response = await api.events(id, after, signal);
      on.state("open");
      wait = FIRST;
      const feed = decoder(({ data }) => on.event(JSON.parse(data)));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        heard();
        const { done, value } = await reader.read();
        if (done) return;
        feed(value);
      }
    } finally {
      clearTimeout(timer);
    }
  };

  const pause = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, wait);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      wait = Math.min(wait * 2, SLOWEST);
    });

  (async () => {
    on.state("connecting");
    while (!ended.signal.aborted) {
      try {
        await once();
        if (!ended.signal.aborted) on.state("lost");
      } catch (error) {
        if (ended.signal.aborted) return;
        // What a server refuses it will refuse again; anything else may pass.
        if (error.status >= 400 && error.status < 500 && error.status !== 429) {
          on.state("refused", error);
          return;
        }
        on.state("lost", error);
      }
      if (!ended.signal.aborted) await pause();
    }
  })();

  const retry = () => wake();
  addEventListener("online", retry, { signal: ended.signal });
  return { retry, stop: () => (ended.abort(), wake()) };
}
