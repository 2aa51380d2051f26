// Renders descriptions of tools and settings: `code` in backticks and --options; no other Markdown.

import { h } from "./dom.js";

const CODE = /`([^`\n]+)`|(?<![\w-])(--[a-z][\w-]*)/g;

/** @param {string | undefined} text @returns {(Node | string)[]} */
export function inlineCode(text) {
  const source = text ?? "";
  const pieces = [];
  let at = 0;
  for (const match of source.matchAll(CODE)) {
    const [whole, code, option] = match;
    pieces.push(source.slice(at, match.index));
    // The class prevents a line break at a hyphen.
    pieces.push(option ? h("code", { class: "option" }, option) : h("code", {}, code));
    at = match.index + whole.length;
  }
  pieces.push(source.slice(at));
  return pieces;
}
