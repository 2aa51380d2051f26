// Escapes characters that are invisible or that reorder text: `\u202e` in place of the character.
//
// Strings only; `dom.js` turns the escapes into elements that stand out.

/**
 * Every character without a glyph of its own: control and format characters, line and paragraph separators, default
 * ignorable ones (variation selectors, fillers, tags), lone surrogates, the blank Braille pattern. Not line ends and
 * tabs, which the layout shows.
 */
export const HIDDEN =
  /(?:(?![\n\t]|\r\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800])+/gu;

/**
 * Only bidirectional controls, tags, variation selectors beyond the first plane and control characters. Joiners stay, as
 * emoji and several scripts need them: for answers, messages and titles, not for what a person approves.
 */
export const MISLEADING =
  /(?:(?![\n\t]|\r\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u206a-\u206f\ufff9-\ufffb\u{e0000}-\u{e0fff}])+/gu;

/** Most pieces of one text: each is an element, and a hostile text could ask for millions. */
const MOST = 1000;

/** `\u202e`, or `\u{e0041}` beyond the first plane. */
function code(character) {
  const digits = character.codePointAt(0).toString(16);
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, "0")}`;
}

const codes = (run) => Array.from(run, code).join("");

/**
 * The text with escapes in place of these characters.
 * @param {string} text
 * @param {RegExp} [which]
 */
export function escaped(text, which = HIDDEN) {
  return text.replaceAll(which, codes);
}

/**
 * The same in pieces, so that an escape can be distinguished from text that looks like one.
 * @param {string} text
 * @param {RegExp} [which]
 * @returns {{text: string, isCode: boolean}[]}
 */
export function pieces(text, which = HIDDEN) {
  const found = [];
  let at = 0;
  for (const { 0: run, index } of text.matchAll(which)) {
    if (found.length > MOST) break;
    if (index > at) found.push({ text: text.slice(at, index), isCode: false });
    found.push({ text: codes(run), isCode: true });
    at = index + run.length;
  }
  if (at < text.length) found.push({ text: escaped(text.slice(at), which), isCode: false });
  return found;
}

/** Equivalent JSON, its invisible characters written as JSON escapes. */
export function escapedJson(text) {
  const unit = (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replaceAll(HIDDEN, (run) => run.split("").map(unit).join(""));
}
