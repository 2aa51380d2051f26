// The list of messages that the server has queued behind a running turn, until their own turns begin.

import { h, button, setChildren } from "../ui/dom.js";
import { plainText } from "../ui/content-view.js";
import { messageBubble } from "./turn-view.js";

/** @typedef {{parts: {role: string, content: any[]}[], position: number | null}} Item position: null until it is known */

const isSamePart = (one, other) => one.role === other.role && plainText(one.content) === plainText(other.content);
const areSameParts = (one, other) =>
  one.length === other.length && one.every((part, at) => isSamePart(part, other[at]));
const messageText = ({ parts }) => parts.map((part) => plainText(part.content)).join("\n");

/** @param {(position: number, text: string) => void} withdraw */
export function createMessageQueue(withdraw) {
  const node = h("ol", { class: "queued-messages", "aria-label": "Queued messages", hidden: true });
  /** @type {Item[]} */
  let items = [];
  let lastType = "";

  const draw = () => {
    const shown = items.filter((item) => item.position !== null);
    setChildren(
      node,
      shown.map((item) => queuedMessage(item, withdraw)),
    );
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
      const item = { parts, position: null };
      items.push(item);
      const remove = () => filterItems((it) => it !== item);
      const show = (position) => {
        item.position = position;
        draw();
      };
      return { remove, show };
    },
    /** Removes a message that was withdrawn. */
    remove: (position) => filterItems((item) => item.position !== position),
    /** Applies the queue of a snapshot. Only messages that are being sent may be missing in it. */
    applySnapshot(queued, positions) {
      const sending = items.filter((item) => item.position === null);
      const known = queued.map((parts, index) => {
        const at = sending.findIndex((item) => areSameParts(item.parts, parts));
        const item = at < 0 ? { parts } : sending.splice(at, 1)[0];
        return Object.assign(item, { position: positions[index] });
      });
      items = [...known, ...sending];
      draw();
    },
    /** Removes the message whose turn begins with this event. */
    applyEvent({ type, ...part }) {
      const isNewTurn = type === "said" && lastType !== "said";
      lastType = type;
      const started = isNewTurn && items.find((item) => isSamePart(item.parts[0], part));
      if (started) filterItems((item) => item !== started);
    },
  };
}

function queuedMessage(item, withdraw) {
  const content = item.parts.flatMap((part) => part.content);
  const click = () => withdraw(item.position, messageText(item));
  const withdrawButton = button("Withdraw", { small: true, on: { click } });
  const note = h("p", { class: "quiet" }, "Waiting: it is sent when the answer above is complete");
  return h("li", {}, messageBubble(content), h("div", { class: "queued-bar" }, note, withdrawButton));
}
