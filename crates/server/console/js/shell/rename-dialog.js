// The dialog in which an owner renames a conversation.

import { h, button, setText, uid } from "../ui/dom.js";
import { api } from "../net/api-client.js";
import { dialog } from "../ui/dialog.js";
import { announce } from "../ui/live-region.js";

/**
 * Opens the dialog.
 * @param {string} id
 * @param {string} title the title that it has
 * @param {() => void} onRenamed
 */
export function renameDialog(id, title, onRenamed) {
  const inputId = uid("title");
  const input = /** @type {any} */ (h("input", { type: "text", id: inputId, value: title, maxlength: 200 }));
  const error = h("p", { class: "error", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await api.rename(id, input.value);
      opened.node.close("");
      announce("Conversation renamed", { show: true });
      onRenamed();
    } catch ({ message }) {
      setText(error, message);
    }
  };
  const hint = h("span", { class: "field-hint" }, " empty: the beginning of the first message");
  const form = h(
    "form",
    { class: "fields", on: { submit } },
    h("div", { class: "field" }, h("label", { for: inputId }, "Title", hint), input, error),
    h("div", { class: "buttons" }, button("Rename", { kind: "primary", type: "submit" })),
  );
  const opened = dialog("Rename this conversation", [form]);
  input.select();
}
