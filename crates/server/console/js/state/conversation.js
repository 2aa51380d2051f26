// A conversation as a page shows it: turns of steps and calls, and what each streamed event changes in them.
//
// Pure data: nothing here touches the page.

/**
 * @typedef {{kind: "text" | "reasoning" | "refusal", text: string} | {kind: "call", id: string}
 *   | {kind: "hosted", tool: string, input: string, output: string, failed: boolean}} Part
 * @typedef {{parts: Part[], at: number, endedAt: number | null, stop: any, usage: any, cost: number | null,
 *   model: any, sent: string[], raw: any[], words: boolean}} Step
 * @typedef {{id: string, tool: string, text: string, state: string, at: number, startedAt: number | null,
 *   endedAt: number | null, millis: number | null, asked: any, verdict: any, progress: any, result: any}} Call
 * @typedef {{user: any[] | null, at: number, endedAt: number | null, steps: Step[],
 *   calls: Map<string, Call>, end: any, error: string | null, usage: any, cost: number | null, version: number}} Turn
 */

/** @returns {{turns: Turn[], running: boolean}} */
export function empty() {
  return { turns: [], running: false };
}

/** Begins a turn with what a person said. */
function say(conversation, content, at) {
  const turn = {
    user: content,
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

/** The turn that things happen in; one of its own where nobody said anything. */
export function current(conversation, at) {
  return conversation.turns.at(-1) ?? say(conversation, null, at);
}

/** The turn of a call: mostly the last one, or the one before where a call was left undecided. */
export function owner(conversation, id) {
  const [before, last] = [conversation.turns.at(-2), conversation.turns.at(-1)];
  if (last?.calls.has(id)) return last;
  return before?.calls.get(id)?.endedAt === null ? before : undefined;
}

/** Since when the model has been asked: all that it waited for is over. */
function since(turn) {
  const over = [...turn.steps, ...turn.calls.values()].map((it) => it.endedAt ?? 0);
  return Math.max(turn.beganAt ?? turn.at, ...over);
}

/** The step that is being written; a new one when the last is over. */
export function writing(turn) {
  const last = turn.steps.at(-1);
  if (last && last.endedAt === null) return last;
  const blank = {
    parts: [],
    at: since(turn),
    endedAt: null,
    stop: null,
    usage: null,
    cost: null,
    model: null,
    sent: [],
    raw: [],
  };
  turn.steps.push({ ...blank, words: false });
  return turn.steps.at(-1);
}

/** The steps that a model took: words put into its mouth are none. */
export function taken(turn) {
  return turn.steps.filter((step) => !step.words);
}

export function callOf(turn, id, tool, at) {
  let call = turn.calls.get(id);
  if (!call) {
    call = {
      id,
      tool: tool ?? "",
      text: "",
      state: "writing",
      at,
      startedAt: null,
      endedAt: null,
      millis: null,
      asked: null,
      verdict: null,
      progress: null,
      result: null,
    };
    turn.calls.set(id, call);
  }
  if (tool) call.tool = tool;
  return call;
}

/** Gives a call its place in the step that is being written, unless it has one. */
function place(turn, id) {
  const placed = turn.steps.some((step) => step.parts.some((part) => part.id === id));
  if (!placed) writing(turn).parts.push({ kind: "call", id });
}

function grow(step, kind, delta) {
  const last = step.parts.at(-1);
  if (last?.kind === kind) last.text += delta;
  else step.parts.push({ kind, text: delta });
}

export function finish(call, result, millis, at) {
  call.result = result;
  call.endedAt = at;
  call.millis = millis ?? (call.startedAt ? at - call.startedAt : null);
  call.state = result.outcome === "ok" ? "done" : result.outcome === "denied" ? "denied" : "failed";
}

export function decide(call, verdict) {
  call.verdict = verdict;
  call.asked = null;
  call.state = verdict.verdict === "deny" ? "denied" : "approved";
}

export function sum(turn) {
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

/** Somebody said something: words of a person begin a turn, words in the model's name belong to one. */
export function hear(conversation, role, content, at) {
  const last = conversation.turns.at(-1);
  conversation.running = true;
  if (role === "user") return say(conversation, content, at);
  const turn = !last || last.end ? say(conversation, null, at) : last;
  const texts = content.map((item) => ({ kind: "text", text: item.text ?? "" }));
  Object.assign(writing(turn), { parts: texts, endedAt: at, words: true });
  turn.version += 1;
  return turn;
}

export function ask(call, asked) {
  call.asked = { ...call.asked, ...asked };
  call.state = "waiting";
}

/** Adds what a decision needs to a call that waits for one. */
export function pend(conversation, asked) {
  const turn = conversation.turns.at(-1);
  if (!turn) return;
  const call = callOf(turn, asked.call.id, asked.call.name, turn.at);
  call.text ||= asked.call.arguments;
  ask(call, asked);
  turn.version += 1;
}

/**
 * What a streamed event changes.
 * @param {{turns: Turn[], running: boolean}} conversation
 * @param {any} event
 * @param {number} at when, in milliseconds since 1970
 * @returns {Turn} the turn that changed
 */
export function apply(conversation, event, at) {
  if (event.type === "said") return hear(conversation, event.role, event.content, at);
  const id = typeof event.call === "string" ? event.call : event.result?.callId;
  const turn = (event.type !== "call_begins" && owner(conversation, id)) || current(conversation, at);
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
  sent: (turn, event) => writing(turn).sent.push(event.body),
  text: (turn, event) => grow(writing(turn), "text", event.delta),
  reasoning: (turn, event) => grow(writing(turn), "reasoning", event.delta),
  call_begins: (turn, event, at) => {
    callOf(turn, event.call, event.tool, at);
    place(turn, event.call);
  },
  call_delta: (turn, event, at) => (callOf(turn, event.call, null, at).text += event.delta),
  call: (turn, { call }, at) => {
    place(turn, call.id);
    Object.assign(callOf(turn, call.id, call.name, at), { text: call.arguments, state: "called" });
  },
  hosted: (turn, { tool, input, output, failed }, at) =>
    writing(turn).parts.push({ kind: "hosted", tool, input, output, failed }),
  step: (turn, { stop, usage, cost }, at) => {
    Object.assign(writing(turn), { stop, usage, cost, endedAt: at, model: turn.model });
    sum(turn);
  },
  asked: (turn, { type, ...asked }, at) => ask(callOf(turn, asked.call.id, asked.call.name, at), asked),
  decided: (turn, { type, call, ...verdict }, at) => decide(callOf(turn, call, null, at), verdict),
  running: (turn, event, at) =>
    Object.assign(callOf(turn, event.call, event.tool, at), { state: "running", startedAt: at }),
  progress: (turn, { type, call, ...progress }, at) => (callOf(turn, call, null, at).progress = progress),
  update: (turn, { result }, at) => (callOf(turn, result.callId, result.tool, at).result = result),
  result: (turn, { result, millis }, at) => finish(callOf(turn, result.callId, result.tool, at), result, millis, at),
  paused: (turn, event, at, conversation) => (conversation.running = false),
  status: (turn, { message }) => (turn.status = message),
  metadata: (turn, { metadata }) => (turn.metadata = { ...turn.metadata, ...metadata }),
  // Usage and cost are the sums over the steps, as they are after a reload; the event also counts turns without any.
  ended: (turn, { end, reason }, at, conversation) => {
    close(turn, at, conversation);
    turn.end = { end, reason };
  },
  error: (turn, event, at, conversation) => {
    close(turn, at, conversation);
    turn.error = event.message;
  },
};

/** Nothing more comes in this turn. */
function close(turn, at, conversation) {
  conversation.running = false;
  turn.endedAt = at;
  for (const step of turn.steps) step.endedAt ??= at;
}

/** Whether somebody has to decide about a call before the turn goes on. */
export function waits(conversation) {
  const turn = conversation.turns.at(-1);
  return Boolean(turn) && !turn.end && [...turn.calls.values()].some((call) => call.state === "waiting");
}
