// Dialogs of the browser's own kind: focus stays inside and goes back where it came from; Escape closes.

import { h, button } from "./dom.js";
import { icon } from "./icons.js";
import { uid } from "./dom.js";

/**
 * Shows a dialog until it is closed.
 * @param {string} title
 * @param {(Node | string)[]} children
 * @param {Node[]} [buttons]
 * @returns {{node: HTMLDialogElement, closed: Promise<string>}}
 */
export function dialog(title, children, buttons = []) {
  const id = uid("dialog");
  const close = button("Close", {
    icon: icon("close"),
    hidden: true,
    small: true,
    on: { click: () => node.close("") },
  });
  const head = h("header", {}, h("h2", { id }, title), close);
  const foot = buttons.length ? h("footer", { class: "buttons" }, buttons) : null;
  const body = h("div", { class: "dialog-body" }, children);
  /** @type {any} */
  const node = h("dialog", { class: "dialog", "aria-labelledby": id }, head, body, foot);
  // A click beside it closes it, too.
  node.addEventListener("click", (event) => event.target === node && node.close(""));
  document.body.append(node);
  node.showModal();
  // The keyboard must be able to scroll it.
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
 * Asks before something is done that cannot be undone.
 * @param {string} title
 * @param {Node | Node[]} body what it is about
 * @param {string} action the word on the button that does it
 * @returns {Promise<boolean>}
 */
export async function confirm(title, body, action) {
  const go = button(action, { kind: "danger", on: { click: () => asked.node.close("yes") } });
  const stay = button("Cancel", { autofocus: true, on: { click: () => asked.node.close("") } });
  const asked = dialog(title, [body].flat(), [stay, go]);
  return (await asked.closed) === "yes";
}
