// Renders inline Markdown as DOM nodes: emphasis, code, links, line breaks.
//
// Delimiters are matched with a stack, as in CommonMark, so the time is proportional to the length of the text.

import { h, proseNodes } from "../ui/dom.js";
import { externalLink } from "../ui/link.js";

const ESCAPABLE = /[!-/:-@[-`{-~]/;
const SPECIAL = /[\\`*_~[\]!<\n]|https?:\/\//g;
/** Longer URLs are text. */
const MAX_URL_LENGTH = 2048;
/** Limit of delimiter runs per paragraph, which bounds the time for matching; further ones are text. */
const MAX_DELIMITER_RUNS = 1000;

/**
 * @param {string} source
 * @returns {Node[]}
 */
export function inline(source) {
  const parser = new Parser(source);
  parser.run();
  return emphasise(parser.out).flatMap(withEscapes);
}

/** Escapes invisible characters after parsing, so that an escape is never parsed as Markdown. */
function withEscapes(node) {
  if (node instanceof Text) return proseNodes(node.data);
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (const text of found) text.replaceWith(...proseNodes(text.data));
  return node;
}

/** Parses a paragraph into `out`: nodes, and runs of delimiters that may become emphasis. */
class Parser {
  constructor(source) {
    this.source = source;
    this.at = 0;
    /** @type {any[]} */
    this.out = [];
    this.brackets = [];
    this.unclosedTicks = new Set();
    this.runs = 0;
  }

  run() {
    const { source } = this;
    while (this.at < source.length) {
      SPECIAL.lastIndex = this.at;
      const next = SPECIAL.exec(source)?.index ?? source.length;
      if (next > this.at) this.addText(source.slice(this.at, next));
      this.at = next;
      if (next < source.length) this.special(source[next]);
    }
  }

  addText(text) {
    const last = this.out.at(-1);
    if (last instanceof Text) last.data += text;
    else this.out.push(document.createTextNode(text));
  }

  takeText(count) {
    this.addText(this.source.slice(this.at, this.at + count));
    this.at += count;
  }

  special(char) {
    const { source } = this;
    if (char === "\\") this.escape();
    else if (char === "\n") this.lineEnd();
    else if (char === "`") this.code();
    else if (char === "*" || char === "_" || char === "~") this.delimiters(char);
    else if (char === "[") this.openBracket(1);
    else if (char === "!" && source[this.at + 1] === "[") this.openBracket(2);
    else if (char === "]") this.closeBracket();
    else if (char === "<") this.autolink();
    else if (char === "h") this.bareUrl();
    else this.takeText(1);
  }

  escape() {
    const next = this.source[this.at + 1] ?? "";
    if (next === "\n") {
      this.out.push(h("br"));
      this.at += 2;
    } else if (ESCAPABLE.test(next)) {
      this.at += 1;
      this.takeText(1);
    } else {
      this.takeText(1);
    }
  }

  lineEnd() {
    const last = this.out.at(-1);
    const hard = last instanceof Text && last.data.endsWith("  ");
    if (hard) this.out.push(h("br"));
    else this.addText("\n");
    this.at += 1;
  }

  code() {
    const { source } = this;
    let end = this.at;
    while (source[end] === "`") end += 1;
    const ticks = source.slice(this.at, end);
    const close = this.unclosedTicks.has(ticks.length) ? -1 : findClosingTicks(source, ticks, end);
    if (close < 0) {
      this.unclosedTicks.add(ticks.length);
      this.takeText(ticks.length);
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
    const flanks = (near, far) => !/\s/.test(near) && (!isPunctuation(near) || /\s/.test(far) || isPunctuation(far));
    const left = flanks(after, before);
    const right = flanks(before, after);
    const inWord = char === "_";
    const opens = left && (!inWord || !right || isPunctuation(before));
    const closes = right && (!inWord || !left || isPunctuation(after));
    this.runs += 1;
    if ((char === "~" && count !== 2) || (!opens && !closes) || this.runs > MAX_DELIMITER_RUNS)
      return this.takeText(count);
    this.out.push({ char, count, opens, closes });
    this.at = end;
  }

  openBracket(length) {
    this.brackets.push({ index: this.out.length, image: length === 2 });
    this.out.push(document.createTextNode(this.source.slice(this.at, this.at + length)));
    // Text is appended to the last text node, which must not be that of the bracket.
    this.out.push(document.createTextNode(""));
    this.at += length;
  }

  closeBracket() {
    const opener = this.brackets.pop();
    const target = opener && parseDestination(this.source, this.at + 1);
    if (!target) return this.takeText(1);
    const children = emphasise(this.out.splice(opener.index).slice(1));
    if (opener.image) children.unshift(document.createTextNode("Image: "));
    // Links do not nest: brackets before this one are text.
    if (!opener.image) this.brackets.length = 0;
    this.out.push(externalLink(target.address, children));
    this.at = target.end;
  }

  autolink() {
    const end = this.source.slice(this.at, this.at + MAX_URL_LENGTH).search(/[\s>]/);
    const address = end > 0 && this.source[this.at + end] === ">" ? this.source.slice(this.at + 1, this.at + end) : "";
    if (!/^(https?:\/\/|mailto:)/i.test(address)) return this.takeText(1);
    this.out.push(externalLink(address, [document.createTextNode(address)]));
    this.at += end + 1;
  }

  bareUrl() {
    const [found] = /^[^\s<>"'`]*/.exec(this.source.slice(this.at, this.at + MAX_URL_LENGTH));
    let address = found.replace(/[.,:;!?*_~)\]]{1,16}$/, "");
    // A parenthesis that the URL opens belongs to it.
    if (found[address.length] === ")" && address.includes("(")) address += ")";
    if (/\w$/.test(this.source.slice(Math.max(0, this.at - 1), this.at)) || address.length < 9) return this.takeText(4);
    this.out.push(externalLink(address, [document.createTextNode(address)]));
    this.at += address.length;
  }
}

function isPunctuation(char) {
  return /[\p{P}\p{S}]/u.test(char);
}

function findClosingTicks(source, ticks, from) {
  for (let at = source.indexOf(ticks, from); at >= 0; at = source.indexOf(ticks, at)) {
    let end = at;
    while (source[end] === "`") end += 1;
    if (end - at === ticks.length) return at;
    at = end;
  }
  return -1;
}

/** Parses `(url "title")` after a closing bracket. */
function parseDestination(source, at) {
  if (source[at] !== "(") return null;
  const piece = source.slice(at, at + MAX_URL_LENGTH);
  const match = /^\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)?))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(
    piece,
  );
  return match && { address: match[1] ?? match[2], end: at + match[0].length };
}

