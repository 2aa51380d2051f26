// The start screen of a new conversation: the model and suggested questions.

import { h } from "../ui/dom.js";
import { inlineCode } from "../ui/inline-code.js";
import { count, modelName } from "../ui/format.js";

/** Suggested questions for the tools of the sample assistant. */
const SUGGESTIONS = {
  get_city_time: "What time is it in Tokyo?",
  get_weather: "What is the weather in Paris?",
  convert_temperature: "Convert 100 C to Fahrenheit",
  issue_refund: "Refund order A-1042, 20 euros",
};

/** @param {any} app @param {(text: string) => void} send sends a message */
export function welcome(app, send) {
  const { info, tools } = app;
  const questions = (tools ?? []).map((tool) => SUGGESTIONS[tool.name]).filter(Boolean);
  const suggestions = questions.map((question) =>
    h("li", {}, h("button", { type: "button", class: "suggestion", on: { click: () => send(question) } }, question)),
  );
  const name = modelName(info?.model);
  const isDemo = info?.model?.vendor === "demo";
  const modelText = isDemo
    ? "The demo model answers: it is a set of rules, not a language model, and needs no key."
    : `${name} answers.`;
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, "What can I do for you?"),
    h("p", {}, info ? modelText : ""),
    suggestions.length ? h("ul", { class: "suggestions" }, suggestions) : null,
    tools
      ? h(
          "p",
          { class: "quiet" },
          h("a", { href: "#/tools" }, count(tools.length, "tool")),
          " at hand. Calls are shown as they happen; dangerous ones ask you first.",
          info?.model?.why ? [` The model: ${name}, `, inlineCode(info.model.why), "."] : null,
        )
      : null,
  );
}
