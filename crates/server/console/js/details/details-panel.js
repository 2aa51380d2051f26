// The details panel of a turn, with the tabs Timeline and Wire.

import { h, button, setChildren, setText, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { timeline } from "./timeline.js";
import { providerRequests } from "./provider-requests.js";
import { MISLEADING } from "../ui/escape.js";

const narrow = matchMedia("(max-width: 55.99rem)");
const VIEWS = [
  ["Timeline", timeline],
  ["Wire", providerRequests],
];

/**
 * @param {(turn: any) => Promise<void>} loadProviderItems loads the provider's response items into the turn
 * @param {() => HTMLElement[]} covered the elements that the panel covers on a narrow screen
 * @param {(change: () => void, near: Element | null) => void} keepPosition changes the layout and keeps the scroll
 *   position of the transcript
 */
export function createDetailsPanel(loadProviderItems, covered, keepPosition) {
  const body = h("div", { class: "panel-body", role: "tabpanel", tabindex: 0, id: uid("panel") });
  const subtitle = h("p", { class: "quiet panel-subtitle" });
  const closeButton = button("Close details", { icon: icon("close"), iconOnly: true, small: true });
  let selected = 0;
  let turn = null;
  let drawnVersion = -1;
  let returnFocus = null;

  const tabs = VIEWS.map(([name], index) =>
    h(
      "button",
      { type: "button", role: "tab", id: uid("tab"), "aria-controls": body.id, on: { click: () => select(index) } },
      name,
    ),
  );
  const tabList = h("div", { class: "segments tabs", role: "tablist", "aria-label": "Details" }, tabs);
  const node = h(
    "aside",
    { class: "panel", "aria-label": "Details of the turn", hidden: true },
    h("header", {}, h("h2", {}, "Details"), closeButton),
    subtitle,
    tabList,
    body,
  );

  /** Covered elements must not be focusable. */
  const updateInert = () => covered().forEach((it) => (it.inert = !node.hidden && narrow.matches));
  narrow.addEventListener("change", updateInert);

  const draw = () => {
    drawnVersion = turn.version;
    setText(subtitle, turn.message?.find((item) => item.type === "text")?.text ?? "", MISLEADING);
    setChildren(body, VIEWS[selected][1](turn));
  };
  const select = (index) => {
    selected = index;
    tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(at === index));
      tab.tabIndex = at === index ? 0 : -1;
    });
    body.setAttribute("aria-labelledby", tabs[index].id);
    if (turn) draw();
  };
  tabList.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    select((selected + step + VIEWS.length) % VIEWS.length);
    tabs[selected].focus();
  });
  const close = () => {
    if (node.hidden) return;
    keepPosition(() => (node.hidden = true), returnFocus);
    turn = null;
    updateInert();
    if (returnFocus?.isConnected) returnFocus.focus({ preventScroll: true });
  };
  closeButton.addEventListener("click", close);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  select(0);

  return {
    node,
    close,
    isOpen: () => !node.hidden,
    async open(newTurn) {
      returnFocus = document.activeElement;
      turn = newTurn;
      keepPosition(() => (node.hidden = false), returnFocus);
      updateInert();
      draw();
      tabs[selected].focus();
      await loadProviderItems(newTurn);
      if (turn === newTurn) draw();
    },
    turn: () => turn,
    /** Replaces the open turn after the state was rebuilt from a snapshot. */
    replaceTurn(newTurn) {
      if (turn && newTurn) turn = newTurn;
    },
    /** Redraws the timeline if the turn has changed. The other tab is not redrawn: that would close opened requests. */
    update() {
      if (turn && turn.version !== drawnVersion && selected === 0) draw();
    },
  };
}
