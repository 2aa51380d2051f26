// The tab with the requests to the provider, without secrets, and its responses, step by step.

import { h, lazyDetails } from "../ui/dom.js";
import { modelSteps } from "../state/conversation.js";
import { jsonView } from "../ui/json-view.js";
import { cost, count, duration, modelName, textSize, tokenDetails } from "../ui/format.js";

/** @param {any} turn */
export function providerRequests(turn) {
  const steps = modelSteps(turn);
  if (!steps.length) return h("p", { class: "quiet" }, "Nothing was sent in this turn yet.");
  return h(
    "div",
    {},
    steps.map((step, index) => stepView(turn, step, index)),
  );
}

function stepView(turn, step, index) {
  const facts = [
    modelName(step.model ?? turn.model),
    step.endedAt && duration(step.endedAt - step.at),
    step.usage && tokenDetails(step.usage),
    cost(step.cost, step.usage),
    typeof step.stop === "string" ? `ended with “${step.stop}”` : null,
  ];
  return h(
    "section",
    { class: "provider-step" },
    h("h3", {}, `Step ${index + 1}`),
    h("p", { class: "quiet" }, facts.filter(Boolean).join(" · ")),
    requestViews(step),
    responseView(turn, step),
  );
}

function requestViews(step) {
  if (!step.requests.length) {
    return h(
      "p",
      { class: "quiet" },
      "The request is not kept: either nothing goes over a wire with this model, or the page was opened later.",
    );
  }
  return step.requests.map((body, index) =>
    folded(index ? `Request, try ${index + 1}` : "Request", textSize(body.length), () =>
      jsonView(body, { label: "Request", isText: true }),
    ),
  );
}

function responseView(turn, step) {
  if (step.providerItems.length)
    return folded("Response", count(step.providerItems.length, "item"), () =>
      jsonView(step.providerItems, { label: "Response" }),
    );
  const items = step.parts.map((part) => {
    if (part.kind !== "call") return part;
    const { id, tool, argumentsText } = turn.calls.get(part.id);
    return { kind: "call", id, tool, arguments: argumentsText };
  });
  return folded("Response", "as it was read", () => jsonView(items, { label: "Response" }));
}

/** Requests are long, so their views are created when they are opened. */
function folded(name, facts, createContent) {
  return lazyDetails("provider-part", [name, h("span", { class: "quiet" }, ` ${facts}`)], createContent);
}
