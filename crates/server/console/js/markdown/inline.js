// One paragraph of Markdown to nodes: emphasis, code, links, line breaks.
//
// Delimiters are matched as CommonMark does it, with a stack, so hostile text costs no more than its length.

import { h, prose } from "../ui/dom.js";
import { link } from "../ui/link.js";

const ESCAPABLE = /[!-/:-@[-`{-~]/;
const SPECIAL = /[\\`*_~[\]!<\n]|https?:\/\//g;
/** No address is longer. */
const LONGEST = 2048;
/** No paragraph has more emphasis; what goes on is text, or matching it would take ever longer. */
const MOST = 1000;

/**
 * @param {string} source
 * @returns {Node[]}
 */
export function inline(source) {
  const parser = new Parser(source);
  parser.run();
  return emphasise(parser.out).flatMap(marked);
}

/** Escapes after parsing, so that an escape is never parsed as Markdown. */
function marked(node) {
  if (node instanceof Text) return prose(node.data);
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (const text of found) text.replaceWith(...prose(text.data));
  return node;
}

/** A piece is a node, or a run of delimiters that may become emphasis. */
class Parser {
  constructor(source) {
    this.source = source;
    this.at = 0;
    /** @type {any[]} */
    this.out = [];
    this.brackets = [];
    this.missing = new Set();
    this.runs = 0;
  }

  run() {
    const { source } = this;
    while (this.at < source.length) {
      SPECIAL.lastIndex = this.at;
      const next = SPECIAL.exec(source)?.index ?? source.length;
      if (next > this.at) this.text(source.slice(this.at, next));
      this.at = next;
      if (next < source.length) this.special(source[next]);
    }
  }

  text(text) {
    const last = this.out.at(-1);
    if (last instanceof Text) last.data += text;
    else this.out.push(document.createTextNode(text));
  }

  take(count) {
    this.text(this.source.slice(this.at, this.at + count));
    this.at += count;
  }

  special(char) {
    const { source } = this;
    if (char === "\\") this.escape();
    else if (char === "\n") this.lineEnd();
    else if (char === "`") this.code();
    else if (char === "*" || char === "_" || char === "~") this.delimiters(char);
    else if (char === "[") this.open(1);
    else if (char === "!" && source[this.at + 1] === "[") this.open(2);
    else if (char === "]") this.close();
    else if (char === "<") this.angle();
    else if (char === "h") this.bare();
    else this.take(1);
  }

  escape() {
    const next = this.source[this.at + 1] ?? "";
    if (next === "\n") {
      this.out.push(h("br"));
      this.at += 2;
    } else if (ESCAPABLE.test(next)) {
      this.at += 1;
      this.take(1);
    } else {
      this.take(1);
    }
  }

  lineEnd() {
    const last = this.out.at(-1);
    const hard = last instanceof Text && last.data.endsWith("  ");
    if (hard) this.out.push(h("br"));
    else this.text("\n");
    this.at += 1;
  }

  code() {
    const { source } = this;
    let end = this.at;
    while (source[end] === "`") end += 1;
    const ticks = source.slice(this.at, end);
    const close = this.missing.has(ticks.length) ? -1 : closing(source, ticks, end);
    if (close < 0) {
      this.missing.add(ticks.length);
      this.take(ticks.length);
      return;
    }
    let code = source.slice(end, close).replaceAll("\n", " ");
    if (code.startsWith(" ") && code.endsWith(" ") && code.trim()) code = code.slice(1, -1);
    this.out.push(h("code", {}, code));
    this.at = close + ticks.length;
  }

  delimiters(char) {
    const { source } = this;
    let end = this.at;
    while (source[end] === char) end += 1;
    const before = source[this.at - 1] ?? " ";
    const after = source[end] ?? " ";
    const count = end - this.at;
    const leans = (near, far) => !/\s/.test(near) && (!isPunctuation(near) || /\s/.test(far) || isPunctuation(far));
    const left = leans(after, before);
    const right = leans(before, after);
    const inWord = char === "_";
    const opens = left && (!inWord || !right || isPunctuation(before));
    const closes = right && (!inWord || !left || isPunctuation(after));
    this.runs += 1;
    if ((char === "~" && count !== 2) || (!opens && !closes) || this.runs > MOST) return this.take(count);
    this.out.push({ char, count, opens, closes });
    this.at = end;
  }

  open(length) {
    this.brackets.push({ index: this.out.length, image: length === 2 });
    this.out.push(document.createTextNode(this.source.slice(this.at, this.at + length)));
    // The next text must not melt into the bracket.
    this.out.push(document.createTextNode(""));
    this.at += length;
  }

  close() {
    const opener = this.brackets.pop();
    const target = opener && destination(this.source, this.at + 1);
    if (!target) return this.take(1);
    const children = emphasise(this.out.splice(opener.index).slice(1));
    if (opener.image) children.unshift(document.createTextNode("Image: "));
    // Links do not nest: what was opened before this one stays text.
    if (!opener.image) this.brackets.length = 0;
    this.out.push(link(target.address, children));
    this.at = target.end;
  }

  angle() {
    const end = this.source.slice(this.at, this.at + LONGEST).search(/[\s>]/);
    const address = end > 0 && this.source[this.at + end] === ">" ? this.source.slice(this.at + 1, this.at + end) : "";
    if (!/^(https?:\/\/|mailto:)/i.test(address)) return this.take(1);
    this.out.push(link(address, [document.createTextNode(address)]));
    this.at += end + 1;
  }

  bare() {
    const [found] = /^[^\s<>"'`]*/.exec(this.source.slice(this.at, this.at + LONGEST));
    let address = found.replace(/[.,:;!?*_~)\]]{1,16}$/, "");
    // A bracket that the address opened is its own to close.
    if (found[address.length] === ")" && address.includes("(")) address += ")";
    if (/\w$/.test(this.source.slice(Math.max(0, this.at - 1), this.at)) || address.length < 9) return this.take(4);
    this.out.push(link(address, [document.createTextNode(address)]));
    this.at += address.length;
  }
}

