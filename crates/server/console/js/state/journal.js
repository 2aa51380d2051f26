// What is kept of a conversation in, the conversation as a page shows it out.

import { ask, callOf, current, decide, empty, finish, hear, owner, sum, taken, writing } from "./conversation.js";

/** What a page has a form for; anything else is seen in the raw response. */
const SHOWN = new Set(["text", "reasoning", "refusal", "hosted"]);

/**
 * What the journal says.
 * @param {any[]} entries
 */
export function fromEntries(entries) {
  const conversation = empty();
  for (const entry of entries) read(conversation, entry);
  return conversation;
}

function read(conversation, { at, what }) {
  const [kind] = Object.keys(what);
  const told = what[kind];
  if (kind === "user" || kind === "assistant") return void hear(conversation, kind, told.content, at);
  const turn = owner(conversation, told.call ?? told.result?.callId) ?? current(conversation, at);
  const call = typeof told.call === "string" ? callOf(turn, told.call, null, at) : null;
  turn.version += 1;
  if (kind === "step") readStep(turn, told, at);
  else if (kind === "asked") ask(call, { arguments: told.arguments, token: told.token });
  else if (kind === "decided") decide(call, told.verdict);
  else if (kind === "started") Object.assign(call, { state: "running", startedAt: at });
  else if (kind === "finished") finish(callOf(turn, told.result.callId, told.result.tool, at), told.result, null, at);
  else if (kind === "ended") Object.assign(turn, { end: told.end, endedAt: at });
}

function readStep(turn, { step: said, cost }, at) {
  const step = writing(turn);
  for (const { raw, call, type, ...item } of said.items) {
    if (raw) step.raw.push(raw.json);
    if (call) {
      Object.assign(callOf(turn, call.id, call.name, at), { text: call.arguments, state: "called" });
      step.parts.push({ kind: "call", id: call.id });
    } else if (SHOWN.has(type) && item.text !== "") {
      step.parts.push({ kind: type, ...item });
    }
  }
  Object.assign(step, { endedAt: at, stop: said.stop, usage: said.usage, cost: cost ?? null, model: said.model });
  sum(turn);
}

/**
 * Copies the journal's times into a turn that was followed live. Events are stamped when they are sent, entries when they
 * are written; without this a reload would change the numbers.
 * @param {any} turn
 * @param {any[]} kept the turns of the journal
 */
export function adopt(turn, kept) {
  // A turn's first entry is written between its first and its last event.
  const same = kept.find(({ at }) => turn.at <= at && at <= turn.endedAt);
  if (!same) return;
  const steps = taken(same);
  taken(turn).forEach((step, index) => {
    const { at, endedAt, model, raw } = steps[index] ?? step;
    Object.assign(step, { at, endedAt, model, raw });
  });
  for (const [id, { at, startedAt, endedAt, millis }] of same.calls)
    Object.assign(turn.calls.get(id) ?? {}, { at, startedAt, endedAt, millis });
  Object.assign(turn, { at: same.at, endedAt: same.endedAt });
}

/**
 * Keeps what only the page has seen: requests as they were sent are in no journal.
 * @returns the conversation as it is now
 */
export function keepSent(now, before) {
  now.turns.forEach((turn, index) => {
    const seen = before.turns[index] ? taken(before.turns[index]) : [];
    taken(turn).forEach((step, number) => (step.sent = step.sent.length ? step.sent : (seen[number]?.sent ?? [])));
  });
  return now;
}