/** Converts pairs of delimiters to elements; unpaired ones become text. */
function emphasise(pieces) {
  const done = [];
  const openers = [];
  // The number of openers of each kind: without it, every closer would search all openers.
  const openCounts = { "*": 0, _: 0, "~": 0 };
  for (const piece of pieces) {
    if (piece instanceof Node) {
      done.push(piece);
      continue;
    }
    if (piece.closes) closeDelimiters(piece, done, openers, openCounts);
    if (piece.count && piece.opens) {
      openers.push({ ...piece, index: done.length });
      openCounts[piece.char] += 1;
      done.push(null);
    } else if (piece.count) {
      done.push(document.createTextNode(piece.char.repeat(piece.count)));
    }
  }
  for (const opener of openers) done[opener.index] = document.createTextNode(opener.char.repeat(opener.count));
  return done;
}

function closeDelimiters(piece, done, openers, openCounts) {
  while (piece.count && openCounts[piece.char]) {
    // Openers in between are unmatched and become text.
    while (openers.at(-1).char !== piece.char) {
      const unmatched = openers.pop();
      openCounts[unmatched.char] -= 1;
      done[unmatched.index] = document.createTextNode(unmatched.char.repeat(unmatched.count));
    }
    const opener = openers.at(-1);
    const width = opener.count >= 2 && piece.count >= 2 ? 2 : 1;
    const children = done.splice(opener.index + 1);
    done.push(...wrap(piece.char === "~" ? "del" : width === 2 ? "strong" : "em", children));
    opener.count -= width;
    piece.count -= width;
    if (!opener.count) {
      openers.pop();
      openCounts[opener.char] -= 1;
      done[opener.index] = document.createTextNode("");
    }
  }
}

/** Wraps nodes in an element up to a depth of 16: browsers walk elements recursively. */
function wrap(tag, children) {
  const depth = 1 + Math.max(0, ...children.slice(0, 1000).map((child) => child.emphasisDepth ?? 0));
  if (depth > 16) return children;
  const node = h(tag, {}, children);
  node.emphasisDepth = depth;
  return [node];
}
