//! Escapes control and invisible characters in untrusted text, so that a terminal shows them and does not interpret them.

use std::borrow::Cow;

use serde::Serialize;

/// The limit of arguments and results in one-line previews.
pub(crate) const MAX_PREVIEW_CHARS: usize = 300;

/// The hidden characters, as ranges of code points: control and format characters, line and paragraph separators (general
/// categories Cc, Cf, Zl and Zp), characters that fonts may not render (`Default_Ignorable_Code_Point`), and the blank
/// Braille pattern. `console/js/ui/escape.js` of the server has the same set, as Unicode classes.
const HIDDEN_RANGES: [(u32, u32); 28] = [
    (0x0000, 0x001f),
    (0x007f, 0x009f),
    (0x00ad, 0x00ad),
    (0x034f, 0x034f),
    (0x0600, 0x0605),
    (0x061c, 0x061c),
    (0x06dd, 0x06dd),
    (0x070f, 0x070f),
    (0x0890, 0x0891),
    (0x08e2, 0x08e2),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
];

/// Escapes text that is only read: hidden characters become their codes (`\u202e`), control characters their pictures (`␛`).
/// Line ends and tabs stay.
///
/// Single joiners and variation selectors stay, because emoji and some scripts need them; several in a row can hide text.
pub(crate) fn sanitize(text: &str) -> Cow<'_, str> {
    replace_chars(text, |c, before| match c {
        '\n' | '\t' => false,
        '\u{200c}' | '\u{200d}' => matches!(before, Some('\u{200c}' | '\u{200d}')),
        '\u{fe00}'..='\u{fe0f}' => matches!(before, Some('\u{fe00}'..='\u{fe0f}')),
        c => is_hidden_char(c),
    })
}

/// Escapes text that the user decides on: all hidden characters but line ends and tabs.
pub(crate) fn sanitize_strict(text: &str) -> Cow<'_, str> {
    replace_chars(text, |c, _| !matches!(c, '\n' | '\t') && is_hidden_char(c))
}

/// Escapes a name or title that the user decides on: all hidden characters, line ends included.
pub(crate) fn sanitize_label(text: &str) -> Cow<'_, str> {
    replace_chars(text, |c, _| is_hidden_char(c))
}

/// Returns true if a character is in the hidden ranges.
pub(crate) fn is_hidden_char(c: char) -> bool {
    let code = u32::from(c);
    HIDDEN_RANGES.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

/// Escapes the characters for which `must_escape` returns true; its second argument is the previous character.
fn replace_chars(text: &str, must_escape: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    // Fast path: most text is printable ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        match c {
            // Half of a CRLF, whose other half may be in the next chunk.
            '\r' if matches!(chars.peek(), Some('\n') | None) => {}
            c if must_escape(c, before) => push_escape(&mut escaped, c),
            c => escaped.push(c),
        }
        before = Some(c);
    }
    match escaped == text {
        true => Cow::Borrowed(text),
        false => Cow::Owned(escaped),
    }
}

/// Appends the picture of a control character, else the code: `\u202e`, or `\u{e0041}` beyond the first plane.
fn push_escape(out: &mut String, c: char) {
    let code = u32::from(c);
    let picture = match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + code),
        '\u{7f}' => Some('␡'),
        _ => None,
    };
    match picture {
        Some(picture) => out.push(picture),
        None if code <= 0xffff => out.push_str(&format!("\\u{code:04x}")),
        None => out.push_str(&format!("\\u{{{code:x}}}")),
    }
}

