// Modal dialogs on `<dialog>`, which keeps the focus inside, returns it afterwards and closes on Escape.

import { h, button, uid } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Opens a modal dialog; `closed` resolves to its return value.
 * @param {string} title
 * @param {(Node | string)[]} children
 * @param {Node[]} [buttons]
 * @returns {{node: HTMLDialogElement, closed: Promise<string>}}
 */
export function dialog(title, children, buttons = []) {
  const id = uid("dialog");
  const closeButton = button("Close", {
    icon: icon("close"),
    iconOnly: true,
    small: true,
    on: { click: () => node.close("") },
  });
  const header = h("header", {}, h("h2", { id }, title), closeButton);
  const footer = buttons.length ? h("footer", { class: "buttons" }, buttons) : null;
  const body = h("div", { class: "dialog-body" }, children);
  /** @type {any} */
  const node = h("dialog", { class: "dialog", "aria-labelledby": id }, header, body, footer);
  // A click on the backdrop closes it.
  node.addEventListener("click", (event) => event.target === node && node.close(""));
  document.body.append(node);
  node.showModal();
  // A scrollable element needs a tab stop to be scrolled with the keyboard.
  if (body.scrollHeight > body.clientHeight) body.tabIndex = 0;
  const closed = new Promise((resolve) => {
    node.addEventListener("close", () => {
      node.remove();
      resolve(node.returnValue);
    });
  });
  return { node, closed };
}

/**
 * Asks for confirmation of an action that cannot be undone.
 * @param {string} title
 * @param {Node | Node[]} body the description of the action
 * @param {string} action the label of the confirming button
 * @returns {Promise<boolean>}
 */
export async function confirm(title, body, action) {
  const confirmButton = button(action, { kind: "danger", on: { click: () => opened.node.close("yes") } });
  const cancelButton = button("Cancel", { autofocus: true, on: { click: () => opened.node.close("") } });
  const opened = dialog(title, [body].flat(), [cancelButton, confirmButton]);
  return (await opened.closed) === "yes";
}
