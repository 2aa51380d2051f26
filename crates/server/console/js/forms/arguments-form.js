// A form for any JSON Schema, and the same arguments as JSON for whoever prefers that.

import { h, fill, uid } from "../ui/dom.js";
import { classify } from "./schema.js";
import { booleanField, enumField, jsonField, numberField, textField } from "./simple-fields.js";
import { arrayField, choiceField, mapField, objectField } from "./compound-fields.js";

/** Forms do not nest deeper: a schema that contains itself goes on as JSON. */
const DEEPEST = 5;

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
 * The field for a schema.
 * @param {any} given
 * @param {{root: any, label: string, value: any, required: boolean, depth: number, bare?: boolean}} options
 * @returns {{node: HTMLElement, read: (faults: any[]) => any}}
 */
export function field(given, options) {
  const { kind, schema, ...found } = classify(given, options.root);
  const { bare, ...rest } = options;
  // Only the outermost object goes without a frame of its own.
  const inner = { ...rest, ...found, bare: bare && kind === "object" };
  if (kind === "const") return { node: constant(schema, options.label), read: () => schema.const };
  const make = options.depth > DEEPEST ? jsonField : FIELDS[kind];
  return make(schema, inner);
}

function constant(schema, label) {
  return h(
    "p",
    { class: "field fixed" },
    h("span", { class: "name" }, label),
    " ",
    h("code", {}, JSON.stringify(schema.const)),
  );
}

/**
 * A form for a tool's arguments.
 * @param {any} schema
 * @param {any} value what it begins with
 * @returns {{node: HTMLElement, read: () => {value?: any, fault?: string}}}
 */
export function argumentsForm(schema, value = {}) {
  const name = uid("as");
  const body = h("div", { class: "form-body" });
  const form = (start) =>
    field(schema, { root: schema, label: "arguments", value: start, required: true, depth: 0, bare: true });
  const raw = (start) => jsonField({}, { label: "Arguments", value: start, required: true });
  let part = form(value);

  const read = () => {
    const faults = [];
    const made = part.read(faults);
    if (!faults.length) return { value: made };
    faults[0].control.focus();
    return { fault: faults[0].message };
  };
  const radio = (label, make, checked) => {
    const id = uid("as");
    const input = h("input", { type: "radio", name, id, checked });
    input.addEventListener("change", () => {
      const faults = [];
      const now = part.read(faults);
      // Text that is not JSON stays where it can be mended.
      if (make === form && faults.length) return void back.click();
      part = make(now ?? {});
      fill(body, part.node);
    });
    return [input, h("label", { for: id }, label)];
  };
  const asForm = radio("Form", form, true);
  const asJson = radio("JSON", raw, false);
  const back = asJson[0];
  fill(body, part.node);
  const choice = h(
    "div",
    { class: "segments", role: "radiogroup", "aria-label": "Write the arguments as" },
    asForm,
    asJson,
  );
  return { node: h("div", { class: "arguments-form" }, choice, body), read };
}
