// What an empty chat shows: who answers, and something to begin with.

import { h } from "../ui/dom.js";
import { coded } from "../ui/inline-code.js";
import { count, modelName } from "../ui/format.js";

/** Questions for the tools of the sample assistant; others have none, and show their names. */
const QUESTIONS = {
  get_city_time: "What time is it in Tokyo?",
  get_weather: "What is the weather in Paris?",
  convert_temperature: "Convert 100 C to Fahrenheit",
  issue_refund: "Refund order A-1042, 20 euros",
};

/** @param {any} app @param {(text: string) => void} say sends it */
export function welcome(app, say) {
  const { info, tools } = app;
  const known = (tools ?? []).filter((tool) => QUESTIONS[tool.name]);
  const offers = known.map((tool) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "offer", on: { click: () => say(QUESTIONS[tool.name]) } },
        QUESTIONS[tool.name],
      ),
    ),
  );
  const who = modelName(info?.model);
  const isDemo = info?.model?.vendor === "demo";
  const whose = isDemo
    ? "The demo model answers: it is a set of rules, not a language model, and needs no key."
    : `${who} answers.`;
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, "What can I do for you?"),
    h("p", {}, info ? whose : ""),
    offers.length ? h("ul", { class: "offers" }, offers) : null,
    tools
      ? h(
          "p",
          { class: "quiet" },
          h("a", { href: "#/tools" }, count(tools.length, "tool")),
          " at hand. Calls are shown as they happen; dangerous ones ask you first.",
          info?.model?.why ? [` The model: ${who}, `, coded(info.model.why), "."] : null,
        )
      : null,
  );
}
