// Descriptions as their authors write them: `code` between backticks, and nothing else means anything.

import { h } from "./dom.js";

/** @param {string | undefined} text */
export function coded(text) {
  const pieces = (text ?? "").split(/`([^`\n]+)`/);
  return pieces.map((piece, index) => (index % 2 ? h("code", {}, piece) : piece));
}
