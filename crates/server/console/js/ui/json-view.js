// Displays JSON: indented, with syntax highlighting and a copy button.

import { h } from "./dom.js";
import { copyButton } from "./clipboard.js";

/** Longer texts are not highlighted: every token is an element. */
const MAX_HIGHLIGHTED = 60_000;
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/**
 * Displays a value, or text that may be JSON.
 * @param {any} value
 * @param {{label?: string, isText?: boolean}} [options] isText: the value is text that may be JSON
 */
export function jsonView(value, { label = "JSON", isText = false } = {}) {
  const text = isText ? prettyJson(value) : (JSON.stringify(value, null, 2) ?? "");
  const code = h("code", {}, text.length > MAX_HIGHLIGHTED ? text : highlight(text));
  const copy = copyButton(`Copy ${label.toLowerCase()}`, () => text, `${label} copied`);
  return h("div", { class: "json" }, copy, h("pre", { tabindex: 0, role: "group", "aria-label": label }, code));
}

/** Displays JSON in a collapsed `<details>`. */
export function jsonDetails(summary, value, label = summary) {
  return h("details", { class: "fold" }, h("summary", {}, summary), jsonView(value, { label }));
}

/** Indents a text if it is JSON; returns other text unchanged. */
export function prettyJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function highlight(text) {
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
