// Keyboard shortcuts of the page, and the dialog that lists them.

import { h, uid } from "../ui/dom.js";
import { dialog } from "../ui/dialog.js";

const STORAGE_KEY = "toolwright.keys";

/** Keys that the fields handle themselves; only listed here. */
const FIELD_KEYS = [
  ["Enter", "Send the message"],
  ["Shift+Enter", "Break the line"],
  ["Escape", "Stop the answer; close a dialog, the drawer or the details"],
];

const areSingleKeysOn = () => localStorage.getItem(STORAGE_KEY) !== "off";

/**
 * @param {[string, string, () => void][]} keys the key, its description and its action
 * @returns {{showHelp: () => void}}
 */
export function shortcuts(keys) {
  const showHelp = () => {
    const id = uid("keys");
    const checkbox = h("input", { type: "checkbox", id, checked: areSingleKeysOn() });
    checkbox.addEventListener("change", () => localStorage.setItem(STORAGE_KEY, checkbox.checked ? "on" : "off"));
    const row = ([key, description]) =>
      h(
        "tr",
        {},
        h(
          "td",
          {},
          key.split("+").map((part) => h("kbd", {}, part)),
        ),
        h("td", {}, description),
      );
    const rows = [...keys, ["?", "This list"], ...FIELD_KEYS].map(row);
    const header = h("tr", {}, h("th", { scope: "col" }, "Key"), h("th", { scope: "col" }, "What it does"));
    dialog("Keyboard shortcuts", [
      h("table", { class: "keys" }, h("thead", { class: "visually-hidden" }, header), h("tbody", {}, rows)),
      h("p", { class: "field check" }, checkbox, h("label", { for: id }, "Use these shortcuts, except while typing")),
    ]);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const field = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (field && !isToggle(event.target)) return;
    if (event.key === "?") return handle(event, showHelp);
    const shortcut = areSingleKeysOn() && keys.find(([key]) => key.toLowerCase() === event.key.toLowerCase());
    if (shortcut) handle(event, shortcut[2]);
  });
  return { showHelp };
}

/** Checkboxes and radio buttons take no text, so the shortcuts also work there. */
function isToggle(node) {
  return node.matches("input[type=checkbox], input[type=radio]") && !node.closest("dialog");
}

function handle(event, action) {
  event.preventDefault();
  action();
}
