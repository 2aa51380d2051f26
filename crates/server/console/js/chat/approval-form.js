// A call that waits for a person: what will happen, with which arguments; yes, yes with changes, or no.

import { h, fill, button, text, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { coded } from "../ui/inline-code.js";
import { argumentsForm } from "../forms/arguments-form.js";
import { argumentValues } from "../ui/value-list.js";
import { exact } from "../ui/format.js";

/**
 * @param {any} call
 * @param {any} spec the tool's, as far as it is known
 * @param {(decision: any) => Promise<void>} decide
 */
export function approval(call, spec, decide) {
  const { asked } = call;
  const title = uid("ask");
  const pane = h("div", { class: "ask-pane" });
  const fault = h("p", { class: "fault", role: "alert" });
  const buttons = [];

  const send = async (decision) => {
    fault.textContent = "";
    buttons.forEach((it) => (it.disabled = true));
    try {
      await decide(decision);
    } catch (error) {
      text(fault, error.message);
      buttons.forEach((it) => (it.disabled = false));
    }
  };
  const press = (label, props) => {
    const made = button(label, props);
    buttons.push(made);
    return made;
  };

  const look = (focus) => {
    const edit = press("Edit…", { icon: icon("edit"), on: { click: () => change() } });
    const deny = press("Deny…", { icon: icon("cross"), on: { click: () => refuse() } });
    const approve = press("Approve", {
      icon: icon("check"),
      kind: "primary",
      on: { click: () => send({ verdict: "approve" }) },
    });
    fill(pane, argumentValues(asked.arguments), h("div", { class: "buttons" }, approve, edit, deny));
    if (focus) edit.focus();
  };

  const back = () => button("Back", { on: { click: () => look(true) } });
  const escape = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    look(true);
  };

  const change = () => {
    const form = argumentsForm(spec?.inputSchema ?? {}, asked.arguments);
    const submit = (event) => {
      event.preventDefault();
      const { value, fault: wrong } = form.read();
      if (!wrong) send({ verdict: "edit", arguments: value });
    };
    const approve = press("Approve with changes", { icon: icon("check"), kind: "primary", type: "submit" });
    const made = h(
      "form",
      { novalidate: true, on: { submit, keydown: escape } },
      form.node,
      h("div", { class: "buttons" }, approve, back()),
    );
    fill(pane, made);
    made.querySelector(".form-body :is(input, select, textarea)")?.focus();
  };

  const refuse = () => {
    const id = uid("reason");
    const reason = h("input", { type: "text", id, autocomplete: "off", placeholder: "The model reads it" });
    const submit = (event) => {
      event.preventDefault();
      send({ verdict: "deny", reason: reason.value.trim() });
    };
    const deny = press("Deny", { icon: icon("cross"), kind: "danger", type: "submit" });
    const label = h("label", { for: id }, "Why not?", h("span", { class: "kind" }, " optional"));
    const field = h("div", { class: "field" }, label, reason);
    fill(pane, h("form", { on: { submit, keydown: escape } }, field, h("div", { class: "buttons" }, deny, back())));
    reason.focus();
  };

  look(false);
  const expires = asked.token?.expires;
  return h(
    "div",
    { class: "ask", role: "group", "aria-labelledby": title },
    h("h4", { id: title }, "Allow this call?"),
    h("p", {}, coded(spec?.description)),
    spec?.annotations?.destructiveHint ? h("p", { class: "tag danger" }, "May destroy something") : null,
    pane,
    fault,
    expires ? h("p", { class: "quiet" }, `Open until ${exact(expires)}`) : null,
  );
}
