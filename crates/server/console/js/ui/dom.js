// Elements from plain data. Text only ever becomes text nodes: nothing in this console parses HTML.
//
// Invisible characters are escaped here, for every page: `escape.js` lists which.

import { HIDDEN, MISLEADING, escaped, pieces } from "./escape.js";

/** @typedef {Node | string | number | null | undefined | false} Child */

// What a browser would run, or read as markup.
const REFUSED = /^(on|style$|srcdoc$|innerhtml$|outerhtml$)/i;

/**
 * Makes an element.
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes; `class`; `on` (listeners by event); `value`, `checked` as properties
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (value === null || value === undefined || value === false) {
      continue;
    } else if (name === "value" || name === "checked" || name === "indeterminate") {
      node[name] = value;
    } else if (REFUSED.test(name)) {
      throw new Error(`the attribute ${name} is never set`);
    } else {
      node.setAttribute(name, attributeText(name, value));
    }
  }
  node.append(...nodes(children));
  return node;
}

/**
 * Puts other children in.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
  return parent;
}

function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .flatMap((child) => (child instanceof Node ? child : marked(String(child), HIDDEN)));
}

/** The text as nodes, with its invisible characters as marked escapes. */
function marked(text, which) {
  return pieces(text, which).map(({ text, isCode }) => {
    if (!isCode) return document.createTextNode(text);
    const node = document.createElement("span");
    node.className = "escaped";
    node.title = "An invisible or reordering character, shown by its code";
    node.textContent = text;
    return node;
  });
}

/**
 * The nodes of a text that is read rather than approved: emoji and scripts that need joiners stay intact.
 * @param {string} text
 * @returns {Node[]}
 */
export function prose(text) {
  return marked(text, MISLEADING);
}

/** Attributes whose text is shown or read aloud. */
const READ = new Set(["title", "aria-label", "placeholder", "alt"]);

function attributeText(name, value) {
  if (value === true) return "";
  return READ.has(name) ? escaped(String(value), MISLEADING) : String(value);
}

/** Sets an attribute, or takes it away, only where that changes something. */
export function attr(node, name, value) {
  if (value === null || value === undefined || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else {
    const text = attributeText(name, value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/**
 * Sets the text only where it changes, so that selections and screen readers are left alone.
 * @param {Element} node
 * @param {string} value
 * @param {RegExp} [which] the characters to escape
 */
export function text(node, value, which = HIDDEN) {
  if (node.textContent !== escaped(value, which)) fill(node, marked(value, which));
}

let count = 0;

/** An id that no other element of the page has. */
export function uid(prefix = "x") {
  count += 1;
  return `${prefix}-${count}`;
}

/** A button with an icon and a name. */
export function button(label, { icon = null, kind = "", small = false, hidden = false, ...props } = {}) {
  const classes = ["button", kind, small && "small", icon && hidden && "bare"].filter(Boolean).join(" ");
  const named = hidden ? { "aria-label": label, title: label } : {};
  return h(
    "button",
    { type: "button", class: classes, ...named, ...props },
    icon,
    hidden ? null : h("span", {}, label),
  );
}
