// Copies a text, and says so.

import { announce } from "./live-region.js";

/** @param {string} text @param {string} said what is announced when it is done */
export async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    announce(said, { show: true });
  } catch {
    announce("Copying is not allowed here", { show: true });
  }
}
