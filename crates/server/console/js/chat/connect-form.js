// The form for a call that waits until the person has connected to a server: connect, or go on without.

import { h, button, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { connectButton } from "../ui/connect-button.js";

/**
 * @param {{name: string}} connection
 * @param {(decision: any) => Promise<void>} decide
 */
export function connectForm({ name }, decide) {
  const titleId = uid("connect");
  const skip = button("Not now", {
    icon: icon("cross"),
    on: { click: () => decide({ verdict: "deny", reason: "the user does not want to connect now" }) },
  });
  return h(
    "div",
    { class: "approval", role: "group", "aria-labelledby": titleId },
    h("h4", { id: titleId }, `Connect your account of ${name}?`),
    h("p", {}, `The assistant can then use ${name} as you. You can disconnect it on the page of the tools.`),
    connectButton(name, () => decide({ verdict: "approve" })),
    h("div", { class: "buttons" }, skip),
  );
}
