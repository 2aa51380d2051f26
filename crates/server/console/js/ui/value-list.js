// Displays the entries of an object as a list, nothing shortened: what is approved is what a tool receives.

import { h } from "./dom.js";
import { valueText } from "./format.js";

/** @param {Record<string, any>} values */
export function valueList(values) {
  return h(
    "dl",
    { class: "values" },
    Object.entries(values).map(([key, value]) => [h("dt", {}, key), h("dd", {}, valueText(value))]),
  );
}

/** Displays the arguments of a call. */
export function argumentList(args) {
  return Object.keys(args ?? {}).length ? valueList(args) : h("p", { class: "quiet" }, "No arguments.");
}
