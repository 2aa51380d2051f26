// The start screen of a new conversation: the greeting, suggested messages and the model.

import { h } from "../ui/dom.js";
import { count, modelName } from "../ui/format.js";
import { suggestedMessages } from "./suggestions.js";

/** @param {any} app @param {(text: string) => void} send sends a message */
export function welcome(app, send) {
  const { info, tools } = app;
  const messages = info?.console.suggestions ?? suggestedMessages(tools ?? []);
  const suggestions = messages.map((message) =>
    h("li", {}, h("button", { type: "button", class: "suggestion", on: { click: () => send(message) } }, message)),
  );
  const isDemo = info?.model?.vendor === "demo";
  const modelText = isDemo
    ? "The demo model answers: it is a set of rules, not a language model, and needs no key."
    : `${modelName(info?.model)} answers.`;
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, info?.console.greeting ?? ""),
    h("p", {}, info ? modelText : ""),
    suggestions.length ? h("ul", { class: "suggestions" }, suggestions) : null,
    tools
      ? h(
          "p",
          { class: "quiet" },
          h("a", { href: "#/tools" }, count(tools.length, "tool")),
          " at hand. Calls are shown as they happen; dangerous ones ask you first.",
        )
      : null,
  );
}
