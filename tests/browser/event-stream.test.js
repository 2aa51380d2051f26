// The decoder of events and the state of a conversation, without a page.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { eventDecoder } from "../../crates/server/console/js/net/event-stream.js";
import { applyEvent, emptyConversation } from "../../crates/server/console/js/state/conversation.js";
import { fromEntries } from "../../crates/server/console/js/state/journal.js";
import { startServerFor } from "./support/server.js";

const decodeAll = (chunks) => {
  const events = [];
  const decode = eventDecoder((event) => events.push(event));
  chunks.forEach(decode);
  return events;
};

describe("a stream of events", () => {
  it("is the same wherever its bytes are cut", () => {
    const text =
      ': hello\n\nid: 1\ndata: {"a":1}\n\nid:2\r\ndata: x\r\ndata:  y\r\n\r\nevent: z\rdata\r\rdata: never ended';
    const whole = decodeAll([text]);
    assert.deepEqual(whole, [
      { id: "1", data: '{"a":1}' },
      { id: "2", data: "x\n y" },
      { id: "2", data: "" },
    ]);
    assert.deepEqual(decodeAll([...text]), whole);
    for (let at = 0; at <= text.length; at += 1)
      assert.deepEqual(decodeAll([text.slice(0, at), text.slice(at)]), whole);
  });
});

describe("a conversation", () => {
  /** The parts that must be equal; times are not. */
  const essence = ({ turns }) =>
    turns.map(({ message, steps, calls, end }) => ({
      message,
      end: end?.end,
      steps: steps.map(({ parts, stop, usage, cost }) => ({ parts, stop, usage, cost })),
      calls: [...calls.values()].map(({ id, tool, argumentsText, state, result, decision }) => [
        id,
        tool,
        argumentsText,
        state,
        result,
        decision,
      ]),
    }));

  it("has the same state from the journal as from the events", async (t) => {
    const { url } = await startServerFor(t);
    const base = `${url}/api/conversations/one`;
    const post = async (path, body) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${base}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      assert.equal(response.status, 202, await response.text());
    };
    const { seq } = await (await fetch(base)).json();
    const streamed = emptyConversation();
    const response = await fetch(`${base}/events?after=${seq}`);
    const chunks = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    const events = [];
    const decode = eventDecoder(({ data }) => events.push(JSON.parse(data)));
    const until = async (type) => {
      for (;;) {
        while (events.length) {
          const { event, at } = events.shift();
          applyEvent(streamed, event, at);
          if (event.type === type) return event;
        }
        decode((await chunks.next()).value);
      }
    };
    await post("prompt", { text: "What time is it in Tokyo?" });
    await until("ended");
    await post("prompt", { text: "Refund order A-1, 5 euros" });
    const { call, token } = await until("asked");
    await until("paused");
    await post("decide", { call: call.id, token, verdict: "deny", reason: "no" });
    await until("ended");
    await chunks.return();
    const { entries } = await (await fetch(base)).json();
    assert.deepEqual(essence(streamed), essence(fromEntries(entries)));
  });
});