/// Sanitizes text and folds it into one line, truncated to `max_chars`.
pub(crate) fn to_single_line(text: &str, max_chars: usize) -> String {
    let text = sanitize(text.trim());
    let folded: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut line = folded.join(" ⏎ ");
    if let Some((end, _)) = line.char_indices().nth(max_chars) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Serializes a value to JSON with all hidden characters escaped; it parses to the same value.
pub(crate) fn to_safe_json<T: Serialize + ?Sized>(value: &T) -> String {
    escape_result(serde_json::to_string(value))
}

/// [`to_safe_json`], indented.
pub(crate) fn to_safe_json_pretty<T: Serialize + ?Sized>(value: &T) -> String {
    escape_result(serde_json::to_string_pretty(value))
}

fn escape_result(json: serde_json::Result<String>) -> String {
    match json {
        Ok(json) => escape_json(json),
        Err(error) => format!("(no JSON: {error})"),
    }
}

/// Escapes the hidden characters of a JSON text.
pub(crate) fn escape_json(json: String) -> String {
    let layout = |c: char| matches!(c, '\n' | '\t');
    if !json.contains(|c| is_hidden_char(c) && !layout(c)) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        // Hidden characters other than layout occur only inside of strings.
        if !is_hidden_char(c) || layout(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use unicode_general_category::{GeneralCategory, get_general_category};

    use super::*;

    /// Every character but line ends and tabs; the omitted planes are unassigned or for private use.
    fn all_chars() -> impl Iterator<Item = char> {
        let planes = ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{effff}');
        planes.filter(|c| !matches!(c, '\n' | '\t'))
    }

    /// The general categories that are hidden.
    fn has_invisible_category(c: char) -> bool {
        use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
        matches!(get_general_category(c), Control | Format | LineSeparator | ParagraphSeparator)
    }

    #[test]
    fn no_control_format_or_separator_character_of_unicode_is_shown_as_itself() {
        let mut count = 0;
        for c in all_chars().filter(|c| has_invisible_category(*c)) {
            count += 1;
            let text = format!("a{c}b");
            assert!(!sanitize_strict(&text).contains(c), "{c:?}");
            assert!(!sanitize_label(&text).contains(c), "{c:?}");
            assert!(!to_safe_json(&text).contains(c), "{c:?}");
            let joins = matches!(c, '\u{200c}' | '\u{200d}');
            assert_eq!(sanitize(&text).contains(c), joins, "{c:?}");
        }
        assert!(count > 200, "{count}");
    }

    #[test]
    fn what_fonts_leave_out_is_shown_by_its_code_and_the_rest_stays() {
        let unseen = all_chars().filter(|c| is_hidden_char(*c) && !has_invisible_category(*c));
        let others: Vec<u32> = unseen.map(u32::from).collect();
        let others: Vec<u32> =
            others.into_iter().filter(|code| !(0xe0000..=0xe0fff).contains(code)).collect();
        let fillers = [
            &[0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5][..],
            &[0x180b, 0x180c, 0x180d, 0x180f, 0x2065, 0x2800, 0x3164],
            &(0xfe00..=0xfe0f).collect::<Vec<u32>>(),
            &[0xffa0],
            &(0xfff0..=0xfff8).collect::<Vec<u32>>(),
        ];
        assert_eq!(others, fillers.concat());
        for (text, shown) in [
            ("A-\u{202e}2401\u{202c}", "A-\\u202e2401\\u202c"),
            ("a\u{200e}\u{61c}\u{2028}b", "a\\u200e\\u061c\\u2028b"),
            ("a\u{200b}\u{ad}\u{feff}", "a\\u200b\\u00ad\\ufeff"),
            ("a\u{e0041}\u{e0100}", "a\\u{e0041}\\u{e0100}"),
            ("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m"),
            ("\u{9b}2J\u{7f}", "\\u009b2J␡"),
        ] {
            assert_eq!(sanitize(text), shown);
            assert_eq!(sanitize_strict(text), shown);
        }
        assert_eq!(sanitize_label("Read\nonly\ttool"), "Read␊only␉tool");
    }

    #[test]
    fn joiners_and_variation_selectors_stay_in_text_that_is_read_unless_they_hide_something() {
        for text in ["☀\u{fe0f} 22C", "👩\u{200d}🔬", "❤\u{fe0f}\u{200d}🔥", "می\u{200c}خواهم"]
        {
            assert_eq!(sanitize(text), text);
            assert!(sanitize_strict(text).contains("\\u"), "{text}");
        }
        // A tokenizer may part an emoji from its selector.
        assert_eq!(sanitize("\u{fe0f}"), "\u{fe0f}");
        assert_eq!(sanitize("a\u{fe00}\u{fe01}\u{fe02}"), "a\u{fe00}\\ufe01\\ufe02");
        assert_eq!(sanitize("a\u{200d}\u{200c}b"), "a\u{200d}\\u200cb");
    }

    #[test]
    fn plain_text_in_any_script_stays_as_it_is() {
        let text = "Grüße,\n\t東京 🌧 שלום";
        assert!(matches!(sanitize(text), Cow::Borrowed(kept) if kept == text));
        assert_eq!(sanitize("one\r\ntwo\r"), "one\ntwo");
        assert_eq!(sanitize("real\rfake"), "real␍fake");
    }

    #[test]
    fn escaped_json_reads_back_as_the_same_value() {
        let value =
            serde_json::json!({ "a\u{9b}": ["\u{1b}]0;x\u{7}", "\u{202e}\u{7f}\u{e0041}", "ü"] });
        for written in [to_safe_json(&value), to_safe_json_pretty(&value)] {
            assert!(!written.contains(['\u{9b}', '\u{7f}', '\u{202e}', '\u{1b}', '\u{e0041}']));
            let read: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read, value);
        }
    }

    #[test]
    fn a_long_text_becomes_one_short_line() {
        assert_eq!(to_single_line("one\ntwo\n", 80), "one ⏎ two");
        assert_eq!(to_single_line("ééééé", 3), "ééé…");
    }
}
