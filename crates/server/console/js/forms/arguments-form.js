// The form for the arguments of a tool or prompt, generated from its JSON Schema, with a JSON editor as alternative.

import { h, setChildren, uid } from "../ui/dom.js";
import { classify } from "./schema.js";
import { booleanField, enumField, jsonField, numberField, textField } from "./simple-fields.js";
import { arrayField, choiceField, mapField, objectField } from "./compound-fields.js";

/** Deeper levels are edited as JSON: a schema may contain itself. */
const MAX_DEPTH = 5;

const FIELDS = {
  string: textField,
  number: numberField,
  integer: numberField,
  boolean: booleanField,
  enum: enumField,
  object: objectField,
  array: arrayField,
  map: mapField,
  choice: choiceField,
  json: jsonField,
};

/**
 * Creates the field for a schema.
 * @param {any} given
 * @param {{root: any, label: string, value: any, required: boolean, depth: number, bare?: boolean}} options
 * @returns {{node: HTMLElement, read: (errors: any[]) => any}}
 */
export function createField(given, options) {
  const { kind, schema, ...classified } = classify(given, options.root);
  const { bare, ...rest } = options;
  // Only an object can go without a fieldset.
  const fieldOptions = { ...rest, ...classified, bare: bare && kind === "object" };
  if (kind === "const") return { node: constantField(schema, options.label), read: () => schema.const };
  const create = options.depth > MAX_DEPTH ? jsonField : FIELDS[kind];
  return create(schema, fieldOptions);
}

function constantField(schema, label) {
  return h(
    "p",
    { class: "field fixed" },
    h("span", { class: "name" }, label),
    " ",
    h("code", {}, JSON.stringify(schema.const)),
  );
}

/**
 * Creates a form for arguments; `read` returns them, or focuses the first invalid field and returns its error.
 * @param {any} schema
 * @param {any} value the initial arguments
 * @returns {{node: HTMLElement, read: () => {value?: any, error?: string}}}
 */
export function argumentsForm(schema, value = {}) {
  const name = uid("as");
  const body = h("div", { class: "form-body" });
  const schemaForm = (initial) =>
    createField(schema, { root: schema, label: "arguments", value: initial, required: true, depth: 0, bare: true });
  const rawForm = (initial) => jsonField({}, { label: "Arguments", value: initial, required: true });
  let active = schemaForm(value);

  const read = () => {
    const errors = [];
    const value = active.read(errors);
    if (!errors.length) return { value };
    errors[0].control.focus();
    return { error: errors[0].message };
  };
  const radio = (label, create, checked) => {
    const id = uid("as");
    const input = h("input", { type: "radio", name, id, checked });
    input.addEventListener("change", () => {
      const errors = [];
      const current = active.read(errors);
      // Invalid JSON stays in the editor.
      if (create === schemaForm && errors.length) return void jsonRadio.click();
      active = create(current ?? {});
      setChildren(body, active.node);
    });
    return [input, h("label", { for: id }, label)];
  };
  const asForm = radio("Form", schemaForm, true);
  const asJson = radio("JSON", rawForm, false);
  const jsonRadio = asJson[0];
  setChildren(body, active.node);
  const modeSwitch = h(
    "div",
    { class: "segments", role: "radiogroup", "aria-label": "Write the arguments as" },
    asForm,
    asJson,
  );
  return { node: h("div", { class: "arguments-form" }, modeSwitch, body), read };
}
