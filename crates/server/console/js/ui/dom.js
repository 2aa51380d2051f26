// Creates and updates DOM elements. Text only becomes text nodes: the console never parses HTML.
//
// Invisible characters are escaped here for every page; `escape.js` lists them.

import { INVISIBLE, MISLEADING, escapeText, splitEscapes } from "./escape.js";

/** @typedef {Node | string | number | null | undefined | false} Child */

// Attributes that a browser would execute or parse as markup.
const FORBIDDEN_ATTRIBUTES = /^(on|style$|srcdoc$|innerhtml$|outerhtml$)/i;

/**
 * Creates an element.
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes; `class`; `on` (listeners by event); `value` and `checked` are set as
 *   properties
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
    } else if (name === "value" || name === "checked") {
      node[name] = value;
    } else if (FORBIDDEN_ATTRIBUTES.test(name)) {
      throw new Error(`the attribute ${name} is never set`);
    } else {
      node.setAttribute(name, attributeText(name, value));
    }
  }
  node.append(...toNodes(children));
  return node;
}

/**
 * Replaces the children of an element.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function setChildren(parent, ...children) {
  parent.replaceChildren(...toNodes(children));
  return parent;
}

function toNodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .flatMap((child) => (child instanceof Node ? child : escapedNodes(String(child), INVISIBLE)));
}

/** Returns the text as nodes; characters that match the pattern become highlighted escapes. */
function escapedNodes(text, pattern) {
  return splitEscapes(text, pattern).map(({ text, isEscape }) => {
    if (!isEscape) return document.createTextNode(text);
    const node = document.createElement("span");
    node.className = "escaped";
    node.title = "An invisible or reordering character, shown by its code";
    node.textContent = text;
    return node;
  });
}

/**
 * Returns the nodes of a text that is read, not approved: emoji and scripts that need joiners stay intact.
 * @param {string} text
 * @returns {Node[]}
 */
export function proseNodes(text) {
  return escapedNodes(text, MISLEADING);
}

/** Attributes whose text is displayed or read by screen readers. */
const SPOKEN_ATTRIBUTES = new Set(["title", "aria-label", "placeholder", "alt"]);

function attributeText(name, value) {
  if (value === true) return "";
  return SPOKEN_ATTRIBUTES.has(name) ? escapeText(String(value), MISLEADING) : String(value);
}

/** Sets or removes an attribute, only if that changes it. */
export function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else {
    const text = attributeText(name, value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/**
 * Sets the text of an element, only if it changes: selections and screen readers are not disturbed.
 * @param {Element} node
 * @param {string} value
 * @param {RegExp} [pattern] which characters to escape
 */
export function setText(node, value, pattern = INVISIBLE) {
  if (node.textContent !== escapeText(value, pattern)) setChildren(node, escapedNodes(value, pattern));
}

let lastId = 0;

/** Returns an id that is unique on the page. */
export function uid(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

/** Creates a button; `iconOnly` makes the label its accessible name and tooltip. */
export function button(label, { icon = null, kind = "", small = false, iconOnly = false, ...props } = {}) {
  const classes = ["button", kind, small && "small", icon && iconOnly && "bare"].filter(Boolean).join(" ");
  const naming = iconOnly ? { "aria-label": label, title: label } : {};
  return h(
    "button",
    { type: "button", class: classes, ...naming, ...props },
    icon,
    iconOnly ? null : h("span", {}, label),
  );
}

/** Creates a `<details>` whose content is created when it is first opened. */
export function lazyDetails(className, summary, createContent) {
  const node = h("details", { class: className }, h("summary", {}, summary));
  node.addEventListener("toggle", () => node.append(createContent()), { once: true });
  return node;
}

/** Creates the message that stands in place of content that does not exist. */
export function emptyState(title, ...children) {
  return h("div", { class: "empty-state" }, h("h2", {}, title), children);
}
