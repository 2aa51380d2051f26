// What a page makes of a stream, without a page.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { decoder } from "../../crates/server/console/js/api/event-stream.js";
import { apply, empty } from "../../crates/server/console/js/state/conversation.js";
import { fromEntries } from "../../crates/server/console/js/state/journal.js";
import { started } from "./support/server.js";

const decoded = (pieces) => {
  const events = [];
  const feed = decoder((event) => events.push(event));
  pieces.forEach(feed);
  return events;
};

describe("a stream of events", () => {
  it("is the same wherever its bytes are cut", () => {
    const text =
      ': hello\n\nid: 1\ndata: {"a":1}\n\nid:2\r\ndata: x\r\ndata:  y\r\n\r\nevent: z\rdata\r\rdata: never ended';
    const whole = decoded([text]);
    assert.deepEqual(whole, [
      { id: "1", data: '{"a":1}' },
      { id: "2", data: "x\n y" },
      { id: "2", data: "" },
    ]);
    assert.deepEqual(decoded([...text]), whole);
    for (let at = 0; at <= text.length; at += 1) assert.deepEqual(decoded([text.slice(0, at), text.slice(at)]), whole);
  });
});

describe("a conversation", () => {
  /** What of it has to be the same: times are those of the clock. */
  const essence = ({ turns }) =>
    turns.map(({ user, steps, calls, end }) => ({
      user,
      end: end?.end,
      steps: steps.map(({ parts, stop, usage, cost }) => ({ parts, stop, usage, cost })),
      calls: [...calls.values()].map(({ id, tool, text, state, result, verdict }) => [
        id,
        tool,
        text,
        state,
        result,
        verdict,
      ]),
    }));

  it("is the same from the journal as from what was streamed", async (t) => {
    const { url } = await started(t);
    const base = `${url}/api/conversations/one`;
    const post = async (path, body) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${base}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      assert.equal(response.status, 202, await response.text());
    };
    const { seq } = await (await fetch(base)).json();
    const streamed = empty();
    const response = await fetch(`${base}/events?after=${seq}`);
    const pieces = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    const heard = [];
    const feed = decoder(({ data }) => heard.push(JSON.parse(data)));
    const until = async (type) => {
      for (;;) {
        while (heard.length) {
          const { event, at } = heard.shift();
          apply(streamed, event, at);
          if (event.type === type) return event;
        }
        feed((await pieces.next()).value);
      }
    };
    await post("prompt", { text: "What time is it in Tokyo?" });
    await until("ended");
    await post("prompt", { text: "Refund order A-1, 5 euros" });
    const asked = await until("asked");
    await until("paused");
    await post("decide", { call: asked.call.id, token: asked.token, verdict: "deny", reason: "no" });
    await until("ended");
    await pieces.return();
    const { entries } = await (await fetch(base)).json();
    assert.deepEqual(essence(streamed), essence(fromEntries(entries)));
  });
});
