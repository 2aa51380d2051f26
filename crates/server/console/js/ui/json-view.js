// JSON for reading: indented, coloured, copied with one press.

import { h, button } from "./dom.js";
import { icon } from "./icons.js";
import { copy } from "./clipboard.js";

/** Beyond this, colours cost more than they help. */
const COLOURED = 60_000;
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/**
 * Shows a value, or a text that is perhaps JSON.
 * @param {any} value
 * @param {{label?: string, isText?: boolean}} [options] isText: the value is JSON text
 */
export function json(value, { label = "JSON", isText = false } = {}) {
  const text = isText ? pretty(value) : (JSON.stringify(value, null, 2) ?? "");
  const code = h("code", {}, text.length > COLOURED ? text : coloured(text));
  const press = button(`Copy ${label.toLowerCase()}`, {
    icon: icon("copy"),
    hidden: true,
    small: true,
    on: { click: () => copy(text, `${label} copied`) },
  });
  return h("div", { class: "json" }, press, h("pre", { tabindex: 0, role: "group", "aria-label": label }, code));
}

/** Indents a text if it is JSON, else leaves it as it is. */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function coloured(text) {
  const pieces = [];
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [whole, string, colon, number] = match;
    pieces.push(text.slice(at, match.index));
    const kind = string ? (colon ? "key" : "string") : number ? "number" : "word";
    pieces.push(h("span", { class: `json-${kind}` }, string ?? whole), colon ?? "");
    at = match.index + whole.length;
  }
  pieces.push(text.slice(at));
  return pieces;
}
