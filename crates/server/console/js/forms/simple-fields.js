// Fields for single values: text, numbers, yes or no, one of a list, and JSON where nothing else fits.
//
// A field is `{node, read}`; `read` returns the value, or `undefined` where it is left out, and tells `fault` what is wrong.

import { h, fill, text as write, uid } from "../ui/dom.js";
import { coded } from "../ui/inline-code.js";
import { shown } from "./schema.js";
import { escaped, escapedJson } from "../ui/escape.js";

const INPUTS = { date: "date", email: "email", uri: "url", password: "password", time: "time" };

/** Puts a name, a control, its description and room for what is wrong with it together. */
export function framed(control, { label, schema, required, hint, held = () => control.value }) {
  const id = uid("field");
  control.id = id;
  const about = schema.description ? h("p", { class: "about", id: `${id}-about` }, coded(schema.description)) : null;
  const error = h("p", { class: "fault", id: `${id}-fault` });
  const revealed = hidden(control, held, `${id}-hidden`);
  const described = [about && `${id}-about`, `${id}-hidden`, `${id}-fault`];
  control.setAttribute("aria-describedby", described.filter(Boolean).join(" "));
  if (required) control.setAttribute("aria-required", "true");
  const extra = [hint, required ? null : "optional"].filter(Boolean).join(", ");
  const name = h(
    "label",
    { for: id },
    h("span", { class: "name" }, label),
    extra ? h("span", { class: "kind" }, ` ${extra}`) : null,
  );
  const node = h("div", { class: "field" }, name, about, control, revealed, error);
  const fault = (message) => {
    write(error, message ?? "");
    if (message) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  // What is being mended is not wrong until it is looked at again.
  control.addEventListener("input", () => fault(null));
  return { node, fault };
}

/** The value of a field with its invisible characters escaped, if it has any: a field itself cannot mark them. */
function hidden(control, held, id) {
  const node = h("p", { class: "about", id });
  const look = () => {
    const some = control.type !== "password" && escaped(held()) !== held();
    fill(node, some && ["With hidden characters: ", held()]);
  };
  control.addEventListener("input", look);
  look();
  return node;
}

/** What is told by `read`: the value, or a fault shown beside its field. */
function reading(control, frame, read) {
  return (faults) => {
    const fault = (message) => {
      frame.fault(message);
      faults.push({ control, message });
      return undefined;
    };
    frame.fault(null);
    return read(fault);
  };
}

function placeholder(schema) {
  if (schema.default !== undefined) return `default: ${shown(schema.default)}`;
  return schema.examples?.length ? `for example ${shown(schema.examples[0])}` : null;
}

export function textField(schema, options) {
  const { value, required, nullable } = options;
  const long = (schema.maxLength ?? 0) > 200 || /\n/.test(value ?? "") || (value ?? "").length > 80;
  const props = { placeholder: placeholder(schema), value: value ?? "", spellcheck: "false", autocomplete: "off" };
  const control = long
    ? h("textarea", { rows: 4, ...props })
    : h("input", { type: INPUTS[schema.format] ?? "text", ...props });
  // Browsers normalize line ends in a field, so a value that was not edited is read from the original.
  const first = control.value;
  const held = () => (typeof value === "string" && control.value === first ? value : control.value);
  const frame = framed(control, { ...options, schema, held });
  const read = reading(control, frame, (fault) => {
    const text = held();
    if (text === "") {
      if (nullable && required) return null;
      return required && schema.default === undefined ? fault("A value is needed.") : undefined;
    }
    if (text.length < (schema.minLength ?? 0)) return fault(`At least ${schema.minLength} characters.`);
    if (text.length > (schema.maxLength ?? Infinity)) return fault(`At most ${schema.maxLength} characters.`);
    return text;
  });
  return { node: frame.node, read };
}

export function numberField(schema, options) {
  const { value, required, nullable } = options;
  const whole = schema.type === "integer";
  const control = h("input", {
    type: "text",
    inputmode: whole ? "numeric" : "decimal",
    placeholder: placeholder(schema),
    value: value ?? "",
    autocomplete: "off",
  });
  const frame = framed(control, { ...options, schema, hint: whole ? "whole number" : "number" });
  const read = reading(control, frame, (fault) => {
    const text = control.value.trim();
    if (text === "") {
      if (nullable && required) return null;
      return required && schema.default === undefined ? fault("A number is needed.") : undefined;
    }
    const number = Number(text);
    if (!Number.isFinite(number)) return fault("This is not a number.");
    if (whole && !Number.isInteger(number)) return fault("A whole number is needed.");
    if (number < (schema.minimum ?? -Infinity)) return fault(`At least ${schema.minimum}.`);
    if (number > (schema.maximum ?? Infinity)) return fault(`At most ${schema.maximum}.`);
    return number;
  });
  return { node: frame.node, read };
}

export function booleanField(schema, options) {
  const { value, required } = options;
  if (required && schema.default === undefined && !options.nullable) {
    const control = h("input", { type: "checkbox", checked: value === true });
    const frame = framed(control, { ...options, schema });
    frame.node.classList.add("check");
    return { node: frame.node, read: () => control.checked };
  }
  const options2 = [true, false].map((it) => ({ value: it, label: it ? "yes" : "no" }));
  return enumField(schema, { ...options, options: options2 });
}

export function enumField(schema, options) {
  const { value, required, nullable, options: choices } = options;
  const none = schema.default !== undefined ? `default: ${shown(schema.default)}` : nullable ? "none" : "choose…";
  const label = ({ label, about }) => (about ? `${label} – ${about}` : label);
  const control = h(
    "select",
    {},
    h("option", { value: "" }, none),
    choices.map((choice, index) => h("option", { value: String(index) }, label(choice))),
  );
  const chosen = choices.findIndex((choice) => choice.value === value);
  control.value = chosen < 0 ? "" : String(chosen);
  const frame = framed(control, { ...options, schema });
  const read = reading(control, frame, (fault) => {
    if (control.value !== "") return choices[Number(control.value)].value;
    if (nullable && required) return null;
    return required && schema.default === undefined ? fault("One of these is needed.") : undefined;
  });
  return { node: frame.node, read };
}

export function jsonField(schema, options) {
  const { value, required } = options;
  const text = value === undefined ? "" : escapedJson(JSON.stringify(value, null, 2));
  const control = h("textarea", {
    rows: Math.min(12, text.split("\n").length + 1),
    class: "code-input",
    value: text,
    spellcheck: "false",
  });
  const frame = framed(control, { ...options, schema, hint: "JSON" });
  const read = reading(control, frame, (fault) => {
    if (!control.value.trim())
      return required && schema.default === undefined ? fault("A value is needed.") : undefined;
    try {
      return JSON.parse(control.value);
    } catch (error) {
      return fault(`This is not JSON: ${error.message}`);
    }
  });
  return { node: frame.node, read };
}
