// The view of one turn: the user's message, the model's answer with its calls, and the footer.

import { h, setAttribute, setChildren, proseNodes, setText } from "../ui/dom.js";
import { callCard } from "./call-card.js";
import { contentView, plainText } from "../ui/content-view.js";
import { turnFooter } from "./turn-footer.js";
import { markdown } from "../markdown/markdown.js";
import { dateTime } from "../ui/format.js";
import { MISLEADING } from "../ui/escape.js";

const END_MESSAGES = {
  length: "The answer is cut off: the most tokens were reached.",
  limit: "The turn reached a limit.",
  failed: "The turn failed.",
  cancelled: "Stopped.",
};

/**
 * Creates a view; `update` draws the current state of a turn.
 * @param {any} actions those of `callCard`, and `details(turn)`, which opens the details panel
 */
export function turnView(actions) {
  const message = h("div", { class: "turn-message" });
  const answer = h("div", { class: "answer" });
  const activity = h("span");
  const thinking = h("p", { class: "thinking", hidden: true }, h("span", { class: "pulse" }), activity);
  const error = h("p", { class: "turn-error", hidden: true });
  const footer = turnFooter(actions);
  const node = h("article", { class: "turn" }, message, answer, thinking, error, footer.node);
  let parts = new Map();
  let drawn = { version: -1 };

  /** Draws the parts of the answer; existing views are reused, so that opened cards stay open. */
  const drawParts = (turn) => {
    const placed = new Map();
    const place = (key, create, data) => {
      const view = parts.get(key) ?? create();
      view.update(data);
      const existing = answer.children[placed.size];
      if (existing !== view.node) answer.insertBefore(view.node, existing ?? null);
      placed.set(key, view);
    };
    /** Places a call, and below it the calls that it made. */
    const placeCall = (call, depth) => {
      if (placed.has(`call ${call.id}`)) return;
      place(`call ${call.id}`, () => callCard(actions, depth), call);
      for (const child of turn.calls.values()) if (child.parent === call.id) placeCall(child, depth + 1);
    };
    turn.steps.forEach((step, number) => {
      step.parts.forEach((part, index) => {
        if (part.kind === "call") placeCall(turn.calls.get(part.id), 0);
        else
          place(
            `${part.kind} ${number} ${index}`,
            PART_VIEWS[part.kind] ?? textPart,
            part.kind === "hosted" ? part : part.text,
          );
      });
    });
    while (answer.children.length > placed.size) answer.lastElementChild.remove();
    parts = placed;
  };

  return {
    node,
    update(turn, running) {
      if (drawn.turn === turn && drawn.version === turn.version && drawn.running === running) return;
      if (drawn.turn !== turn) setChildren(message, turn.message && messageBubble(turn.message));
      drawn = { turn, version: turn.version, running };
      setAttribute(node, "aria-label", `Turn of ${dateTime(turn.at)}`);
      drawParts(turn);
      const isWaitingForModel = running && !turn.end && !isWriting(turn) && !isBusy(turn);
      thinking.hidden = !isWaitingForModel;
      setText(activity, turn.status ?? "Working…");
      drawError(error, turn);
      footer.update(turn, running);
    },
  };
}

const isBusy = (turn) =>
  [...turn.calls.values()].some((call) => ["running", "waiting", "writing"].includes(call.state));

function isWriting(turn) {
  const step = turn.steps.at(-1);
  return Boolean(step) && step.endedAt === null && step.parts.length > 0;
}

export function messageBubble(items) {
  const isText = items.every((item) => item.type === "text");
  const texts = isText ? h("p", { dir: "auto" }, proseNodes(plainText(items))) : contentView(items);
  return h("div", { class: "bubble" }, h("h3", { class: "visually-hidden" }, "You said"), texts);
}

function textPart() {
  const node = h("div", { class: "prose" });
  return { node, update: (source) => markdown(node, source) };
}

function reasoningPart() {
  const body = h("pre", { class: "plain", dir: "auto" });
  const node = h("details", { class: "reasoning" }, h("summary", {}, "Thoughts of the model"), body);
  return { node, update: (source) => setText(body, source, MISLEADING) };
}

function refusalPart() {
  const node = h("p", { class: "turn-error", dir: "auto" });
  return { node, update: (source) => setText(node, `The model refuses: ${source}`, MISLEADING) };
}

function hostedPart() {
  const node = h("details", { class: "call hosted" });
  return {
    node,
    update({ tool, input, output, failed }) {
      const summary = h("summary", {}, `${tool}, run by the vendor${failed ? ": failed" : ""}`);
      setChildren(node, summary, h("pre", { class: "plain" }, input), h("pre", { class: "plain" }, output));
    },
  };
}

const PART_VIEWS = { text: textPart, reasoning: reasoningPart, refusal: refusalPart, hosted: hostedPart };

function drawError(node, turn) {
  const ended = turn.end && END_MESSAGES[turn.end.end];
  const reason = turn.end?.reason ? `${ended ?? ""} ${turn.end.reason}` : ended;
  const text = turn.error ?? reason ?? "";
  node.hidden = !text;
  setAttribute(node, "data-kind", turn.end?.end === "cancelled" ? "quiet" : null);
  setText(node, text);
}
