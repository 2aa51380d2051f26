// Builds the state of a conversation from the entries of its journal.

import {
  addChildCall,
  addMessage,
  applyDecision,
  currentTurn,
  emptyConversation,
  ensureCall,
  finishCall,
  modelSteps,
  openStep,
  requestApproval,
  sumUsage,
  turnOfCall,
} from "./conversation.js";

/** Items with a view of their own; the others are only displayed in the provider's response. */
const PART_TYPES = new Set(["text", "reasoning", "refusal", "hosted"]);

/**
 * @param {any[]} entries
 */
export function fromEntries(entries) {
  const conversation = emptyConversation();
  for (const entry of entries) applyEntry(conversation, entry);
  return conversation;
}

const KINDS = new Set(["user", "assistant", "step", "called", "asked", "decided", "started", "finished", "ended"]);

/** Applies an entry; one of a newer version, whose kind is unknown, changes nothing. */
function applyEntry(conversation, { at, what, parent }) {
  const [kind] = Object.keys(what);
  if (!KINDS.has(kind)) return;
  const body = what[kind];
  if (kind === "user" || kind === "assistant") return void addMessage(conversation, kind, body.content, at);
  const turn = turnOfCall(conversation, body.call ?? body.result?.callId) ?? currentTurn(conversation, at);
  const call = typeof body.call === "string" ? ensureCall(turn, body.call, null, at) : null;
  turn.version += 1;
  if (kind === "step") applyStep(turn, body, at);
  else if (kind === "called") addChildCall(turn, body.call, parent, at);
  else if (kind === "asked") requestApproval(call, { arguments: body.arguments, token: body.token });
  else if (kind === "decided") applyDecision(call, body.verdict);
  else if (kind === "started") Object.assign(call, { state: "running", startedAt: at });
  else if (kind === "finished")
    finishCall(ensureCall(turn, body.result.callId, body.result.tool, at), body.result, null, at);
  else if (kind === "ended") Object.assign(turn, { end: body.end, endedAt: at });
}

function applyStep(turn, { step: modelStep, cost }, at) {
  const step = openStep(turn);
  for (const { raw, call, type, ...item } of modelStep.items) {
    if (raw) step.providerItems.push(raw.json);
    if (call) {
      Object.assign(ensureCall(turn, call.id, call.name, at), { argumentsText: call.arguments, state: "called" });
      step.parts.push({ kind: "call", id: call.id });
    } else if (PART_TYPES.has(type) && item.text !== "") {
      step.parts.push({ kind: type, ...item });
    }
  }
  Object.assign(step, {
    endedAt: at,
    stop: modelStep.stop,
    usage: modelStep.usage,
    cost: cost ?? null,
    model: modelStep.model,
  });
  sumUsage(turn);
}

/**
 * Copies the journal's times and provider items into a turn that was streamed. Events have the time at which they were
 * sent, entries that at which they were written; without this, a reload would change the displayed durations.
 * @param {any} turn
 * @param {any[]} stored the turns of the journal
 */
export function copyTimes(turn, stored) {
  // A turn's first entry is written between its first and its last event.
  const source = stored.find(({ at }) => turn.at <= at && at <= turn.endedAt);
  if (!source) return;
  const steps = modelSteps(source);
  modelSteps(turn).forEach((step, index) => {
    const { at, endedAt, model, providerItems } = steps[index] ?? step;
    Object.assign(step, { at, endedAt, model, providerItems });
  });
  for (const [id, { at, startedAt, endedAt, millis }] of source.calls)
    Object.assign(turn.calls.get(id) ?? {}, { at, startedAt, endedAt, millis });
  Object.assign(turn, { at: source.at, endedAt: source.endedAt });
}

/**
 * Copies the request bodies, which only events contain, from the previous state to the current one.
 * @returns the current state
 */
export function keepRequests(current, previous) {
  current.turns.forEach((turn, index) => {
    const previousSteps = previous.turns[index] ? modelSteps(previous.turns[index]) : [];
    modelSteps(turn).forEach(
      (step, number) =>
        (step.requests = step.requests.length ? step.requests : (previousSteps[number]?.requests ?? [])),
    );
  });
  return current;
}
