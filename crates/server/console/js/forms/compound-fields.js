// Form fields that contain fields: objects, arrays, maps, and variants of a schema.

import { h, setChildren, button, uid } from "../ui/dom.js";
import { inlineCode } from "../ui/inline-code.js";
import { icon } from "../ui/icons.js";
import { couldMatch, variantName } from "./schema.js";
import { createField } from "./arguments-form.js";

/** Wraps fields in a fieldset; that of an optional value has a checkbox to include it. */
function fieldset({ label, schema, required, value }, body, read) {
  const description = schema.description
    ? h("p", { class: "field-description" }, inlineCode(schema.description))
    : null;
  if (required) {
    const node = h("fieldset", {}, h("legend", {}, label), description, body);
    return { node, read };
  }
  const id = uid("include");
  const checkbox = h("input", { type: "checkbox", id, checked: value !== undefined });
  const legend = h(
    "legend",
    {},
    checkbox,
    h("label", { for: id }, label, h("span", { class: "field-hint" }, " optional")),
  );
  body.hidden = !checkbox.checked;
  checkbox.addEventListener("change", () => (body.hidden = !checkbox.checked));
  const node = h("fieldset", {}, legend, description, body);
  return { node, read: (errors) => (checkbox.checked ? read(errors) : undefined) };
}

export function objectField(schema, options) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const value = options.value?.[key];
    return [
      key,
      createField(property, {
        ...options,
        label: key,
        value,
        required: required.has(key),
        depth: options.depth + 1,
        bare: false,
      }),
    ];
  });
  const body = h(
    "div",
    { class: "fields" },
    fields.map(([, field]) => field.node),
  );
  if (!fields.length) body.append(h("p", { class: "quiet" }, "Takes no arguments."));
  // Properties without a field are kept unchanged.
  const known = new Set(fields.map(([key]) => key));
  const others = Object.entries(options.value ?? {}).filter(([key]) => !known.has(key));
  const read = (errors) => {
    const object = Object.fromEntries(others);
    for (const [key, field] of fields) {
      const value = field.read(errors);
      if (value !== undefined) object[key] = value;
    }
    return object;
  };
  return options.bare ? { node: body, read } : fieldset({ ...options, schema }, body, read);
}

/** Creates a list of rows that can be added and removed. */
function rowList({ addLabel, initial, createRow }) {
  const list = h("ol", { class: "rows" });
  const rows = [];
  const addButton = button(addLabel, { icon: icon("plus"), small: true, on: { click: () => addRow(undefined, true) } });
  const labelButtons = () => {
    rows.forEach((row, index) => row.removeButton.setAttribute("aria-label", `Remove item ${index + 1}`));
  };
  function addRow(value, focus) {
    const row = createRow(value);
    row.removeButton = button("Remove", { icon: icon("close"), iconOnly: true, small: true });
    row.listItem = h("li", {}, h("div", { class: "row-body" }, row.node), row.removeButton);
    row.removeButton.addEventListener("click", () => {
      rows.splice(rows.indexOf(row), 1);
      row.listItem.remove();
      labelButtons();
      addButton.focus();
    });
    rows.push(row);
    list.append(row.listItem);
    labelButtons();
    if (focus) row.listItem.querySelector("input, select, textarea")?.focus();
  }
  initial.forEach((value) => addRow(value, false));
  return { node: h("div", { class: "fields" }, list, addButton), rows };
}

export function arrayField(schema, options) {
  const createRow = (value) =>
    createField(schema.items, { ...options, label: "Item", value, required: true, depth: options.depth + 1 });
  const initial = Array.isArray(options.value) ? options.value : [];
  const { node, rows } = rowList({ addLabel: `Add to ${options.label}`, initial, createRow });
  return fieldset({ ...options, schema }, node, (errors) => rows.map((row) => row.read(errors)));
}

export function mapField(schema, options) {
  const createRow = ([key, value] = ["", undefined]) => {
    const id = uid("key");
    const name = h("input", { type: "text", id, value: key, autocomplete: "off" });
    const valueOptions = { ...options, label: "Value", value, required: true, depth: options.depth + 1 };
    const field = createField(schema.additionalProperties, valueOptions);
    const node = h(
      "div",
      { class: "fields" },
      h("div", { class: "field" }, h("label", { for: id }, "Key"), name),
      field.node,
    );
    return { node, read: (errors) => [name.value, field.read(errors)] };
  };
  const { node, rows } = rowList({
    addLabel: `Add to ${options.label}`,
    initial: Object.entries(options.value ?? {}),
    createRow,
  });
  return fieldset({ ...options, schema }, node, (errors) => Object.fromEntries(rows.map((row) => row.read(errors))));
}

export function choiceField(schema, options) {
  const { variants, root, value } = options;
  const id = uid("choice");
  const select = h(
    "select",
    { id },
    variants.map((variant, index) => h("option", { value: String(index) }, variantName(variant, index, root))),
  );
  const body = h("div", { class: "fields" });
  let field = null;
  const showVariant = (initial) => {
    const variant = variants[Number(select.value)];
    field = createField(variant, {
      ...options,
      label: "Value",
      value: initial,
      required: true,
      bare: true,
      depth: options.depth + 1,
    });
    setChildren(body, field.node);
  };
  const selected = value === undefined ? 0 : variants.findIndex((variant) => couldMatch(value, variant, root));
  select.value = String(Math.max(0, selected));
  select.addEventListener("change", () => showVariant(undefined));
  showVariant(value);
  const chooser = h("div", { class: "field" }, h("label", { for: id }, "Form of ", options.label), select);
  return fieldset({ ...options, schema }, h("div", { class: "fields" }, chooser, body), (errors) => field.read(errors));
}
