// Announcements: ARIA live regions for screen readers, and an optional toast.

import { h, proseNodes, setText } from "./dom.js";
import { MISLEADING } from "./escape.js";

let timer = 0;

/**
 * Announces a message.
 * @param {string} message
 * @param {{urgent?: boolean, show?: boolean}} [options] urgent: assertive, not polite; show: also as a toast
 */
export function announce(message, { urgent = false, show = false } = {}) {
  const region = document.getElementById(urgent ? "alerts" : "status");
  region.append(h("p", {}, proseNodes(message)));
  // Screen readers read only additions.
  while (region.children.length > 20) region.firstElementChild.remove();
  if (!show) return;
  const toast = document.getElementById("toast");
  setText(toast, message, MISLEADING);
  toast.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => toast.classList.remove("shown"), 2500);
}

/**
 * Announces a streamed text paragraph by paragraph: each when the next one begins, the last at the end.
 * @returns {{update: (text: string) => void, finish: () => void}}
 */
export function textAnnouncer() {
  let announced = 0;
  let fullText = "";
  return {
    update(text) {
      fullText = text;
      const end = text.lastIndexOf("\n\n");
      if (end > announced) {
        announce(text.slice(announced, end).trim());
        announced = end;
      }
    },
    finish() {
      const rest = fullText.slice(announced).trim();
      if (rest) announce(rest);
      announced = fullText.length;
    },
  };
}
