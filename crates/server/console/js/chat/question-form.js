// The form for a question of an attached server, during a call of one of its tools: answer it, or decline.

import { h, button, setText, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { argumentsForm } from "../forms/arguments-form.js";

/**
 * Returns true if a person is asked something, by a tool that another one has called.
 * @param {any} request the request for approval
 */
export function isQuestion(request) {
  return Boolean(request?.parent && request.tool?.inputSchema?.["x-question"] === true);
}

/**
 * @param {any} request
 * @param {(decision: any) => Promise<void>} decide
 */
export function questionForm(request, decide) {
  const { message, form: schema, url } = request.arguments;
  const titleId = uid("question");
  const error = h("p", { class: "error", role: "alert" });
  const buttons = [];
  const send = async (decision) => {
    error.textContent = "";
    buttons.forEach((it) => (it.disabled = true));
    try {
      await decide(decision);
    } catch (failure) {
      setText(error, failure.message);
      buttons.forEach((it) => (it.disabled = false));
    }
  };
  const fields = url ? null : answerFields(schema);
  const submit = (event) => {
    event.preventDefault();
    if (!fields) return void send({ verdict: "approve" });
    const { value, error } = fields.read();
    if (!error) send({ verdict: "answer", answer: typeof value === "string" ? value : JSON.stringify(value) });
  };
  const answer = button(url ? "I have visited it" : "Answer", { icon: icon("check"), kind: "primary", type: "submit" });
  const decline = button("Decline", {
    icon: icon("cross"),
    on: { click: () => send({ verdict: "deny", reason: "the user declined to answer" }) },
  });
  buttons.push(answer, decline);
  return h(
    "div",
    { class: "approval", role: "group", "aria-labelledby": titleId },
    h("h4", { id: titleId }, request.tool?.title ?? request.tool?.name ?? "A server asks"),
    h("p", {}, message),
    // The whole address is shown before it is opened.
    url ? h("p", {}, h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, url)) : null,
    h(
      "form",
      { novalidate: true, on: { submit } },
      fields?.node,
      h("div", { class: "buttons" }, answer, decline),
    ),
    error,
  );
}

/** The fields of an answer: those of a form, or one text. */
function answerFields(schema) {
  if (schema) return argumentsForm(schema);
  const id = uid("answer");
  const text = h("textarea", { id, rows: 3 });
  const node = h("div", { class: "field" }, h("label", { for: id }, "Answer"), text);
  return { node, read: () => ({ value: text.value }) };
}