function isPunctuation(char) {
  return /[\p{P}\p{S}]/u.test(char);
}

function closing(source, ticks, from) {
  for (let at = source.indexOf(ticks, from); at >= 0; at = source.indexOf(ticks, at)) {
    let end = at;
    while (source[end] === "`") end += 1;
    if (end - at === ticks.length) return at;
    at = end;
  }
  return -1;
}

/** Reads `(address "title")` behind a bracket. */
function destination(source, at) {
  if (source[at] !== "(") return null;
  const piece = source.slice(at, at + LONGEST);
  const match = /^\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)?))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(
    piece,
  );
  return match && { address: match[1] ?? match[2], end: at + match[0].length };
}

/** Turns pairs of delimiters into elements; what is left over is text. */
function emphasise(pieces) {
  const done = [];
  const openers = [];
  // How many of each kind are open: without it every closer would look through all openers in vain.
  const open = { "*": 0, _: 0, "~": 0 };
  for (const piece of pieces) {
    if (piece instanceof Node) {
      done.push(piece);
      continue;
    }
    if (piece.closes) closeWith(piece, done, openers, open);
    if (piece.count && piece.opens) {
      openers.push({ ...piece, index: done.length });
      open[piece.char] += 1;
      done.push(null);
    } else if (piece.count) {
      done.push(document.createTextNode(piece.char.repeat(piece.count)));
    }
  }
  for (const opener of openers) done[opener.index] = document.createTextNode(opener.char.repeat(opener.count));
  return done;
}

function closeWith(piece, done, openers, open) {
  while (piece.count && open[piece.char]) {
    // Openers in between closed nothing: they are text.
    while (openers.at(-1).char !== piece.char) {
      const idle = openers.pop();
      open[idle.char] -= 1;
      done[idle.index] = document.createTextNode(idle.char.repeat(idle.count));
    }
    const opener = openers.at(-1);
    const width = opener.count >= 2 && piece.count >= 2 ? 2 : 1;
    const children = done.splice(opener.index + 1);
    done.push(...wrap(piece.char === "~" ? "del" : width === 2 ? "strong" : "em", children));
    opener.count -= width;
    piece.count -= width;
    if (!opener.count) {
      openers.pop();
      open[opener.char] -= 1;
      done[opener.index] = document.createTextNode("");
    }
  }
}

/** Nests only so deep: browsers walk elements recursively. */
function wrap(tag, children) {
  const depth = 1 + Math.max(0, ...children.slice(0, 1000).map((child) => child.emphasisDepth ?? 0));
  if (depth > 16) return children;
  const node = h(tag, {}, children);
  node.emphasisDepth = depth;
  return [node];
}
