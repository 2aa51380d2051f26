// Fields that hold fields: objects, lists, maps, and one of several forms.

import { h, fill, button, uid } from "../ui/dom.js";
import { coded } from "../ui/inline-code.js";
import { icon } from "../ui/icons.js";
import { fits, variantName } from "./schema.js";
import { field } from "./arguments-form.js";

/** A frame with a heading; what may be left out has a box to take it in. */
function framed({ label, schema, required, value }, body, read) {
  const about = schema.description ? h("p", { class: "about" }, coded(schema.description)) : null;
  if (required) {
    const node = h("fieldset", {}, h("legend", {}, label), about, body);
    return { node, read };
  }
  const id = uid("take");
  const box = h("input", { type: "checkbox", id, checked: value !== undefined });
  const legend = h("legend", {}, box, h("label", { for: id }, label, h("span", { class: "kind" }, " optional")));
  body.hidden = !box.checked;
  box.addEventListener("change", () => (body.hidden = !box.checked));
  const node = h("fieldset", {}, legend, about, body);
  return { node, read: (faults) => (box.checked ? read(faults) : undefined) };
}

export function objectField(schema, options) {
  const needed = new Set(schema.required ?? []);
  const parts = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const value = options.value?.[key];
    return [
      key,
      field(property, {
        ...options,
        label: key,
        value,
        required: needed.has(key),
        depth: options.depth + 1,
        bare: false,
      }),
    ];
  });
  const body = h(
    "div",
    { class: "parts" },
    parts.map(([, part]) => part.node),
  );
  if (!parts.length) body.append(h("p", { class: "quiet" }, "Takes no arguments."));
  // What has no field of its own is kept as it was.
  const known = new Set(parts.map(([key]) => key));
  const others = Object.entries(options.value ?? {}).filter(([key]) => !known.has(key));
  const read = (faults) => {
    const made = Object.fromEntries(others);
    for (const [key, part] of parts) {
      const value = part.read(faults);
      if (value !== undefined) made[key] = value;
    }
    return made;
  };
  return options.bare ? { node: body, read } : framed({ ...options, schema }, body, read);
}

/** Rows that are added and taken away; focus goes where the next step is. */
function rows({ add, first, make }) {
  const list = h("ol", { class: "rows" });
  const held = [];
  const more = button(add, { icon: icon("plus"), small: true, on: { click: () => push(undefined, true) } });
  const number = () => {
    held.forEach((row, index) => row.remove.setAttribute("aria-label", `Remove item ${index + 1}`));
  };
  function push(value, focus) {
    const row = make(value);
    row.remove = button("Remove", { icon: icon("close"), hidden: true, small: true });
    row.line = h("li", {}, h("div", { class: "row-body" }, row.node), row.remove);
    row.remove.addEventListener("click", () => {
      held.splice(held.indexOf(row), 1);
      row.line.remove();
      number();
      more.focus();
    });
    held.push(row);
    list.append(row.line);
    number();
    if (focus) row.line.querySelector("input, select, textarea")?.focus();
  }
  first.forEach((value) => push(value, false));
  return { node: h("div", { class: "parts" }, list, more), held };
}

export function arrayField(schema, options) {
  const make = (value) =>
    field(schema.items, { ...options, label: "Item", value, required: true, depth: options.depth + 1 });
  const first = Array.isArray(options.value) ? options.value : [];
  const { node, held } = rows({ add: `Add to ${options.label}`, first, make });
  return framed({ ...options, schema }, node, (faults) => held.map((row) => row.read(faults)));
}

export function mapField(schema, options) {
  const make = ([key, value] = ["", undefined]) => {
    const id = uid("key");
    const name = h("input", { type: "text", id, value: key, autocomplete: "off" });
    const inner = { ...options, label: "Value", value, required: true, depth: options.depth + 1 };
    const part = field(schema.additionalProperties, inner);
    const node = h(
      "div",
      { class: "parts" },
      h("div", { class: "field" }, h("label", { for: id }, "Key"), name),
      part.node,
    );
    return { node, read: (faults) => [name.value, part.read(faults)] };
  };
  const { node, held } = rows({ add: `Add to ${options.label}`, first: Object.entries(options.value ?? {}), make });
  return framed({ ...options, schema }, node, (faults) => Object.fromEntries(held.map((row) => row.read(faults))));
}

export function choiceField(schema, options) {
  const { variants, root, value } = options;
  const id = uid("choice");
  const select = h(
    "select",
    { id },
    variants.map((variant, index) => h("option", { value: String(index) }, variantName(variant, index, root))),
  );
  const body = h("div", { class: "parts" });
  let part = null;
  const choose = (start) => {
    const variant = variants[Number(select.value)];
    part = field(variant, {
      ...options,
      label: "Value",
      value: start,
      required: true,
      bare: true,
      depth: options.depth + 1,
    });
    fill(body, part.node);
  };
  const fitting = value === undefined ? 0 : variants.findIndex((variant) => fits(value, variant, root));
  select.value = String(Math.max(0, fitting));
  select.addEventListener("change", () => choose(undefined));
  choose(value);
  const chooser = h("div", { class: "field" }, h("label", { for: id }, "Form of ", options.label), select);
  return framed({ ...options, schema }, h("div", { class: "parts" }, chooser, body), (faults) => part.read(faults));
}
