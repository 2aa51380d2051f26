// Named values as a list: exactly what a tool receives, nothing shortened.

import { h } from "./dom.js";
import { shown } from "../forms/schema.js";

/** @param {Record<string, any>} given */
export function values(given) {
  return h(
    "dl",
    { class: "values" },
    Object.entries(given).map(([key, value]) => [h("dt", {}, key), h("dd", {}, shown(value))]),
  );
}

/** The arguments of a call. */
export function argumentValues(args) {
  return Object.keys(args ?? {}).length ? values(args) : h("p", { class: "quiet" }, "No arguments.");
}
