// What a tool returned or a person said, item by item. Text from tools is shown as it is, never as Markdown.

import { h } from "./dom.js";
import { json, pretty } from "./json-view.js";
import { link } from "./link.js";
import { size } from "./format.js";

/** Pictures that cannot hold a script or an address. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const LONG = 1500;

/** @param {any[]} items @returns {HTMLElement[]} */
export function content(items) {
  return (items ?? []).map(item);
}

/** The text of the items alone. */
export function plain(items) {
  return (items ?? []).map((it) => it.text ?? it.name ?? "").join("\n");
}

function item(it) {
  if (it.type === "text") return written(it.text);
  if (it.type === "image") return picture(it);
  if (it.type === "audio") return h("p", { class: "attachment" }, `Audio, ${it.mimeType}, ${size(it.data.length)}`);
  if (it.type === "resource_link") return h("p", { class: "attachment" }, link(it.uri, [it.name || it.uri]));
  if (it.type === "resource") return resource(it.resource);
  return json(it, { label: "Content" });
}

function written(text) {
  const looksLikeJson = /^\s*[[{]/.test(text) && pretty(text) !== text;
  if (looksLikeJson) return json(text, { label: "Result", isText: true });
  return folded(text);
}

/** A long text begins folded: a page of log must not hide the answer. */
function folded(text) {
  if (text.length <= LONG) return h("pre", { class: "plain", dir: "auto" }, text);
  const more = h("details", { class: "more" }, h("summary", {}, `All of it (${size(text.length)})`));
  more.addEventListener("toggle", () => more.append(h("pre", { class: "plain", dir: "auto", tabindex: 0 }, text)), {
    once: true,
  });
  return h("div", {}, h("pre", { class: "plain", dir: "auto" }, `${text.slice(0, LONG)}…`), more);
}

function picture({ data, mimeType }) {
  if (!PICTURES.has(mimeType) || !BASE64.test(data)) {
    return h("p", { class: "attachment" }, `Picture, ${mimeType}, ${size(data.length)}: not shown`);
  }
  return h("img", { class: "picture", alt: "Picture from the tool", src: `data:${mimeType};base64,${data}` });
}

function resource({ uri, text, blob, mimeType }) {
  const caption = h("p", { class: "attachment" }, link(uri, [uri]), mimeType ? ` · ${mimeType}` : "");
  return h("div", {}, caption, text === undefined ? size(blob?.length ?? 0) : folded(text));
}
