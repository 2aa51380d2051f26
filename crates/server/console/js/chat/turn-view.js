// One turn on the page: what was said, what the model did and said, what it took.

import { h, attr, fill, prose as words, text } from "../ui/dom.js";
import { card } from "./call-card.js";
import { content, plain } from "../ui/content-view.js";
import { turnFoot } from "./turn-footer.js";
import { markdown } from "../markdown/markdown.js";
import { exact } from "../ui/format.js";
import { MISLEADING } from "../ui/escape.js";

const ENDS = {
  length: "The answer is cut off: the most tokens were reached.",
  limit: "The turn reached a limit.",
  failed: "The turn failed.",
  cancelled: "Stopped.",
};

/**
 * A turn that follows its data.
 * @param {any} desk what cards need, and `details(turn)`, which opens the panel
 */
export function turnView(desk) {
  const said = h("div", { class: "said" });
  const answer = h("div", { class: "answer" });
  const doing = h("span");
  const thinking = h("p", { class: "thinking", hidden: true }, h("span", { class: "pulse" }), doing);
  const trouble = h("p", { class: "trouble", hidden: true });
  const foot = turnFoot(desk);
  const node = h("article", { class: "turn" }, said, answer, thinking, trouble, foot.node);
  let parts = new Map();
  let drawn = { version: -1 };

  /** Views that are still wanted stay as they are, with all that a person has opened in them. */
  const drawParts = (turn) => {
    const wanted = new Map();
    const want = (key, make, data) => {
      const view = parts.get(key) ?? make();
      view.update(data);
      const there = answer.children[wanted.size];
      if (there !== view.node) answer.insertBefore(view.node, there ?? null);
      wanted.set(key, view);
    };
    turn.steps.forEach((step, number) => {
      step.parts.forEach((it, index) => {
        if (it.kind === "call") want(`call ${it.id}`, () => card(desk), turn.calls.get(it.id));
        else want(`${it.kind} ${number} ${index}`, MAKERS[it.kind] ?? prose, it.kind === "hosted" ? it : it.text);
      });
    });
    while (answer.children.length > wanted.size) answer.lastElementChild.remove();
    parts = wanted;
  };

  return {
    node,
    update(turn, running) {
      if (drawn.turn === turn && drawn.version === turn.version && drawn.running === running) return;
      if (drawn.turn !== turn) fill(said, turn.user && bubble(turn.user));
      drawn = { turn, version: turn.version, running };
      attr(node, "aria-label", `Turn of ${exact(turn.at)}`);
      drawParts(turn);
      const quiet = running && !turn.end && !isWriting(turn) && !isBusy(turn);
      thinking.hidden = !quiet;
      text(doing, turn.status ?? "Working…");
      drawTrouble(trouble, turn);
      foot.update(turn, running);
    },
  };
}

const isBusy = (turn) =>
  [...turn.calls.values()].some((call) => ["running", "waiting", "writing"].includes(call.state));

function isWriting(turn) {
  const step = turn.steps.at(-1);
  return Boolean(step) && step.endedAt === null && step.parts.length > 0;
}

export function bubble(items) {
  const isText = items.every((it) => it.type === "text");
  const texts = isText ? h("p", { dir: "auto" }, words(plain(items))) : content(items);
  return h("div", { class: "bubble" }, h("h3", { class: "unseen" }, "You said"), texts);
}

function prose() {
  const node = h("div", { class: "prose" });
  return { node, update: (source) => markdown(node, source) };
}

function reasoning() {
  const inside = h("pre", { class: "plain", dir: "auto" });
  const node = h("details", { class: "reasoning" }, h("summary", {}, "Thoughts of the model"), inside);
  return { node, update: (source) => text(inside, source, MISLEADING) };
}

function refusal() {
  const node = h("p", { class: "trouble", dir: "auto" });
  return { node, update: (source) => text(node, `The model refuses: ${source}`, MISLEADING) };
}

function hosted() {
  const node = h("details", { class: "call hosted" });
  return {
    node,
    update({ tool, input, output, failed }) {
      const head = h("summary", {}, `${tool}, run by the vendor${failed ? ": failed" : ""}`);
      fill(node, head, h("pre", { class: "plain" }, input), h("pre", { class: "plain" }, output));
    },
  };
}

const MAKERS = { text: prose, reasoning, refusal, hosted };

function drawTrouble(node, turn) {
  const ended = turn.end && ENDS[turn.end.end];
  const reason = turn.end?.reason ? `${ended ?? ""} ${turn.end.reason}` : ended;
  const words = turn.error ?? reason ?? "";
  node.hidden = !words;
  attr(node, "data-kind", turn.end?.end === "cancelled" ? "quiet" : null);
  text(node, words);
}
