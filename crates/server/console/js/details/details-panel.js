// The panel beside the chat: a turn's timeline, and what went over the wire.

import { h, button, fill, text, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { timeline } from "./timeline.js";
import { wire } from "./provider-requests.js";
import { MISLEADING } from "../ui/escape.js";

const narrow = matchMedia("(max-width: 55.99rem)");
const VIEWS = [
  ["Timeline", timeline],
  ["Wire", wire],
];

/**
 * @param {(turn: any) => Promise<void>} complete brings what only the journal has
 * @param {() => HTMLElement[]} behind what it covers on a narrow screen
 * @param {(change: () => void, near: Element | null) => void} hold keeps the scroll place of the transcript
 */
export function panel(complete, behind, hold) {
  const body = h("div", { class: "panel-body", role: "tabpanel", tabindex: 0, id: uid("panel") });
  const about = h("p", { class: "quiet panel-about" });
  const close = button("Close details", { icon: icon("close"), hidden: true, small: true });
  let chosen = 0;
  let turn = null;
  let drawn = -1;
  let back = null;

  const tabs = VIEWS.map(([name], index) =>
    h(
      "button",
      { type: "button", role: "tab", id: uid("tab"), "aria-controls": body.id, on: { click: () => choose(index) } },
      name,
    ),
  );
  const row = h("div", { class: "segments tabs", role: "tablist", "aria-label": "Details" }, tabs);
  const node = h(
    "aside",
    { class: "panel", "aria-label": "Details of the turn", hidden: true },
    h("header", {}, h("h2", {}, "Details"), close),
    about,
    row,
    body,
  );

  /** What is covered cannot be reached. */
  const cover = () => behind().forEach((it) => (it.inert = !node.hidden && narrow.matches));
  narrow.addEventListener("change", cover);

  const draw = () => {
    drawn = turn.version;
    text(about, turn.user?.find((item) => item.type === "text")?.text ?? "", MISLEADING);
    fill(body, VIEWS[chosen][1](turn));
  };
  const choose = (index) => {
    chosen = index;
    tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(at === index));
      tab.tabIndex = at === index ? 0 : -1;
    });
    body.setAttribute("aria-labelledby", tabs[index].id);
    if (turn) draw();
  };
  row.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    choose((chosen + step + VIEWS.length) % VIEWS.length);
    tabs[chosen].focus();
  });
  const shut = () => {
    if (node.hidden) return;
    hold(() => (node.hidden = true), back);
    turn = null;
    cover();
    if (back?.isConnected) back.focus({ preventScroll: true });
  };
  close.addEventListener("click", shut);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    shut();
  });
  choose(0);

  return {
    node,
    shut,
    isOpen: () => !node.hidden,
    async open(wanted) {
      back = document.activeElement;
      turn = wanted;
      hold(() => (node.hidden = false), back);
      cover();
      draw();
      tabs[chosen].focus();
      await complete(wanted);
      if (turn === wanted) draw();
    },
    turn: () => turn,
    /** Goes on with the same turn, read anew. */
    swap(same) {
      if (turn && same) turn = same;
    },
    /** Follows the turn while it runs, but leaves opened requests open. */
    update() {
      if (turn && turn.version !== drawn && chosen === 0) draw();
    },
  };
}
