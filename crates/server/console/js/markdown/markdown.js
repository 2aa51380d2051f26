// Renders the blocks of Markdown as DOM nodes. HTML is not parsed: a tag is displayed as text.

import { h } from "../ui/dom.js";
import { inline } from "./inline.js";
import { copyButton } from "../ui/clipboard.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*))?$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,8})([-*+]|\d{1,9}[.)])(?: +|$)/;
/** Deeper nesting is displayed as text. */
const MAX_DEPTH = 8;

/**
 * Renders Markdown. Blocks with unchanged source are kept, so a streamed text redraws only its end.
 * @param {Element} parent
 * @param {string} source
 */
export function markdown(parent, source) {
  const parsed = parseBlocks(source.replace(/\r\n?/g, "\n").split("\n"), 0);
  parsed.forEach((block, index) => {
    const existing = parent.children[index];
    if (existing?.markdownSource === block.source) return;
    const node = block.createNode();
    node.markdownSource = block.source;
    if (existing) existing.replaceWith(node);
    else parent.append(node);
  });
  while (parent.children.length > parsed.length) parent.lastElementChild.remove();
}

/** Splits lines into blocks: the source of each, and a function that creates its node. */
function parseBlocks(lines, depth) {
  const found = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const start = at;
    const [end, createNode] = parseBlock(lines, at, depth);
    at = end;
    found.push({ source: lines.slice(start, end).join("\n"), createNode });
  }
  return found;
}

function parseBlock(lines, at, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return parseCode(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [at + 1, () => headingNode(heading[1].length, heading[2] ?? "")];
  if (RULE.test(line)) return [at + 1, () => h("hr")];
  if (depth < MAX_DEPTH && QUOTE.test(line)) return parseQuote(lines, at, depth);
  if (depth < MAX_DEPTH && ITEM.test(line)) return parseList(lines, at, depth);
  if (isTable(lines, at)) return parseTable(lines, at);
  return parseParagraph(lines, at, depth);
}

function parseCode(lines, at, [, marks, info]) {
  let end = at + 1;
  const closes = (line) => line.trim().length >= marks.length && line.trim() === marks[0].repeat(line.trim().length);
  while (end < lines.length && !closes(lines[end])) end += 1;
  const text = lines.slice(at + 1, end).join("\n");
  return [Math.min(end + 1, lines.length), () => codeBlock(text, info.trim().split(/\s/)[0])];
}

/** Displays code with its language and a copy button. */
function codeBlock(text, language = "") {
  const bar = h(
    "div",
    { class: "code-bar" },
    h("span", {}, language.slice(0, 32) || "text"),
    copyButton("Copy code", () => text, "Code copied"),
  );
  // A scrollable element needs a tab stop to be scrolled with the keyboard.
  return h("div", { class: "code" }, bar, h("pre", { tabindex: 0 }, h("code", {}, text)));
}

function headingNode(level, source) {
  // The page itself uses the levels 1 and 2.
  const tag = `h${Math.min(level + 2, 6)}`;
  return h(tag, { dir: "auto" }, inline(source.trim().replace(/(^|\s)#{1,64}$/, "")));
}

function parseQuote(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return [
    end,
    () =>
      h(
        "blockquote",
        {},
        parseBlocks(inner, depth + 1).map((block) => block.createNode()),
      ),
  ];
}

function parseList(lines, start, depth) {
  const [, indent, marker] = ITEM.exec(lines[start]);
  const ordered = /\d/.test(marker);
  const items = [];
  let at = start;
  while (at < lines.length) {
    const match = ITEM.exec(lines[at]);
    const sibling = match && match[1].length <= indent.length + 1 && /\d/.test(match[2]) === ordered;
    if (!sibling || RULE.test(lines[at])) break;
    const width = Math.min(match[0].length, match[1].length + match[2].length + 4);
    const body = [lines[at].slice(width)];
    at += 1;
    while (at < lines.length && continuesItem(lines, at, width)) {
      body.push(lines[at].slice(Math.min(width, /^ */.exec(lines[at])[0].length)));
      at += 1;
    }
    items.push(body);
    while (at < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1] ?? "")) at += 1;
  }
  const first = Number.parseInt(marker, 10);
  const props = ordered && first !== 1 ? { start: first } : {};
  return [
    at,
    () =>
      h(
        ordered ? "ol" : "ul",
        props,
        items.map((body) => itemNode(body, depth)),
      ),
  ];
}

/** Returns true if a line continues the list item before it. */
function continuesItem(lines, at, width) {
  const line = lines[at];
  const indent = /^ */.exec(line)[0].length;
  if (!line.trim()) {
    const next = lines[at + 1] ?? "";
    return next.trim() !== "" && /^ */.exec(next)[0].length >= Math.min(width, 2);
  }
  if (indent >= Math.min(width, 2)) return true;
  return !ITEM.test(line) && !startsBlock(line) && lines[at - 1].trim() !== "";
}

function itemNode(body, depth) {
  const task = /^\[([ xX])\] /.exec(body[0]);
  const lines = task ? [body[0].slice(4), ...body.slice(1)] : body;
  const nodes = parseBlocks(lines, depth + 1).map((block) => block.createNode());
  // The first paragraph of an item is inlined, so that it has no margin.
  const flat = nodes.flatMap((node, index) => (index === 0 && node.tagName === "P" ? [...node.childNodes] : [node]));
  const box = task && h("input", { type: "checkbox", disabled: true, checked: task[1] !== " ", "aria-label": "done" });
  return h("li", { dir: "auto", class: task && "task" }, box, flat);
}

function splitCells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function isTable(lines, at) {
  const next = lines[at + 1] ?? "";
  if (!lines[at].includes("|") || !next.includes("-")) return false;
  const marks = splitCells(next);
  return marks.every((cell) => /^:?-+:?$/.test(cell)) && marks.length === splitCells(lines[at]).length;
}

function parseTable(lines, at) {
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const [head, marks, ...rows] = lines.slice(at, end).map(splitCells);
  const align = marks.map((mark) => (mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "end") : null));
  const row = (tag) => (texts) =>
    h(
      "tr",
      {},
      head.map((_, index) => h(tag, { "data-align": align[index], dir: "auto" }, inline(texts[index] ?? ""))),
    );
  const createNode = () =>
    h(
      "div",
      { class: "table", tabindex: 0, role: "group", "aria-label": "Table" },
      h("table", {}, h("thead", {}, row("th")(head)), h("tbody", {}, rows.map(row("td")))),
    );
  return [end, createNode];
}

function startsBlock(line) {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line);
}

function parseParagraph(lines, at, depth) {
  let end = at + 1;
  const interrupts = (line) => startsBlock(line) || /^ {0,3}([-*+]|1[.)]) +\S/.test(line);
  while (end < lines.length && lines[end].trim() && (depth >= MAX_DEPTH || !interrupts(lines[end]))) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join("\n");
  return [end, () => h("p", { dir: "auto" }, inline(text))];
}
