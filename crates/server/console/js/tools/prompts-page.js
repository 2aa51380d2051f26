// The prompts page: templates that a person fills in and inserts into the chat.

import { h, button, emptyState, setChildren, setText } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { api } from "../net/api-client.js";
import { inlineCode } from "../ui/inline-code.js";
import { argumentsForm } from "../forms/arguments-form.js";

/** @param {any} app its `insertPrompt` puts a rendered prompt into the chat */
export function promptsPage(app) {
  const list = h("div", { class: "prompts" });
  const node = h("div", { class: "page" }, list);
  return {
    node,
    async show() {
      setChildren(list, h("p", { class: "quiet" }, "Loading…"));
      try {
        const prompts = await api.prompts();
        const views = prompts.map((prompt) => promptView(prompt, app));
        setChildren(list, views.length ? views : noPrompts());
      } catch (error) {
        setChildren(list, h("p", { class: "error" }, error.message));
      }
    },
  };
}

function noPrompts() {
  const text = "A prompt is a text with blanks, defined beside the tools with #[prompt].";
  return emptyState("No prompts", h("p", { class: "quiet" }, text));
}

function promptView(prompt, app) {
  const form = argumentsForm(prompt.inputSchema ?? { type: "object", properties: {}, additionalProperties: false });
  const preview = h("div", { class: "prompt-text", role: "status" });
  const error = h("p", { class: "error", role: "alert" });
  const render = async () => {
    const { value, error: invalid } = form.read();
    if (invalid) return null;
    error.textContent = "";
    try {
      const [{ role, text }] = (await api.render(prompt.name, value)).messages;
      return { role, text, arguments: value };
    } catch ({ message }) {
      setText(error, message);
      return null;
    }
  };
  const showPreview = async () => {
    const rendered = await render();
    if (rendered) setChildren(preview, h("pre", { class: "plain", dir: "auto" }, rendered.text));
  };
  const onSubmit = async (event) => {
    event.preventDefault();
    const rendered = await render();
    if (rendered) app.insertPrompt({ name: prompt.name, title: prompt.title ?? prompt.name, ...rendered });
  };
  const previewButton = button("Preview", { on: { click: showPreview } });
  const insertButton = button("Insert into the chat", { icon: icon("chat"), kind: "primary", type: "submit" });
  return h(
    "form",
    { class: "prompt", novalidate: true, "aria-label": prompt.title ?? prompt.name, on: { submit: onSubmit } },
    h("h2", {}, prompt.title ?? prompt.name),
    h("p", { class: "tool-names" }, h("code", {}, prompt.name), h("span", { class: "tag" }, `as ${prompt.role}`)),
    h("p", {}, inlineCode(prompt.description)),
    form.node,
    h("div", { class: "buttons" }, insertButton, previewButton),
    error,
    preview,
  );
}
