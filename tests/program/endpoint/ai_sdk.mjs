// A server's URL in, `all well` out: the AI SDK's own transport and stream reader talk to it.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.PACKAGES, "here.js"));
const { DefaultChatTransport, readUIMessageStream } = await import(require.resolve("ai"));
const [url] = process.argv.slice(2);

const userMessage = (text) => ({ id: `u-${text.length}`, role: "user", parts: [{ type: "text", text }] });

function transport(fetch) {
  return new DefaultChatTransport({ api: `${url}/api/chat`, fetch });
}

function send(chatId, messages, fetch) {
  const trigger = "submit-message";
  return transport(fetch).sendMessages({ chatId, messages, trigger, messageId: undefined, abortSignal: undefined });
}

/** Reads a stream to its end, and returns the message that it comes to. */
async function message(stream, before) {
  let last;
  const onError = (error) => assert.fail(String(error));
  for await (const next of readUIMessageStream({ stream, message: before, onError })) last = next;
  return last;
}

const text = (message) => message.parts.filter((part) => part.type === "text").map((part) => part.text).join("");

{
  const question = userMessage("What time is it in Tokyo?");
  const answer = await message(await send("ai-1", [question]));
  const call = answer.parts.find((part) => part.type === "tool-get_city_time");
  assert.equal(call?.state, "output-available", JSON.stringify(answer));
  assert.equal(call.input.city, "Tokyo");
  assert.match(String(call.output), /Tokyo/);
  assert.match(text(answer), /Tokyo/);
  assert.equal(answer.metadata?.usage?.output > 0, true, JSON.stringify(answer.metadata));

  const next = await message(await send("ai-1", [question, answer, userMessage("And in Paris?")]));
  assert.match(text(next), /Paris/);
}

{
  // A call that needs approval waits, and goes on in the same message.
  const question = userMessage("Refund 25 euros for order A-1");
  const asked = await message(await send("ai-2", [question]));
  const call = asked.parts.find((part) => part.type === "tool-issue_refund");
  assert.equal(call?.state, "approval-requested", JSON.stringify(asked));
  const approval = { ...call.approval, approved: false, reason: "not today" };
  const parts = asked.parts.map((part) => (part === call ? { ...part, state: "approval-responded", approval } : part));
  const decided = { ...asked, parts };
  const answer = await message(await send("ai-2", [question, decided]), decided);
  const denied = answer.parts.find((part) => part.type === "tool-issue_refund");
  assert.equal(denied.state, "output-denied", JSON.stringify(answer));
}

{
  // The connection is lost in mid-answer; a client that reconnects gets all of it.
  const leave = new AbortController();
  const losing = (input, init) => fetch(input, { ...init, signal: leave.signal });
  const stream = await send("ai-3", [userMessage("Write a report on whales at a pace of 1000 ms")], losing);
  const reader = stream.getReader();
  await reader.read();
  leave.abort();
  await reader.cancel().catch(() => {});
  const back = await transport().reconnectToStream({ chatId: "ai-3" });
  assert.notEqual(back, null, "the answer is still under way");
  const answer = await message(back);
  const call = answer.parts.find((part) => part.type === "tool-write_report");
  assert.equal(call?.state, "output-available", JSON.stringify(answer));
  assert.notEqual(text(answer), "");
  // The end event is sent a moment before the turn is over.
  let more;
  while ((more = await transport().reconnectToStream({ chatId: "ai-3" })) !== null) await message(more);
}

console.log("all well");
