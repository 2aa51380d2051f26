// The footer of a turn: duration, steps, calls, tokens and cost, and the buttons for copying, asking again and details.

import { h, setAttribute, button, setText } from "../ui/dom.js";
import { modelSteps } from "../state/conversation.js";
import { copyButton } from "../ui/clipboard.js";
import { icon } from "../ui/icons.js";
import { canAskAgain } from "./message-bar.js";
import { cost, count, duration, tokens, tokenDetails } from "../ui/format.js";

/** @param {{mayWrite: () => boolean, details: (turn: any) => void, askAgain: (turn: any) => void}} actions */
export function turnFooter(actions) {
  let current = null;
  const facts = h("span", { class: "facts" });
  const copy = copyButton("Copy answer", () => answerText(current), "Answer copied");
  const again = button("Ask again", { icon: icon("again"), iconOnly: true, small: true });
  again.addEventListener("click", () => actions.askAgain(current));
  const detailsButton = button("Details", { small: true, kind: "text" });
  detailsButton.addEventListener("click", () => actions.details(current));
  const node = h("footer", { class: "turn-footer", hidden: true }, facts, copy, again, detailsButton);
  return {
    node,
    update(turn, running) {
      current = turn;
      // A step has its usage when it is over.
      const steps = modelSteps(turn).filter((step) => step.usage).length;
      node.hidden = turn.isSettling || !(turn.end || turn.error || (!running && steps > 0));
      const usage = turn.usage?.input || turn.usage?.output ? turn.usage : null;
      const figures = [
        turn.endedAt && duration(turn.endedAt - turn.at),
        steps > 1 && count(steps, "step"),
        turn.calls.size > 0 && count(turn.calls.size, "call"),
        usage && tokens(usage),
        cost(turn.cost, usage),
      ];
      setText(facts, figures.filter(Boolean).join(" · "));
      setAttribute(facts, "title", usage && tokenDetails(usage));
      copy.hidden = !answerText(turn);
      again.hidden = !actions.mayWrite() || !canAskAgain(turn);
    },
  };
}

function answerText(turn) {
  const parts = turn.steps.flatMap((step) => step.parts).filter((part) => part.kind === "text");
  return parts.map((part) => part.text).join("\n\n");
}
