// The state of a conversation (turns of steps and calls), and how events change it.
//
// Pure: no DOM, no requests.

/**
 * @typedef {{kind: "text" | "reasoning" | "refusal", text: string} | {kind: "call", id: string}
 *   | {kind: "hosted", tool: string, input: string, output: string, failed: boolean}} Part
 * @typedef {{parts: Part[], at: number, endedAt: number | null, stop: any, usage: any, cost: number | null,
 *   model: any, requests: string[], providerItems: any[], isInserted: boolean}} Step
 * @typedef {{id: string, parent: string | null, tool: string, argumentsText: string, state: string, at: number, startedAt: number | null,
 *   endedAt: number | null, millis: number | null, approval: any, decision: any, progress: any, result: any}} Call
 * @typedef {{message: any[] | null, at: number, endedAt: number | null, steps: Step[],
 *   calls: Map<string, Call>, end: any, error: string | null, usage: any, cost: number | null, version: number,
 *   first?: string, after?: string, last?: string}} Turn first, last: the ids of its entries, once they are known;
 *   after: that of the end of the turn before it, empty if there is none
 */

/** @returns {{turns: Turn[], branches: import("./branches.js").Branch[], running: boolean}} */
export function emptyConversation() {
  return { turns: [], branches: [], running: false };
}

/** Begins a turn with the content of a user message, if there is one. */
function beginTurn(conversation, content, at) {
  const turn = {
    message: content,
    at,
    endedAt: null,
    steps: [],
    calls: new Map(),
    end: null,
    error: null,
    usage: null,
    cost: null,
    version: 0,
  };
  conversation.turns.push(turn);
  return turn;
}

/** Returns the last turn; begins one without a message if there is none. */
export function currentTurn(conversation, at) {
  return conversation.turns.at(-1) ?? beginTurn(conversation, null, at);
}

/** Returns the turn of a call: the last one, or the one before if the call is still undecided there. */
export function turnOfCall(conversation, id) {
  const [before, last] = [conversation.turns.at(-2), conversation.turns.at(-1)];
  if (last?.calls.has(id)) return last;
  return before?.calls.get(id)?.endedAt === null ? before : undefined;
}

/** Returns when the next step begins: after all previous steps and calls have ended. */
function stepStart(turn) {
  const ends = [...turn.steps, ...turn.calls.values()].map((item) => item.endedAt ?? 0);
  return Math.max(turn.beganAt ?? turn.at, ...ends);
}

/** Returns the step that is being streamed; begins one if the last has ended. */
export function openStep(turn) {
  const last = turn.steps.at(-1);
  if (last && last.endedAt === null) return last;
  const step = {
    parts: [],
    at: stepStart(turn),
    endedAt: null,
    stop: null,
    usage: null,
    cost: null,
    model: null,
    requests: [],
    providerItems: [],
    isInserted: false,
  };
  turn.steps.push(step);
  return step;
}

/** Returns the steps of the model, without assistant messages that a prompt has inserted. */
export function modelSteps(turn) {
  return turn.steps.filter((step) => !step.isInserted);
}

/** Returns a call by its id; adds it to the turn if it is unknown. */
export function ensureCall(turn, id, tool, at) {
  let call = turn.calls.get(id);
  if (!call) {
    call = {
      id,
      parent: null,
      tool: tool ?? "",
      argumentsText: "",
      state: "writing",
      at,
      startedAt: null,
      endedAt: null,
      millis: null,
      approval: null,
      decision: null,
      progress: null,
      result: null,
    };
    turn.calls.set(id, call);
  }
  if (tool) call.tool = tool;
  return call;
}

/** Adds a call that another call made. */
export function addChildCall(turn, call, parent, at) {
  const { id, name, arguments: argumentsText } = call;
  Object.assign(ensureCall(turn, id, name, at), { parent, argumentsText, state: "called" });
}

/** Adds a call to the step that is being streamed, unless a step has it. */
function ensurePart(turn, id) {
  const hasPart = turn.steps.some((step) => step.parts.some((part) => part.id === id));
  if (!hasPart) openStep(turn).parts.push({ kind: "call", id });
}

function appendDelta(step, kind, delta) {
  const last = step.parts.at(-1);
  if (last?.kind === kind) last.text += delta;
  else step.parts.push({ kind, text: delta });
}

export function finishCall(call, result, millis, at) {
  call.result = result;
  call.endedAt = at;
  call.millis = millis ?? (call.startedAt ? at - call.startedAt : null);
  call.state = result.outcome === "ok" ? "done" : result.outcome === "denied" ? "denied" : "failed";
}

export function applyDecision(call, decision) {
  call.decision = decision;
  call.approval = null;
  call.state = decision.verdict === "deny" ? "denied" : "approved";
}

export function sumUsage(turn) {
  const steps = turn.steps.filter((step) => step.usage);
  const total = (key) => steps.reduce((all, step) => all + (step.usage[key] ?? 0), 0);
  turn.usage = {
    input: total("input"),
    output: total("output"),
    cached: total("cached"),
    estimated: steps.some((step) => step.usage.estimated),
  };
  // Without a finished step nothing is known about the cost; it is not zero.
  const isPriced = steps.length > 0 && steps.every((step) => typeof step.cost === "number");
  turn.cost = isPriced ? steps.reduce((all, step) => all + step.cost, 0) : null;
}

