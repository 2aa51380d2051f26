// The card of one tool call: its state, arguments, result and duration, and the approval form.

import { h, setAttribute, setChildren, setText, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { jsonDetails, jsonView } from "../ui/json-view.js";
import { contentView, notesView } from "../ui/content-view.js";
import { connectionOf } from "../state/connections.js";
import { approvalForm } from "./approval-form.js";
import { connectForm } from "./connect-form.js";
import { isQuestion, questionForm } from "./question-form.js";
import { duration, valueText } from "../ui/format.js";

/** The label and the icon of each state; a state without an icon is animated. */
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
 * Creates a card; `update` draws the current state of its call.
 * @param {{specOf: (tool: string) => any, mayApprove: (approvers?: string[]) => boolean, decide: (call: any, decision: any) => Promise<void>}} actions
 * @param {number} depth the number of calls that it was made inside of
 */
export function callCard(actions, depth) {
  const bodyId = uid("call");
  const stateIcon = h("span", { class: "call-icon" });
  const title = h("span", { class: "call-title" });
  const name = h("code", { class: "call-name" });
  const argumentSummary = h("span", { class: "call-arguments" });
  const state = h("span", { class: "call-state" });
  const time = h("span", { class: "call-time" });
  const toggle = h(
    "button",
    { type: "button", class: "call-head", "aria-expanded": "false", "aria-controls": bodyId },
    stateIcon,
    // The spaces separate the words for screen readers.
    h("span", { class: "call-summary" }, title, " ", name, " ", argumentSummary),
    " ",
    state,
    " ",
    time,
    icon("chevron"),
  );
  const argumentsPart = h("div", { class: "call-part" });
  const resultPart = h("div", { class: "call-part" });
  const decision = h("div", { class: "call-decision" });
  const body = h("div", { class: "call-body", id: bodyId, hidden: true }, argumentsPart, resultPart);
  const node = h("section", { class: "call", "data-depth": depth || null }, toggle, decision, body);
  /** Set when the card was opened or closed by hand. */
  let chosenOpen = null;
  let drawn = {};

  const setOpen = (isOpen) => {
    setAttribute(toggle, "aria-expanded", String(isOpen));
    body.hidden = !isOpen;
  };
  toggle.addEventListener("click", () => {
    chosenOpen = body.hidden;
    setOpen(chosenOpen);
  });

  const drawArguments = (call) => {
    if (drawn.argumentsText === call.argumentsText && drawn.edited === call.decision?.arguments) return;
    drawn.argumentsText = call.argumentsText;
    drawn.edited = call.decision?.arguments;
    setChildren(
      argumentsPart,
      h("h4", {}, "Arguments"),
      jsonView(call.argumentsText || "{}", { label: "Arguments", isText: true }),
    );
    if (drawn.edited)
      argumentsPart.append(h("h4", {}, "Changed to"), jsonView(drawn.edited, { label: "Changed arguments" }));
  };

  const drawResult = (call) => {
    if (drawn.result === call.result && drawn.progress === call.progress) return;
    drawn.result = call.result;
    drawn.progress = call.progress;
    setChildren(resultPart, call.result ? resultView(call.result) : progressView(call.progress));
  };

  const drawDecision = (call) => {
    const request = call.state === "waiting" ? call.approval : null;
    if (drawn.token === request?.token && drawn.spec === request?.tool) return;
    drawn.token = request?.token;
    drawn.spec = request?.tool;
    const decide = async (answer) => {
      await actions.decide(call, answer);
      // The focused button is removed; the focus stays in the card.
      toggle.focus();
    };
    const connection = connectionOf(call.tool);
    const form = () =>
      connection && actions.mayApprove(request.approvers)
        ? connectForm(connection, decide)
        : isQuestion(request) && actions.mayApprove(request.approvers)
          ? questionForm(request, decide)
          : approvalForm(call, request.tool ?? actions.specOf(call.tool), decide, actions.mayApprove);
    setChildren(decision, request && form());
  };

  return {
    node,
    update(call) {
      const spec = actions.specOf(call.tool);
      const [stateLabel, iconName] = STATES[call.state] ?? STATES.called;
      const isOthers = call.state === "waiting" && call.approval && !actions.mayApprove(call.approval.approvers);
      const ownLabel = isOthers ? "Waits for others" : stateLabel;
      const label = call.state === "failed" ? (OUTCOMES[call.result?.outcome] ?? stateLabel) : ownLabel;
      setAttribute(node, "data-state", call.state);
      setAttribute(node, "aria-label", `Call of ${spec?.title ?? call.tool}`);
      if (drawn.iconName !== iconName)
        setChildren(stateIcon, iconName ? icon(iconName) : h("span", { class: "pulse" }));
      drawn.iconName = iconName;
      setText(title, spec?.title ?? call.tool);
      setText(name, spec?.title && spec.title !== call.tool ? call.tool : "");
      setText(argumentSummary, call.state === "waiting" ? "" : summarizeArguments(call));
      setText(state, call.state === "running" && call.progress ? progressText(call.progress) : label);
      setText(time, call.millis === null ? "" : duration(call.millis));
      drawArguments(call);
      drawResult(call);
      drawDecision(call);
      // Failed calls are opened, unless the user has opened or closed the card.
      setOpen(chosenOpen ?? call.state === "failed");
    },
  };
}

function summarizeArguments(call) {
  try {
    const values = JSON.parse(call.argumentsText);
    const pairs = Object.entries(call.decision?.arguments ?? values);
    return pairs.map(([key, value]) => `${key}: ${valueText(value)}`).join(", ");
  } catch {
    return call.argumentsText.replaceAll(/\s+/g, " ");
  }
}

function progressText({ done, total, message }) {
  const share = typeof done === "number" && total ? `${Math.round((done / total) * 100)} %` : "";
  return [share, message].filter(Boolean).join(" · ") || "Running";
}

function progressView(progress) {
  if (!progress) return null;
  const { done, total } = progress;
  const bar = total ? h("progress", { max: total, value: done ?? 0, "aria-label": "Progress" }) : null;
  return [h("h4", {}, "Progress"), bar, h("p", { class: "quiet" }, progressText(progress))];
}

function resultView(result) {
  const heading = result.outcome === "ok" ? "Result" : (OUTCOMES[result.outcome] ?? "Result");
  const data = result.structuredContent
    ? jsonDetails("Structured", result.structuredContent, "Structured result")
    : null;
  return [h("h4", {}, heading), contentView(result.content), data, notesView(result.notes)];
}
