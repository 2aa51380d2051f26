// What is said to people who do not see the page change, and a short note for those who do.

import { h, prose, text } from "./dom.js";
import { MISLEADING } from "./escape.js";

let timer = 0;

/**
 * @param {string} message
 * @param {{urgent?: boolean, show?: boolean}} [options] urgent interrupts; show puts it on the page for a moment
 */
export function announce(message, { urgent = false, show = false } = {}) {
  const region = document.getElementById(urgent ? "alerts" : "status");
  region.append(h("p", {}, prose(message)));
  // Only what is new is read; what was read is not kept.
  while (region.children.length > 20) region.firstElementChild.remove();
  if (!show) return;
  const note = document.getElementById("note");
  text(note, message, MISLEADING);
  note.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => note.classList.remove("shown"), 2500);
}

/**
 * Reads a growing text aloud block by block: a piece is said when the next has begun, or at the end.
 * @returns {{grow: (text: string) => void, end: () => void}}
 */
export function reader() {
  let said = 0;
  let whole = "";
  return {
    grow(text) {
      whole = text;
      const end = text.lastIndexOf("\n\n");
      if (end > said) {
        announce(text.slice(said, end).trim());
        said = end;
      }
    },
    end() {
      const rest = whole.slice(said).trim();
      if (rest) announce(rest);
      said = whole.length;
    },
  };
}
