// Messages that the server has queued behind a running turn, shown until their own turns begin.

import { h, fill } from "../ui/dom.js";
import { plain } from "../ui/content-view.js";
import { bubble } from "./turn-view.js";

/** @typedef {{parts: {role: string, content: any[]}[], isShown: boolean, isUnsure: boolean}} Item */

const isPart = (one, other) => one.role === other.role && plain(one.content) === plain(other.content);
const isSame = (one, other) => one.length === other.length && one.every((part, at) => isPart(part, other[at]));
const words = ({ parts }) => parts.map((part) => plain(part.content)).join("\n");

export function queue() {
  const node = h("ol", { class: "queued", "aria-label": "Queued messages", hidden: true });
  /** @type {Item[]} */
  let items = [];
  let lastType = "";

  const draw = () => {
    const shown = items.filter((item) => item.isShown);
    fill(node, shown.map(line));
    node.hidden = !shown.length;
  };
  const keep = (wanted) => {
    items = items.filter(wanted);
    draw();
  };

  return {
    node,
    size: () => items.length,
    clear: () => keep(() => false),
    /** Adds a message that is being sent. It is not shown until the response: its turn may begin before that. */
    add(parts) {
      const item = { parts, isShown: false, isUnsure: false };
      items.push(item);
      const drop = () => keep((it) => it !== item);
      const show = () => {
        item.isShown = true;
        draw();
      };
      return { drop, show };
    },
    /** Takes the queue of a snapshot. A message that is not in it has begun, or was lost when the server restarted. */
    take(queued) {
      const rest = [...items];
      const known = queued.map((parts) => {
        const at = rest.findIndex((item) => isSame(item.parts, parts));
        const item = at < 0 ? { parts } : rest.splice(at, 1)[0];
        return Object.assign(item, { isShown: true, isUnsure: false });
      });
      for (const item of rest) item.isUnsure = item.isShown;
      items = [...known, ...rest];
      draw();
    },
    /** Removes the message whose turn begins with this event. */
    hear({ type, ...part }) {
      const begins = type === "said" && lastType !== "said";
      lastType = type;
      const begun = begins && items.find((item) => isPart(item.parts[0], part));
      if (begun) keep((item) => item !== begun);
    },
    /** Removes the messages that were lost and returns their texts. Call it when no turn runs: none of them can begin. */
    lost() {
      const lost = items.filter((item) => item.isUnsure);
      if (lost.length) keep((item) => !item.isUnsure);
      return lost.map(words);
    },
  };
}

function line({ parts }) {
  const content = parts.flatMap((part) => part.content);
  return h("li", {}, bubble(content), h("p", { class: "quiet" }, "Queued until the turn before it ends"));
}
