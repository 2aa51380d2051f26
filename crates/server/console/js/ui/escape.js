// Escapes characters that are invisible or reorder text, for example as `\u202e`.
//
// Strings in, strings out; `dom.js` highlights the escapes.

/**
 * All characters without a visible glyph: control and format characters, line and paragraph separators, default
 * ignorable ones (variation selectors, fillers, tags), lone surrogates, the blank Braille pattern. Line
 * breaks and tabs are excluded: the layout shows them.
 */
export const INVISIBLE = /(?:(?![\n\t]|\r\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800])+/gu;

/**
 * Only bidirectional controls, tags, variation selectors beyond the first plane and control characters. Joiners stay, as
 * emoji and several scripts need them: for answers, messages and titles, not for arguments under approval.
 */
export const MISLEADING =
  /(?:(?![\n\t]|\r\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u206a-\u206f\ufff9-\ufffb\u{e0000}-\u{e0fff}])+/gu;

/** Limit of pieces per text: each becomes an element, and untrusted text could contain millions. */
const MAX_PIECES = 1000;

/** Returns `\u202e`, or `\u{e0041}` beyond the first plane. */
function escapeCharacter(character) {
  const digits = character.codePointAt(0).toString(16);
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, "0")}`;
}

const escapeRun = (run) => Array.from(run, escapeCharacter).join("");

/**
 * Returns the text with these characters escaped.
 * @param {string} text
 * @param {RegExp} [pattern]
 */
export function escapeText(text, pattern = INVISIBLE) {
  return text.replaceAll(pattern, escapeRun);
}

/**
 * Splits the text into escapes and other pieces, so that an escape can be distinguished from text that looks like one.
 * @param {string} text
 * @param {RegExp} [pattern]
 * @returns {{text: string, isEscape: boolean}[]}
 */
export function splitEscapes(text, pattern = INVISIBLE) {
  const found = [];
  let at = 0;
  for (const { 0: run, index } of text.matchAll(pattern)) {
    if (found.length > MAX_PIECES) break;
    if (index > at) found.push({ text: text.slice(at, index), isEscape: false });
    found.push({ text: escapeRun(run), isEscape: true });
    at = index + run.length;
  }
  if (at < text.length) found.push({ text: escapeText(text.slice(at), pattern), isEscape: false });
  return found;
}

/** Returns equivalent JSON with invisible characters written as JSON escapes. */
export function escapeJson(text) {
  const escapeUnit = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replaceAll(INVISIBLE, (run) => run.split("").map(escapeUnit).join(""));
}
