// The prompts: texts that a person picks, filled in and put into the chat.

import { h, button, fill, text as write } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { api } from "../api/client.js";
import { coded } from "../ui/inline-code.js";
import { argumentsForm } from "../forms/arguments-form.js";

/** @param {any} app `insert` puts a text into the chat */
export function promptsPage(app) {
  const list = h("div", { class: "prompts" });
  const node = h("div", { class: "page" }, list);
  return {
    node,
    async show() {
      fill(list, h("p", { class: "quiet" }, "Loading…"));
      try {
        const prompts = await api.prompts();
        if (prompts.length)
          fill(
            list,
            prompts.map((prompt) => promptView(prompt, app)),
          );
        else
          fill(
            list,
            h(
              "div",
              { class: "nothing" },
              h("h2", {}, "No prompts"),
              h("p", { class: "quiet" }, "A prompt is a text with blanks, defined beside the tools with #[prompt]."),
            ),
          );
      } catch (error) {
        fill(list, h("p", { class: "fault" }, error.message));
      }
    },
  };
}

function promptView(prompt, app) {
  const form = argumentsForm(prompt.inputSchema ?? { type: "object", properties: {}, additionalProperties: false });
  const shown = h("div", { class: "prompt-text", role: "status" });
  const fault = h("p", { class: "fault", role: "alert" });
  const rendered = async () => {
    const { value, fault: wrong } = form.read();
    if (wrong) return null;
    fault.textContent = "";
    try {
      const [{ role, text }] = (await api.render(prompt.name, value)).messages;
      return { role, text, arguments: value };
    } catch (error) {
      write(fault, error.message);
      return null;
    }
  };
  const preview = async () => {
    const made = await rendered();
    if (made) fill(shown, h("pre", { class: "plain", dir: "auto" }, made.text));
  };
  const insert = async (event) => {
    event.preventDefault();
    const made = await rendered();
    if (made) app.insert({ name: prompt.name, title: prompt.title ?? prompt.name, ...made });
  };
  const look = button("Preview", { on: { click: preview } });
  const put = button("Insert into the chat", { icon: icon("chat"), kind: "primary", type: "submit" });
  return h(
    "form",
    { class: "prompt", novalidate: true, "aria-label": prompt.title ?? prompt.name, on: { submit: insert } },
    h("h2", {}, prompt.title ?? prompt.name),
    h("p", { class: "tool-names" }, h("code", {}, prompt.name), h("span", { class: "tag" }, `as ${prompt.role}`)),
    h("p", {}, coded(prompt.description)),
    form.node,
    h("div", { class: "buttons" }, put, look),
    fault,
    shown,
  );
}
