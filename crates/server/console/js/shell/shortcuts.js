// Keys that do something anywhere on the page, and the list of them.

import { h, uid } from "../ui/dom.js";
import { dialog } from "../ui/dialog.js";

const KEY = "toolwright.keys";

/** Those of the fields, for the list only. */
const FIELDS = [
  ["Enter", "Send the message"],
  ["Shift+Enter", "Break the line"],
  ["Escape", "Stop the answer; close a dialog, the drawer or the details"],
];

const isOn = () => localStorage.getItem(KEY) !== "off";

/**
 * @param {[string, string, () => void][]} keys the key, what it does, and doing it
 * @returns {{help: () => void}}
 */
export function shortcuts(keys) {
  const help = () => {
    const id = uid("keys");
    const box = h("input", { type: "checkbox", id, checked: isOn() });
    box.addEventListener("change", () => localStorage.setItem(KEY, box.checked ? "on" : "off"));
    const row = ([key, what]) =>
      h(
        "tr",
        {},
        h(
          "td",
          {},
          key.split("+").map((part) => h("kbd", {}, part)),
        ),
        h("td", {}, what),
      );
    const rows = [...keys, ["?", "This list"], ...FIELDS].map(row);
    const head = h("tr", {}, h("th", { scope: "col" }, "Key"), h("th", { scope: "col" }, "What it does"));
    dialog("Keyboard shortcuts", [
      h("table", { class: "keys" }, h("thead", { class: "unseen" }, head), h("tbody", {}, rows)),
      h("p", { class: "field check" }, box, h("label", { for: id }, "Single keys do something outside of fields")),
    ]);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const field = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (field && !isToggle(event.target)) return;
    if (event.key === "?") return prevent(event, help);
    const found = isOn() && keys.find(([key]) => key.toLowerCase() === event.key.toLowerCase());
    if (found) prevent(event, found[2]);
  });
  return { help };
}

/** A box or a button takes no text, so keys stay free. */
function isToggle(node) {
  return node.matches("input[type=checkbox], input[type=radio]") && !node.closest("dialog");
}

function prevent(event, act) {
  event.preventDefault();
  act();
}
