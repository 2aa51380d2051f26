// The scroll area of the transcript: it follows the end while content is added, unless the user has scrolled up.

import { h, button } from "../ui/dom.js";
import { icon } from "../ui/icons.js";

/** A position so near to the end counts as the end, in pixels. */
const END_THRESHOLD = 48;

/** @param {HTMLElement} content */
export function createScrollArea(content) {
  const toEndButton = button("To the end", { icon: icon("down"), iconOnly: true, kind: "round" });
  const area = h("div", { class: "transcript", tabindex: 0, role: "region", "aria-label": "Conversation" }, content);
  const node = h("div", { class: "transcript-frame" }, area, toEndButton);
  let isFollowing = true;
  let position = 0;

  const distanceToEnd = () => area.scrollHeight - area.clientHeight - area.scrollTop;
  const updateFollowing = () => {
    isFollowing = distanceToEnd() < END_THRESHOLD;
    toEndButton.hidden = isFollowing;
  };
  area.addEventListener("scroll", () => {
    // While another page is displayed, the area has no height and no valid position.
    if (!area.clientHeight) return;
    updateFollowing();
    position = area.scrollTop;
  });
  // A click that makes the transcript longer, for example on a card, stops following.
  const afterInteraction = () => requestAnimationFrame(updateFollowing);
  area.addEventListener("click", afterInteraction);
  area.addEventListener("toggle", afterInteraction, true);
  const scrollToEnd = () => {
    isFollowing = true;
    followEnd();
  };
  const followEnd = () => {
    if (isFollowing) area.scrollTop = area.scrollHeight;
    toEndButton.hidden = isFollowing || distanceToEnd() < END_THRESHOLD;
  };
  /** Restores the position after the area was removed from the page. */
  const restore = () => {
    area.scrollTop = position;
    followEnd();
  };
  const isVisible = (node) => {
    if (!node || !area.contains(node)) return false;
    const [box, frame] = [node.getBoundingClientRect(), area.getBoundingClientRect()];
    return box.bottom > frame.top && box.top < frame.bottom;
  };
  /** Returns the first element whose top is visible, else the innermost one at the top edge. */
  const firstVisible = () => {
    const { top } = area.getBoundingClientRect();
    let at = content;
    for (;;) {
      const next = [...at.children].find((child) => child.getBoundingClientRect().bottom > top + 1);
      if (!next || at.getBoundingClientRect().top >= top) return at;
      at = next;
    }
  };
  /**
   * Changes the layout and scrolls so that an element keeps its position on the screen.
   * @param {() => void} change
   * @param {Element | null} [preferred] the element; if it is not visible, the first visible one is taken
   */
  const keepPosition = (change, preferred) => {
    if (isFollowing && !isVisible(preferred)) {
      change();
      return followEnd();
    }
    const anchor = isVisible(preferred) ? preferred : firstVisible();
    const before = anchor.getBoundingClientRect().top;
    change();
    area.scrollTop += anchor.getBoundingClientRect().top - before;
    updateFollowing();
  };
  toEndButton.addEventListener("click", () => {
    scrollToEnd();
    area.focus();
  });
  toEndButton.hidden = true;
  // The height also changes with the window and the composer.
  new ResizeObserver(followEnd).observe(area);
  return { node, scrollToEnd, followEnd, restore, keepPosition };
}
