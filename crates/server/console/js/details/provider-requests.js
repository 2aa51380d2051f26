// What went over the wire in each step: the request as it was sent, without secrets, and what the model answered.

import { h } from "../ui/dom.js";
import { taken } from "../state/conversation.js";
import { json } from "../ui/json-view.js";
import { cost, count, duration, modelName, size, tokensInOut } from "../ui/format.js";

/** @param {any} turn */
export function wire(turn) {
  const steps = taken(turn);
  if (!steps.length) return h("p", { class: "quiet" }, "Nothing was sent in this turn yet.");
  return h(
    "div",
    {},
    steps.map((step, index) => stepWire(turn, step, index)),
  );
}

function stepWire(turn, step, index) {
  const facts = [
    modelName(step.model ?? turn.model),
    step.endedAt && duration(step.endedAt - step.at),
    step.usage && tokensInOut(step.usage),
    cost(step.cost),
    typeof step.stop === "string" ? `ended with “${step.stop}”` : null,
  ];
  return h(
    "section",
    { class: "wire-step" },
    h("h3", {}, `Step ${index + 1}`),
    h("p", { class: "quiet" }, facts.filter(Boolean).join(" · ")),
    requests(step),
    response(turn, step),
  );
}

function requests(step) {
  if (!step.sent.length) {
    return h(
      "p",
      { class: "quiet" },
      "The request is not kept: either nothing goes over a wire with this model, or the page was opened later.",
    );
  }
  return step.sent.map((body, index) =>
    folded(index ? `Request, try ${index + 1}` : "Request", size(body.length), () =>
      json(body, { label: "Request", isText: true }),
    ),
  );
}

function response(turn, step) {
  if (step.raw.length)
    return folded("Response", count(step.raw.length, "item"), () => json(step.raw, { label: "Response" }));
  const items = step.parts.map((part) => {
    if (part.kind !== "call") return part;
    const { id, tool, text } = turn.calls.get(part.id);
    return { kind: "call", id, tool, arguments: text };
  });
  return folded("Response", "as it was read", () => json(items, { label: "Response" }));
}

/** Made only when it is opened: requests are long. */
function folded(name, facts, make) {
  const node = h("details", { class: "wire-part" }, h("summary", {}, name, h("span", { class: "quiet" }, ` ${facts}`)));
  node.addEventListener("toggle", () => node.append(make()), { once: true });
  return node;
}
