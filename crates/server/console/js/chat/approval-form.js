// The form for a call that needs approval: approve it, approve it with edited arguments, or deny it.

import { h, setChildren, button, setText, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { inlineCode } from "../ui/inline-code.js";
import { argumentsForm } from "../forms/arguments-form.js";
import { argumentList } from "../ui/value-list.js";
import { dateTime } from "../ui/format.js";

/**
 * @param {any} call
 * @param {any} spec the spec of the tool; undefined if it is unknown
 * @param {(decision: any) => Promise<void>} decide
 * @param {(approvers?: string[]) => boolean} [mayApprove] returns true if this person is one of the approvers
 */
export function approvalForm(call, spec, decide, mayApprove = () => true) {
  const { approval: request } = call;
  const titleId = uid("approval");
  const pane = h("div", { class: "approval-pane" });
  const error = h("p", { class: "error", role: "alert" });
  const buttons = [];
  const setDisabled = (isDisabled) => buttons.forEach((it) => (it.disabled = isDisabled));

  const send = async (decision) => {
    error.textContent = "";
    setDisabled(true);
    try {
      await decide(decision);
    } catch ({ message }) {
      setText(error, message);
      setDisabled(false);
    }
  };
  const decisionButton = (label, props) => {
    const node = button(label, props);
    buttons.push(node);
    return node;
  };

  const showChoices = (focus) => {
    const edit = decisionButton("Edit…", { icon: icon("edit"), on: { click: () => showEditForm() } });
    const deny = decisionButton("Deny…", { icon: icon("cross"), on: { click: () => showDenyForm() } });
    const approve = decisionButton("Approve", {
      icon: icon("check"),
      kind: "primary",
      on: { click: () => send({ verdict: "approve" }) },
    });
    setChildren(pane, argumentList(request.arguments), h("div", { class: "buttons" }, approve, edit, deny));
    if (focus) edit.focus();
  };

  const showForm = (fields, submitButton, onSubmit) => {
    const back = button("Back", { on: { click: () => showChoices(true) } });
    const submit = (event) => {
      event.preventDefault();
      onSubmit();
    };
    const keydown = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      showChoices(true);
    };
    const buttons = h("div", { class: "buttons" }, submitButton, back);
    setChildren(pane, h("form", { novalidate: true, on: { submit, keydown } }, fields, buttons));
  };

  const showEditForm = () => {
    const form = argumentsForm(spec?.inputSchema ?? {}, request.arguments);
    const approve = decisionButton("Approve with changes", { icon: icon("check"), kind: "primary", type: "submit" });
    showForm(form.node, approve, () => {
      const { value, error } = form.read();
      if (!error) send({ verdict: "edit", arguments: value });
    });
    pane.querySelector(".form-body :is(input, select, textarea)")?.focus();
  };

  const showDenyForm = () => {
    const id = uid("reason");
    const reason = h("input", { type: "text", id, autocomplete: "off", placeholder: "The model reads it" });
    const label = h("label", { for: id }, "Why not?", h("span", { class: "field-hint" }, " optional"));
    const deny = decisionButton("Deny", { icon: icon("cross"), kind: "danger", type: "submit" });
    showForm(h("div", { class: "field" }, label, reason), deny, () =>
      send({ verdict: "deny", reason: reason.value.trim() }),
    );
    reason.focus();
  };

  const { approvers } = request;
  const isDecidedByOthers = !mayApprove(approvers);
  if (isDecidedByOthers) setChildren(pane, argumentList(request.arguments));
  else showChoices(false);
  const expires = request.token?.expires;
  return h(
    "div",
    { class: "approval", role: "group", "aria-labelledby": titleId },
    h("h4", { id: titleId }, isDecidedByOthers ? "This call waits for others" : "Allow this call?"),
    approvers ? h("p", { class: "quiet" }, `Decided by ${approvers.join(" or ")}`) : null,
    h("p", {}, inlineCode(spec?.description)),
    spec?.annotations?.destructiveHint ? h("p", { class: "tag danger" }, "May destroy something") : null,
    pane,
    error,
    expires ? h("p", { class: "quiet" }, `Open until ${dateTime(expires)}`) : null,
  );
}
