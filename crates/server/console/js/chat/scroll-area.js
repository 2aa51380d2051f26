// A place that scrolls and stays at its end while it grows, unless a person has scrolled up.

import { h, button } from "../ui/dom.js";
import { icon } from "../ui/icons.js";

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
  const look = () => {
    stuck = end() < NEAR;
    down.hidden = stuck;
  };
  // A click that makes the transcript longer, on a card for instance, ends following its end.
  const touched = () => requestAnimationFrame(look);
  area.addEventListener("click", touched);
  area.addEventListener("toggle", touched, true);
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
  const isSeen = (node) => {
    if (!node || !area.contains(node)) return false;
    const [box, frame] = [node.getBoundingClientRect(), area.getBoundingClientRect()];
    return box.bottom > frame.top && box.top < frame.bottom;
  };
  /** The first element whose top is visible, else the innermost one at the top edge. */
  const first = () => {
    const { top } = area.getBoundingClientRect();
    let at = inner;
    for (;;) {
      const next = [...at.children].find((child) => child.getBoundingClientRect().bottom > top + 1);
      if (!next || at.getBoundingClientRect().top >= top) return at;
      at = next;
    }
  };
  /**
   * Makes a change of layout that wraps the transcript anew, and scrolls so that an element keeps its place on the screen.
   * @param {() => void} change
   * @param {Element | null} [wanted] the element, if it is visible; else the first one that is
   */
  const hold = (change, wanted) => {
    if (stuck && !isSeen(wanted)) {
      change();
      return settle();
    }
    const at = isSeen(wanted) ? wanted : first();
    const before = at.getBoundingClientRect().top;
    change();
    area.scrollTop += at.getBoundingClientRect().top - before;
    look();
  };
  down.addEventListener("click", () => {
    toEnd();
    area.focus();
  });
  down.hidden = true;
  // Opening a card or turning a phone changes heights, too.
  new ResizeObserver(settle).observe(area);
  return { node, toEnd, settle, restore, hold };
}
