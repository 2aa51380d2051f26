// One call as a card: what the model asks for, what came of it, how long it took.

import { h, attr, fill, text, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { json, pretty } from "../ui/json-view.js";
import { content } from "../ui/content-view.js";
import { approval } from "./approval-form.js";
import { duration } from "../ui/format.js";

/** How each state is called and drawn. */
const STATES = {
  writing: ["Being written", null],
  called: ["Called", null],
  waiting: ["Needs your decision", "hand"],
  approved: ["Approved", null],
  running: ["Running", null],
  done: ["Done", "check"],
  denied: ["Denied", "cross"],
  failed: ["Failed", "cross"],
};

const OUTCOMES = {
  unknown_tool: "No such tool",
  invalid_arguments: "Arguments refused",
  denied: "Denied",
  timed_out: "Timed out",
  cancelled: "Cancelled",
  failed: "Failed",
  outcome_unknown: "Outcome unknown",
};

/**
 * A card that follows its call.
 * @param {{specOf: (tool: string) => any, decide: (call: any, decision: any) => Promise<void>}} desk
 */
export function card(desk) {
  const body = uid("call");
  const mark = h("span", { class: "mark" });
  const title = h("span", { class: "call-title" });
  const name = h("code", { class: "call-name" });
  const brief = h("span", { class: "call-brief" });
  const state = h("span", { class: "call-state" });
  const time = h("span", { class: "call-time" });
  const toggle = h(
    "button",
    { type: "button", class: "call-head", "aria-expanded": "false", "aria-controls": body },
    mark,
    // Spaces for those who hear it.
    h("span", { class: "call-what" }, title, " ", name, " ", brief),
    " ",
    state,
    " ",
    time,
    icon("chevron"),
  );
  const args = h("div", { class: "call-part" });
  const result = h("div", { class: "call-part" });
  const decision = h("div", { class: "call-decision" });
  const inside = h("div", { class: "call-body", id: body, hidden: true }, args, result);
  const node = h("section", { class: "call" }, toggle, decision, inside);
  let byHand = null;
  let shown = {};

  const open = (whether) => {
    attr(toggle, "aria-expanded", String(whether));
    inside.hidden = !whether;
  };
  toggle.addEventListener("click", () => {
    byHand = inside.hidden;
    open(byHand);
  });

  const drawArguments = (call) => {
    if (shown.text === call.text && shown.edited === call.verdict?.arguments) return;
    shown.text = call.text;
    shown.edited = call.verdict?.arguments;
    fill(args, h("h4", {}, "Arguments"), json(call.text || "{}", { label: "Arguments", isText: true }));
    if (shown.edited) args.append(h("h4", {}, "Changed to"), json(shown.edited, { label: "Changed arguments" }));
  };

  const drawResult = (call) => {
    if (shown.result === call.result && shown.progress === call.progress) return;
    shown.result = call.result;
    shown.progress = call.progress;
    fill(result, call.result ? outcome(call) : progress(call.progress));
  };

  const drawDecision = (call) => {
    const wanted = call.state === "waiting" ? call.asked : null;
    if (shown.asked === wanted?.token && shown.spec === wanted?.tool) return;
    shown.asked = wanted?.token;
    shown.spec = wanted?.tool;
    const decide = async (made) => {
      await desk.decide(call, made);
      // The buttons go; whoever pressed one stays with the card.
      toggle.focus();
    };
    fill(decision, wanted && approval(call, wanted.tool ?? desk.specOf(call.tool), decide));
  };

  return {
    node,
    update(call) {
      const spec = desk.specOf(call.tool);
      const [word, drawing] = STATES[call.state] ?? STATES.called;
      const said = call.state === "failed" ? (OUTCOMES[call.result?.outcome] ?? word) : word;
      attr(node, "data-state", call.state);
      attr(node, "aria-label", `Call of ${spec?.title ?? call.tool}`);
      if (shown.drawing !== drawing) fill(mark, drawing ? icon(drawing) : h("span", { class: "pulse" }));
      shown.drawing = drawing;
      text(title, spec?.title ?? call.tool);
      text(name, spec?.title && spec.title !== call.tool ? call.tool : "");
      text(brief, call.state === "waiting" ? "" : summary(call));
      text(state, call.state === "running" && call.progress ? percent(call.progress) : said);
      text(time, call.millis === null ? "" : duration(call.millis));
      drawArguments(call);
      drawResult(call);
      drawDecision(call);
      // What failed is worth a look; what worked is folded away. A person's choice stays.
      open(byHand ?? call.state === "failed");
    },
  };
}

function summary(call) {
  try {
    const values = JSON.parse(call.text);
    const pairs = Object.entries(call.verdict?.arguments ?? values);
    return pairs
      .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join(", ");
  } catch {
    return pretty(call.text).replaceAll(/\s+/g, " ");
  }
}

function percent({ done, total, message }) {
  const share = typeof done === "number" && total ? `${Math.round((done / total) * 100)} %` : "";
  return [share, message].filter(Boolean).join(" · ") || "Running";
}

function progress(told) {
  if (!told) return null;
  const bar = told.total ? h("progress", { max: told.total, value: told.done ?? 0, "aria-label": "Progress" }) : null;
  return [h("h4", {}, "Progress"), bar, h("p", { class: "quiet" }, percent(told))];
}

function outcome(call) {
  const { result } = call;
  const heading = result.outcome === "ok" ? "Result" : (OUTCOMES[result.outcome] ?? "Result");
  const notes = result.notes?.length
    ? h(
        "ul",
        { class: "notes" },
        result.notes.map((note) => h("li", {}, note)),
      )
    : null;
  const data = result.structuredContent
    ? h(
        "details",
        { class: "more" },
        h("summary", {}, "Structured"),
        json(result.structuredContent, { label: "Structured result" }),
      )
    : null;
  return [h("h4", {}, heading), content(result.content), data, notes];
}
