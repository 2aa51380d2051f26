//! Text from models and tools in, text that a terminal shows and never obeys out.

use std::borrow::Cow;

use serde::Serialize;

/// Replaces what a terminal would obey: control characters, but for line ends and tabs, and what turns the order of
/// letters around.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // Half of a line end; the other half may come with the next piece.
            '\r' if matches!(chars.peek(), Some('\n') | None) => {}
            c if is_obeyed(c) => cleaned.push(picture(c)),
            c => cleaned.push(c),
        }
    }
    Cow::Owned(cleaned)
}

/// Makes one line of a text, of so many characters at most.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let text = clean(text.trim());
    let folded: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut line = folded.join(" ⏎ ");
    if let Some((end, _)) = line.char_indices().nth(most) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Writes a value as JSON in which no such character stands for itself: it reads back as the same value.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    escaped(serde_json::to_string(value))
}

/// The same, indented.
pub(crate) fn indented<T: Serialize + ?Sized>(value: &T) -> String {
    escaped(serde_json::to_string_pretty(value))
}

fn escaped(written: serde_json::Result<String>) -> String {
    match written {
        Ok(written) => escape(written),
        Err(error) => format!("(no JSON: {error})"),
    }
}

/// Makes JSON in which no such character stands for itself, of JSON.
pub(crate) fn escape(written: String) -> String {
    if !written.contains(is_obeyed) {
        return written;
    }
    let mut escaped = String::with_capacity(written.len());
    for c in written.chars() {
        match is_obeyed(c) {
            // All of them are in the first plane, and only inside of strings.
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => escaped.push(c),
        }
    }
    escaped
}

fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

fn picture(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('␡'),
        _ => None,
    }
    .unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        for c in (0..=0x2070).filter_map(char::from_u32) {
            let text = format!("a{c}b");
            let kept = clean(&text);
            let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!kept.contains(obeyed), "{c:?} became {kept:?}");
            assert!(!json(&text).contains(obeyed), "{c:?}");
        }
        assert_eq!(clean("\u{1b}[31mred\u{1b}[0m"), "␛[31mred␛[0m");
        assert_eq!(clean("\u{9b}2J\u{7f}\u{202e}"), "\u{fffd}2J␡\u{fffd}");
    }

    #[test]
    fn plain_text_in_any_script_stays_as_it_is() {
        let text = "Grüße,\n\t東京 🌧 שלום";
        assert!(matches!(clean(text), Cow::Borrowed(kept) if kept == text));
        assert_eq!(clean("one\r\ntwo\r"), "one\ntwo");
        assert_eq!(clean("real\rfake"), "real␍fake");
    }

    #[test]
    fn escaped_json_reads_back_as_the_same_value() {
        let value = serde_json::json!({ "a\u{9b}": ["\u{1b}]0;x\u{7}", "\u{202e}\u{7f}", "ü"] });
        for written in [json(&value), indented(&value)] {
            assert!(!written.contains(['\u{9b}', '\u{7f}', '\u{202e}', '\u{1b}']));
            let read: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read, value);
        }
    }

    #[test]
    fn a_long_text_becomes_one_short_line() {
        assert_eq!(one_line("one\ntwo\n", 80), "one ⏎ two");
        assert_eq!(one_line("ééééé", 3), "ééé…");
    }
}
