// Form fields for single values: text, number, boolean, enum, and JSON as the fallback.
//
// A field is `{node, read}`; `read(errors)` returns the value, `undefined` if it is omitted, and appends to `errors` if it is
// invalid.

import { h, setChildren, setText, uid } from "../ui/dom.js";
import { inlineCode } from "../ui/inline-code.js";
import { valueText } from "../ui/format.js";
import { escapeText, escapeJson } from "../ui/escape.js";

const INPUT_TYPES = { date: "date", email: "email", uri: "url", password: "password", time: "time" };

/** Combines a control with its label, description and error. */
function fieldFrame(control, { label, schema, required, hint, currentValue = () => control.value }) {
  const id = uid("field");
  control.id = id;
  const description = schema.description
    ? h("p", { class: "field-description", id: `${id}-description` }, inlineCode(schema.description))
    : null;
  const error = h("p", { class: "error", id: `${id}-error` });
  const escapedValue = escapedValueView(control, currentValue, `${id}-escaped`);
  const described = [description && `${id}-description`, `${id}-escaped`, `${id}-error`];
  control.setAttribute("aria-describedby", described.filter(Boolean).join(" "));
  if (required) control.setAttribute("aria-required", "true");
  const hints = [hint, required ? null : "optional"].filter(Boolean).join(", ");
  const name = h(
    "label",
    { for: id },
    h("span", { class: "name" }, label),
    hints ? h("span", { class: "field-hint" }, ` ${hints}`) : null,
  );
  const node = h("div", { class: "field" }, name, description, control, escapedValue, error);
  const setError = (message) => {
    setText(error, message ?? "");
    if (message) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  // While the value is edited, the previous error is not displayed.
  control.addEventListener("input", () => setError(null));
  return { node, setError };
}

/** Displays the value with its invisible characters escaped, if it has any: an input cannot highlight them. */
function escapedValueView(control, currentValue, id) {
  const node = h("p", { class: "field-description", id });
  const update = () => {
    const hasInvisible = control.type !== "password" && escapeText(currentValue()) !== currentValue();
    setChildren(node, hasInvisible && ["With hidden characters: ", currentValue()]);
  };
  control.addEventListener("input", update);
  update();
  return node;
}

/** Returns the value of an empty field: null, omitted, or an error if it is required. */
function emptyValue(schema, { required, nullable }, fail, message) {
  if (required && nullable) return null;
  return required && schema.default === undefined ? fail(message) : undefined;
}

/** Creates the `read` of a field; its errors are displayed beside the control. */
function reader(control, frame, read) {
  return (errors) => {
    const fail = (message) => {
      frame.setError(message);
      errors.push({ control, message });
      return undefined;
    };
    frame.setError(null);
    return read(fail);
  };
}

function placeholder(schema) {
  if (schema.default !== undefined) return `default: ${valueText(schema.default)}`;
  return schema.examples?.length ? `for example ${valueText(schema.examples[0])}` : null;
}

export function textField(schema, options) {
  const { value } = options;
  const isLong = (schema.maxLength ?? 0) > 200 || /\n/.test(value ?? "") || (value ?? "").length > 80;
  const props = { placeholder: placeholder(schema), value: value ?? "", spellcheck: "false", autocomplete: "off" };
  const control = isLong
    ? h("textarea", { rows: 4, ...props })
    : h("input", { type: INPUT_TYPES[schema.format] ?? "text", ...props });
  // Inputs normalize line breaks, so an unedited value is read from the original.
  const initial = control.value;
  const currentValue = () => (typeof value === "string" && control.value === initial ? value : control.value);
  const frame = fieldFrame(control, { ...options, schema, currentValue });
  const read = reader(control, frame, (fail) => {
    const text = currentValue();
    if (text === "") return emptyValue(schema, options, fail, "A value is needed.");
    if (text.length < (schema.minLength ?? 0)) return fail(`At least ${schema.minLength} characters.`);
    if (text.length > (schema.maxLength ?? Infinity)) return fail(`At most ${schema.maxLength} characters.`);
    return text;
  });
  return { node: frame.node, read };
}

export function numberField(schema, options) {
  const { value } = options;
  const isInteger = schema.type === "integer";
  const control = h("input", {
    type: "text",
    inputmode: isInteger ? "numeric" : "decimal",
    placeholder: placeholder(schema),
    value: value ?? "",
    autocomplete: "off",
  });
  const frame = fieldFrame(control, { ...options, schema, hint: isInteger ? "whole number" : "number" });
  const read = reader(control, frame, (fail) => {
    const text = control.value.trim();
    if (text === "") return emptyValue(schema, options, fail, "A number is needed.");
    const number = Number(text);
    if (!Number.isFinite(number)) return fail("This is not a number.");
    if (isInteger && !Number.isInteger(number)) return fail("A whole number is needed.");
    if (number < (schema.minimum ?? -Infinity)) return fail(`At least ${schema.minimum}.`);
    if (number > (schema.maximum ?? Infinity)) return fail(`At most ${schema.maximum}.`);
    return number;
  });
  return { node: frame.node, read };
}

export function booleanField(schema, options) {
  const { value, required } = options;
  if (required && schema.default === undefined && !options.nullable) {
    const control = h("input", { type: "checkbox", checked: value === true });
    const frame = fieldFrame(control, { ...options, schema });
    frame.node.classList.add("check");
    return { node: frame.node, read: () => control.checked };
  }
  const choices = [true, false].map((it) => ({ value: it, label: it ? "yes" : "no" }));
  return enumField(schema, { ...options, options: choices });
}

export function enumField(schema, options) {
  const { value, nullable, options: choices } = options;
  const emptyLabel =
    schema.default !== undefined ? `default: ${valueText(schema.default)}` : nullable ? "none" : "choose…";
  const label = ({ label, description }) => (description ? `${label} – ${description}` : label);
  const control = h(
    "select",
    {},
    h("option", { value: "" }, emptyLabel),
    choices.map((choice, index) => h("option", { value: String(index) }, label(choice))),
  );
  const selected = choices.findIndex((choice) => choice.value === value);
  control.value = selected < 0 ? "" : String(selected);
  const frame = fieldFrame(control, { ...options, schema });
  const read = reader(control, frame, (fail) => {
    if (control.value !== "") return choices[Number(control.value)].value;
    return emptyValue(schema, options, fail, "One of these is needed.");
  });
  return { node: frame.node, read };
}

export function jsonField(schema, options) {
  const { value, required } = options;
  const text = value === undefined ? "" : escapeJson(JSON.stringify(value, null, 2));
  const control = h("textarea", {
    rows: Math.min(12, text.split("\n").length + 1),
    class: "code-input",
    value: text,
    spellcheck: "false",
  });
  const frame = fieldFrame(control, { ...options, schema, hint: "JSON" });
  const read = reader(control, frame, (fail) => {
    // `null` can be written as JSON.
    if (!control.value.trim()) return emptyValue(schema, { required }, fail, "A value is needed.");
    try {
      return JSON.parse(control.value);
    } catch (error) {
      return fail(`This is not JSON: ${error.message}`);
    }
  });
  return { node: frame.node, read };
}
