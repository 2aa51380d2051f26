// Copies text to the clipboard.

import { button } from "./dom.js";
import { icon } from "./icons.js";
import { announce } from "./live-region.js";

/**
 * Creates a button that copies a text.
 * @param {string} label
 * @param {() => string} text
 * @param {string} confirmation announced after the text is copied
 */
export function copyButton(label, text, confirmation) {
  const click = () => copyText(text(), confirmation);
  return button(label, { icon: icon("copy"), iconOnly: true, small: true, on: { click } });
}

async function copyText(text, confirmation) {
  try {
    await navigator.clipboard.writeText(text);
    announce(confirmation, { show: true });
  } catch {
    announce("Copying is not allowed here", { show: true });
  }
}
