// The controls of a user message: a switch between its versions, and the button for editing it.

import { h, button, setAttribute, setText } from "../ui/dom.js";
import { icon } from "../ui/icons.js";

/**
 * @param {{mayWrite: () => boolean, edit: (turn: any) => void, showVersion: (turn: any, branch: any) => void}} actions
 */
export function messageBar(actions) {
  let current = { turn: null, versions: [], index: -1, isBusy: false };
  const step = (label, name, distance) => {
    const click = () => {
      const { turn, versions, index, isBusy } = current;
      const version = versions[index + distance];
      if (version && !isBusy) actions.showVersion(turn, version);
    };
    return button(label, { icon: icon(name), iconOnly: true, small: true, on: { click } });
  };
  const previous = step("Previous version", "back", -1);
  const next = step("Next version", "chevron", 1);
  const number = h("span", { "aria-hidden": "true" });
  const spoken = h("span", { class: "visually-hidden" });
  const group = { class: "versions", role: "group", "aria-label": "Versions of this message" };
  const switcher = h("span", group, previous, number, spoken, next);
  const edit = button("Edit", { icon: icon("edit"), iconOnly: true, small: true });
  edit.addEventListener("click", () => actions.edit(current.turn));
  const node = h("div", { class: "message-bar" }, switcher, edit);

  return {
    node,
    /**
     * @param {any} turn
     * @param {{versions: any[], index: number}} alternatives see `versionsOf`
     * @param {boolean} isBusy true while a turn runs or waits: then no other version is shown
     */
    update(turn, { versions, index }, isBusy) {
      current = { turn, versions, index, isBusy };
      switcher.hidden = versions.length < 2;
      // Not `disabled`, which would take the focus away.
      setAttribute(previous, "aria-disabled", isBusy || index <= 0 ? "true" : null);
      setAttribute(next, "aria-disabled", isBusy || index >= versions.length - 1 ? "true" : null);
      setText(number, `${index + 1}/${versions.length}`);
      setText(spoken, `Version ${index + 1} of ${versions.length}`);
      edit.hidden = !actions.mayWrite() || !canAskAgain(turn);
      node.hidden = switcher.hidden && !turn.message;
    },
  };
}

/** Returns true if the message of a turn can be sent again in its place: the turn has ended, and the message is a text. */
export function canAskAgain({ message, end, after }) {
  return Boolean(end && message?.every((item) => item.type === "text")) && after !== undefined;
}
