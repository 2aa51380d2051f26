// The list of messages that the server has queued behind a running turn, until their own turns begin.

import { h, setChildren } from "../ui/dom.js";
import { plainText } from "../ui/content-view.js";
import { messageBubble } from "./turn-view.js";

/** @typedef {{parts: {role: string, content: any[]}[], isShown: boolean, isMaybeLost: boolean}} Item */

const isSamePart = (one, other) => one.role === other.role && plainText(one.content) === plainText(other.content);
const areSameParts = (one, other) =>
  one.length === other.length && one.every((part, at) => isSamePart(part, other[at]));
const messageText = ({ parts }) => parts.map((part) => plainText(part.content)).join("\n");

export function createMessageQueue() {
  const node = h("ol", { class: "queued-messages", "aria-label": "Queued messages", hidden: true });
  /** @type {Item[]} */
  let items = [];
  let lastType = "";

  const draw = () => {
    const shown = items.filter((item) => item.isShown);
    setChildren(node, shown.map(queuedMessage));
    node.hidden = !shown.length;
  };
  const filterItems = (predicate) => {
    items = items.filter(predicate);
    draw();
  };

  return {
    node,
    size: () => items.length,
    clear: () => filterItems(() => false),
    /** Adds a message that is being sent. It is hidden until the response: its turn may begin before that. */
    add(parts) {
      const item = { parts, isShown: false, isMaybeLost: false };
      items.push(item);
      const remove = () => filterItems((it) => it !== item);
      const show = () => {
        item.isShown = true;
        draw();
      };
      return { remove, show };
    },
    /** Applies the queue of a snapshot. A message that is not in it has begun, or was lost in a restart of the server. */
    applySnapshot(queued) {
      const unmatched = [...items];
      const known = queued.map((parts) => {
        const at = unmatched.findIndex((item) => areSameParts(item.parts, parts));
        const item = at < 0 ? { parts } : unmatched.splice(at, 1)[0];
        return Object.assign(item, { isShown: true, isMaybeLost: false });
      });
      for (const item of unmatched) item.isMaybeLost = item.isShown;
      items = [...known, ...unmatched];
      draw();
    },
    /** Removes the message whose turn begins with this event. */
    applyEvent({ type, ...part }) {
      const isNewTurn = type === "said" && lastType !== "said";
      lastType = type;
      const started = isNewTurn && items.find((item) => isSamePart(item.parts[0], part));
      if (started) filterItems((item) => item !== started);
    },
    /** Removes the lost messages and returns their texts. Called when no turn runs, so that none of them can begin. */
    takeLost() {
      const lost = items.filter((item) => item.isMaybeLost);
      if (lost.length) filterItems((item) => !item.isMaybeLost);
      return lost.map(messageText);
    },
  };
}

function queuedMessage({ parts }) {
  const content = parts.flatMap((part) => part.content);
  return h("li", {}, messageBubble(content), h("p", { class: "quiet" }, "Queued until the turn before it ends"));
}
