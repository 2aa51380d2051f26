// Markdown to nodes. Nothing here parses HTML: a tag in the text is shown as the text it is.

import { h, button } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { inline } from "./inline.js";
import { copy } from "../ui/clipboard.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*))?$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,8})([-*+]|\d{1,9}[.)])(?: +|$)/;
/** Deeper nesting is shown as text: nobody means it. */
const DEEPEST = 8;

/**
 * Shows a text as Markdown. Blocks whose text is as before stay as they are, so a growing text redraws only its end.
 * @param {Element} parent
 * @param {string} source
 */
export function markdown(parent, source) {
  const wanted = blocks(source.replace(/\r\n?/g, "\n").split("\n"), 0);
  wanted.forEach((block, index) => {
    const there = parent.children[index];
    if (there?.markdownSource === block.source) return;
    const node = block.make();
    node.markdownSource = block.source;
    if (there) there.replaceWith(node);
    else parent.append(node);
  });
  while (parent.children.length > wanted.length) parent.lastElementChild.remove();
}

/** Cuts lines into blocks: what each was made of, and how to make it. */
function blocks(lines, depth) {
  const found = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const start = at;
    const [end, make] = block(lines, at, depth);
    at = end;
    found.push({ source: lines.slice(start, end).join("\n"), make });
  }
  return found;
}

function block(lines, at, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return code(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [at + 1, () => headingOf(heading[1].length, heading[2] ?? "")];
  if (RULE.test(line)) return [at + 1, () => h("hr")];
  if (depth < DEEPEST && QUOTE.test(line)) return quote(lines, at, depth);
  if (depth < DEEPEST && ITEM.test(line)) return list(lines, at, depth);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at, depth);
}

function code(lines, at, [, marks, info]) {
  let end = at + 1;
  const closes = (line) => line.trim().length >= marks.length && line.trim() === marks[0].repeat(line.trim().length);
  while (end < lines.length && !closes(lines[end])) end += 1;
  const text = lines.slice(at + 1, end).join("\n");
  return [Math.min(end + 1, lines.length), () => codeBlock(text, info.trim().split(/\s/)[0])];
}

/** Code with its language and a button that copies it. */
function codeBlock(text, language = "") {
  const bar = h(
    "div",
    { class: "code-bar" },
    h("span", {}, language.slice(0, 32) || "text"),
    button("Copy code", {
      icon: icon("copy"),
      hidden: true,
      small: true,
      on: { click: () => copy(text, "Code copied") },
    }),
  );
  // The keyboard must be able to scroll what is wider than the page.
  return h("div", { class: "code" }, bar, h("pre", { tabindex: 0 }, h("code", {}, text)));
}

function headingOf(level, source) {
  // The page has its own first two levels.
  const tag = `h${Math.min(level + 2, 6)}`;
  return h(tag, { dir: "auto" }, inline(source.trim().replace(/(^|\s)#{1,64}$/, "")));
}

function quote(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return [
    end,
    () =>
      h(
        "blockquote",
        {},
        blocks(inner, depth + 1).map((block) => block.make()),
      ),
  ];
}

function list(lines, start, depth) {
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
    while (at < lines.length && belongs(lines, at, width)) {
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
        items.map((body) => item(body, depth)),
      ),
  ];
}

/** Whether a line goes on with the item before it. */
function belongs(lines, at, width) {
  const line = lines[at];
  const indent = /^ */.exec(line)[0].length;
  if (!line.trim()) {
    const next = lines[at + 1] ?? "";
    return next.trim() !== "" && /^ */.exec(next)[0].length >= Math.min(width, 2);
  }
  if (indent >= Math.min(width, 2)) return true;
  return !ITEM.test(line) && !startsBlock(line) && lines[at - 1].trim() !== "";
}

function item(body, depth) {
  const task = /^\[([ xX])\] /.exec(body[0]);
  const lines = task ? [body[0].slice(4), ...body.slice(1)] : body;
  const made = blocks(lines, depth + 1).map((block) => block.make());
  // A lone paragraph needs no space of its own.
  const flat = made.flatMap((node, index) => (index === 0 && node.tagName === "P" ? [...node.childNodes] : [node]));
  const box = task && h("input", { type: "checkbox", disabled: true, checked: task[1] !== " ", "aria-label": "done" });
  return h("li", { dir: "auto", class: task && "task" }, box, flat);
}

function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function isTable(lines, at) {
  const next = lines[at + 1] ?? "";
  if (!lines[at].includes("|") || !next.includes("-")) return false;
  const marks = cells(next);
  return marks.every((cell) => /^:?-+:?$/.test(cell)) && marks.length === cells(lines[at]).length;
}

function table(lines, at) {
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const [head, marks, ...rows] = lines.slice(at, end).map(cells);
  const align = marks.map((mark) => (mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "end") : null));
  const row = (tag) => (texts) =>
    h(
      "tr",
      {},
      head.map((_, index) => h(tag, { "data-align": align[index], dir: "auto" }, inline(texts[index] ?? ""))),
    );
  const make = () =>
    h(
      "div",
      { class: "table", tabindex: 0, role: "group", "aria-label": "Table" },
      h("table", {}, h("thead", {}, row("th")(head)), h("tbody", {}, rows.map(row("td")))),
    );
  return [end, make];
}

function startsBlock(line) {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line);
}

function paragraph(lines, at, depth) {
  let end = at + 1;
  const interrupts = (line) => startsBlock(line) || /^ {0,3}([-*+]|1[.)]) +\S/.test(line);
  while (end < lines.length && lines[end].trim() && (depth >= DEEPEST || !interrupts(lines[end]))) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join("\n");
  return [end, () => h("p", { dir: "auto" }, inline(text))];
}