/** Adds a message: one of the user begins a turn, one of the assistant (from a prompt) is a step of the current turn. */
export function addMessage(conversation, role, content, at) {
  const last = conversation.turns.at(-1);
  conversation.running = true;
  if (role === "user") return beginTurn(conversation, content, at);
  const turn = !last || last.end ? beginTurn(conversation, null, at) : last;
  const texts = content.map((item) => ({ kind: "text", text: item.text ?? "" }));
  Object.assign(openStep(turn), { parts: texts, endedAt: at, isInserted: true });
  turn.version += 1;
  return turn;
}

export function requestApproval(call, approval) {
  call.approval = { ...call.approval, ...approval };
  call.state = "waiting";
}

/** Adds a pending approval of a snapshot to its call. */
export function addPendingApproval(conversation, approval) {
  const turn = conversation.turns.at(-1);
  if (!turn) return;
  const call = ensureCall(turn, approval.call.id, approval.call.name, turn.at);
  call.argumentsText ||= approval.call.arguments;
  requestApproval(call, approval);
  turn.version += 1;
}

/**
 * Applies a streamed event.
 * @param {{turns: Turn[], running: boolean}} conversation
 * @param {any} event
 * @param {number} at when, in milliseconds since 1970
 * @returns {Turn} the turn that changed
 */
export function applyEvent(conversation, event, at) {
  if (event.type === "said") return addMessage(conversation, event.role, event.content, at);
  const id = typeof event.call === "string" ? event.call : event.result?.callId;
  const turn = (event.type !== "call_begins" && turnOfCall(conversation, id)) || currentTurn(conversation, at);
  turn.version += 1;
  EVENTS[event.type]?.(turn, event, at, conversation);
  return turn;
}

const EVENTS = {
  began: (turn, event, at, conversation) => {
    conversation.running = true;
    turn.model = event.model;
    turn.beganAt = at;
  },
  fallback: (turn, event) => (turn.model = event.model),
  sent: (turn, event) => openStep(turn).requests.push(event.body),
  text: (turn, event) => appendDelta(openStep(turn), "text", event.delta),
  reasoning: (turn, event) => appendDelta(openStep(turn), "reasoning", event.delta),
  call_begins: (turn, event, at) => {
    ensureCall(turn, event.call, event.tool, at);
    ensurePart(turn, event.call);
  },
  call_delta: (turn, event, at) => (ensureCall(turn, event.call, null, at).argumentsText += event.delta),
  call: (turn, { call }, at) => {
    ensurePart(turn, call.id);
    Object.assign(ensureCall(turn, call.id, call.name, at), { argumentsText: call.arguments, state: "called" });
  },
  called: (turn, { call, parent }, at) => addChildCall(turn, call, parent, at),
  hosted: (turn, { tool, input, output, failed }) =>
    openStep(turn).parts.push({ kind: "hosted", tool, input, output, failed }),
  step: (turn, { stop, usage, cost }, at) => {
    Object.assign(openStep(turn), { stop, usage, cost, endedAt: at, model: turn.model });
    sumUsage(turn);
  },
  asked: (turn, { type, ...approval }, at) =>
    requestApproval(ensureCall(turn, approval.call.id, approval.call.name, at), approval),
  decided: (turn, { type, call, ...decision }, at) => applyDecision(ensureCall(turn, call, null, at), decision),
  running: (turn, event, at) =>
    Object.assign(ensureCall(turn, event.call, event.tool, at), { state: "running", startedAt: at }),
  progress: (turn, { type, call, ...progress }, at) => (ensureCall(turn, call, null, at).progress = progress),
  update: (turn, { result }, at) => (ensureCall(turn, result.callId, result.tool, at).result = result),
  result: (turn, { result, millis }, at) =>
    finishCall(ensureCall(turn, result.callId, result.tool, at), result, millis, at),
  paused: (turn, event, at, conversation) => (conversation.running = false),
  status: (turn, { message }) => (turn.status = message),
  metadata: (turn, { metadata }) => (turn.metadata = { ...turn.metadata, ...metadata }),
  // The event's usage and cost are ignored: after a reload only the sums over the steps are known.
  ended: (turn, { end, reason }, at, conversation) => {
    endTurn(turn, at, conversation);
    turn.end = { end, reason };
  },
  error: (turn, event, at, conversation) => {
    endTurn(turn, at, conversation);
    turn.error = event.message;
  },
};

function endTurn(turn, at, conversation) {
  conversation.running = false;
  turn.endedAt = at;
  for (const step of turn.steps) step.endedAt ??= at;
}

/** Returns true if a call of the last turn waits for a decision. */
export function isAwaitingApproval(conversation) {
  const turn = conversation.turns.at(-1);
  return Boolean(turn) && !turn.end && [...turn.calls.values()].some((call) => call.state === "waiting");
}

/** Returns the approvals that the last turn waits for. */
export function pendingApprovals(conversation) {
  const calls = [...(conversation.turns.at(-1)?.calls.values() ?? [])];
  return calls.filter((call) => call.state === "waiting" && call.approval).map((call) => call.approval);
}
