// Descriptions as their authors write them: `code` between backticks and --options, and nothing else means anything.

import { h } from "./dom.js";

const CODE = /`([^`\n]+)`|(?<![\w-])(--[a-z][\w-]*)/g;

/** @param {string | undefined} text */
export function coded(text) {
  const source = text ?? "";
  const pieces = [];
  let at = 0;
  for (const match of source.matchAll(CODE)) {
    const [whole, code, option] = match;
    pieces.push(source.slice(at, match.index));
    // The name of an option is one word, hyphens and all.
    pieces.push(option ? h("code", { class: "option" }, option) : h("code", {}, code));
    at = match.index + whole.length;
  }
  pieces.push(source.slice(at));
  return pieces;
}
