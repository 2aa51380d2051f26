// Elements from plain data. Text only ever becomes text nodes: nothing in this console parses HTML.

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
      node.setAttribute(name, value === true ? "" : String(value));
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
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** Sets an attribute, or takes it away, only where that changes something. */
export function attr(node, name, value) {
  if (value === null || value === undefined || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else {
    const text = value === true ? "" : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** Sets the text only where it changes, so that selections and screen readers are left alone. */
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
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
