// A place that scrolls and stays at its end while it grows, unless a person has scrolled up.

import { h, button } from "./dom.js";
import { icon } from "./icons.js";

const NEAR = 48;

/** @param {HTMLElement} inner */
export function scroller(inner) {
  const down = button("To the end", { icon: icon("down"), hidden: true, kind: "round" });
  const area = h("div", { class: "transcript", tabindex: 0, role: "region", "aria-label": "Conversation" }, inner);
  const node = h("div", { class: "transcript-frame" }, area, down);
  let stuck = true;
  let place = 0;

  const end = () => area.scrollHeight - area.clientHeight - area.scrollTop;
  area.addEventListener("scroll", () => {
    // Taken off the page, it has no height, and what it says of its place means nothing.
    if (!area.clientHeight) return;
    stuck = end() < NEAR;
    place = area.scrollTop;
    down.hidden = stuck;
  });
  const toEnd = () => {
    stuck = true;
    settle();
  };
  const settle = () => {
    if (stuck) area.scrollTop = area.scrollHeight;
    down.hidden = stuck || end() < NEAR;
  };
  /** Back on the page: where it was. */
  const restore = () => {
    area.scrollTop = place;
    settle();
  };
  down.addEventListener("click", () => {
    toEnd();
    area.focus();
  });
  down.hidden = true;
  // Opening a card or turning a phone changes heights, too.
  new ResizeObserver(settle).observe(area);
  return { node, toEnd, settle, restore };
}
