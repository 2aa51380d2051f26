// The line under a turn: what it took, and the way to its details.

import { h, attr, button, text } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { taken } from "../state/conversation.js";
import { copy } from "../ui/clipboard.js";
import { cost, count, duration, tokens, tokensInOut } from "../ui/format.js";

/** @param {{details: (turn: any) => void}} desk */
export function turnFoot(desk) {
  let shown = null;
  const facts = h("span", { class: "facts" });
  const copying = button("Copy answer", { icon: icon("copy"), hidden: true, small: true });
  const details = button("Details", { small: true, kind: "text" });
  copying.addEventListener("click", () => copy(answer(shown), "Answer copied"));
  details.addEventListener("click", () => desk.details(shown));
  const node = h("footer", { class: "turn-foot", hidden: true }, facts, copying, details);
  return {
    node,
    update(turn, running) {
      shown = turn;
      // An answer that was cut off is not a step in the journal.
      const steps = taken(turn).filter((step) => step.usage).length;
      node.hidden = turn.unsettled || !(turn.end || turn.error || (!running && steps > 0));
      const usage = turn.usage?.input || turn.usage?.output ? turn.usage : null;
      const told = [
        turn.endedAt && duration(turn.endedAt - turn.at),
        steps > 1 && count(steps, "step"),
        turn.calls.size > 0 && count(turn.calls.size, "call"),
        usage && tokens(usage),
        cost(turn.cost),
      ];
      text(facts, told.filter(Boolean).join(" · "));
      attr(facts, "title", usage && tokensInOut(usage));
      copying.hidden = !answer(turn);
    },
  };
}

function answer(turn) {
  const parts = turn.steps.flatMap((step) => step.parts).filter((part) => part.kind === "text");
  return parts.map((part) => part.text).join("\n\n");
}
