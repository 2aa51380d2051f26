// Displays the content items of a message or a tool result. Text from tools is displayed verbatim, not as Markdown.

import { h, lazyDetails } from "./dom.js";
import { jsonView, prettyJson } from "./json-view.js";
import { externalLink } from "./link.js";
import { textSize } from "./format.js";

/** Image types that cannot contain scripts or URLs. */
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const FOLD_ABOVE = 1500;

/** @param {any[]} items @returns {HTMLElement[]} */
export function contentView(items) {
  return (items ?? []).map(itemView);
}

/** Returns the text of the items, or the names of those without text. */
export function plainText(items) {
  return (items ?? []).map((item) => item.text ?? item.name ?? "").join("\n");
}

/** Displays the notes of a tool result, if it has any. */
export function notesView(notes) {
  if (!notes?.length) return null;
  return h(
    "ul",
    { class: "notes" },
    notes.map((note) => h("li", {}, note)),
  );
}

function itemView(item) {
  if (item.type === "text") return textView(item.text);
  if (item.type === "image") return imageView(item);
  if (item.type === "audio")
    return h("p", { class: "attachment" }, `Audio, ${item.mimeType}, ${textSize(item.data.length)}`);
  if (item.type === "resource_link")
    return h("p", { class: "attachment" }, externalLink(item.uri, [item.name || item.uri]));
  if (item.type === "resource") return resourceView(item.resource);
  return jsonView(item, { label: "Content" });
}

function textView(text) {
  const looksLikeJson = /^\s*[[{]/.test(text) && prettyJson(text) !== text;
  if (looksLikeJson) return jsonView(text, { label: "Result", isText: true });
  return foldedText(text);
}

/** Collapses a long text: pages of log output must not hide the answer. */
function foldedText(text) {
  if (text.length <= FOLD_ABOVE) return h("pre", { class: "plain", dir: "auto" }, text);
  const more = lazyDetails("more", `All of it (${textSize(text.length)})`, () =>
    h("pre", { class: "plain", dir: "auto", tabindex: 0 }, text),
  );
  return h("div", {}, h("pre", { class: "plain", dir: "auto" }, `${text.slice(0, FOLD_ABOVE)}…`), more);
}

function imageView({ data, mimeType }) {
  if (!IMAGE_TYPES.has(mimeType) || !BASE64.test(data)) {
    return h("p", { class: "attachment" }, `Picture, ${mimeType}, ${textSize(data.length)}: not shown`);
  }
  return h("img", { class: "picture", alt: "Picture from the tool", src: `data:${mimeType};base64,${data}` });
}

function resourceView({ uri, text, blob, mimeType }) {
  const caption = h("p", { class: "attachment" }, externalLink(uri, [uri]), mimeType ? ` · ${mimeType}` : "");
  return h("div", {}, caption, text === undefined ? textSize(blob?.length ?? 0) : foldedText(text));
}
