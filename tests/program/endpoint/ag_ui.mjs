// A server's URL in, `all well` out: AG-UI's own client runs the agent, and verifies every event that it gets.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.PACKAGES, "here.js"));
const { HttpAgent, buildResumeArray } = require("@ag-ui/client");
const [url] = process.argv.slice(2);

// What the client does not know it takes away with a warning: there must be nothing of that kind.
const warned = [];
console.warn = (...words) => warned.push(words.join(" "));

function agent(threadId) {
  return new HttpAgent({ url: `${url}/agui`, threadId });
}

/** Runs an agent, and returns the events that its verifier let through. */
async function run(agent, parameters) {
  const events = [];
  let failure;
  await agent.runAgent(parameters, {
    onEvent: ({ event }) => void events.push(event),
    onRunFailed: ({ error }) => void (failure = error),
  });
  assert.equal(failure, undefined);
  return events;
}

const kinds = (events) => events.map((event) => event.type);

{
  const assistant = agent("agui-1");
  assistant.addMessage({ id: "u1", role: "user", content: "What time is it in Tokyo?" });
  const events = await run(assistant);
  assert.equal(events[0].type, "RUN_STARTED");
  assert.equal(events.at(-1).type, "RUN_FINISHED");
  for (const kind of ["STEP_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "TEXT_MESSAGE_CONTENT"]) {
    assert.ok(kinds(events).includes(kind), `${kind} of ${kinds(events)}`);
  }
  assert.deepEqual(assistant.messages.map((message) => message.role), ["user", "assistant", "tool", "assistant"]);
  const [, asked, result, answer] = assistant.messages;
  assert.equal(asked.toolCalls[0].function.name, "get_city_time");
  assert.equal(JSON.parse(asked.toolCalls[0].function.arguments).city, "Tokyo");
  assert.match(result.content, /Tokyo/);
  assert.match(answer.content, /Tokyo/);

  assistant.addMessage({ id: "u2", role: "user", content: "And in Paris?" });
  await run(assistant);
  assert.match(assistant.messages.at(-1).content, /Paris/);

  // Another client opens the thread.
  const other = agent("agui-1");
  const shown = await run(other);
  assert.deepEqual(kinds(shown), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  assert.deepEqual(other.messages.map((message) => message.role), assistant.messages.map((message) => message.role));
}

for (const approved of [true, false]) {
  const assistant = agent(`agui-refund-${approved}`);
  assistant.addMessage({ id: "u1", role: "user", content: "Refund 25 euros for order A-1" });
  const events = await run(assistant);
  assert.equal(events.at(-1).outcome.type, "interrupt", JSON.stringify(events.at(-1)));
  const [interrupt] = assistant.pendingInterrupts;
  const call = assistant.messages.at(-1).toolCalls[0];
  assert.equal(interrupt.toolCallId, call.id);
  const responses = { [interrupt.id]: { status: "resolved", payload: { approved } } };
  const rest = await run(assistant, { resume: buildResumeArray(assistant.pendingInterrupts, responses) });
  assert.equal(rest.at(-1).outcome.type, "success");
  const result = rest.find((event) => event.type === "TOOL_CALL_RESULT");
  assert.equal(result.toolCallId, call.id);
  assert.equal(result.metadata.toolwright.outcome, approved ? "ok" : "denied");
  assert.deepEqual(assistant.pendingInterrupts, []);
}

{
  // A tool of the page runs in the page.
  const assistant = agent("agui-page");
  const parameters = { type: "object", properties: { times: { type: "integer" } }, required: ["times"] };
  const tools = [{ name: "blink_lamp", description: "Blinks the lamp in the hall.", parameters }];
  assistant.addMessage({ id: "u1", role: "user", content: "Blink the lamp in the hall 3 times" });
  const events = await run(assistant, { tools });
  const [call] = assistant.messages.at(-1).toolCalls;
  assert.deepEqual(JSON.parse(call.function.arguments), { times: 3 });
  assert.deepEqual(events.at(-1).outcome, { type: "success", pendingToolCallIds: [call.id] });
  assistant.addMessage({ id: "t1", role: "tool", toolCallId: call.id, content: "The lamp blinked 3 times." });
  await run(assistant, { tools });
  assert.deepEqual(assistant.messages.map((message) => message.role), ["user", "assistant", "tool", "assistant"]);
  assert.match(assistant.messages.at(-1).content, /blinked/);
}

{
  // The page is closed in mid-turn; a client that opens the thread gets all of it, and the rest as it comes.
  const closed = agent("agui-closed");
  closed.addMessage({ id: "u1", role: "user", content: "Write a report on whales at a pace of 1000 ms" });
  await closed.runAgent({}, { onToolCallEndEvent: () => closed.abortRun() }).catch(() => {});
  const back = agent("agui-closed");
  const rest = await run(back);
  assert.equal(rest[1].type, "MESSAGES_SNAPSHOT");
  assert.ok(kinds(rest).includes("TOOL_CALL_RESULT"), kinds(rest).join());
  assert.deepEqual(rest.at(-1).outcome, { type: "success" });
  assert.deepEqual(back.messages.map((message) => message.role), ["user", "assistant", "tool", "assistant"]);
}

assert.deepEqual(warned, []);
console.log("all well");
