//! Valid and broken config files.

use std::path::Path;

use proptest::prelude::*;

use super::{ConfigFile, FileFormat, SyntaxError};
use crate::value::SettingValue;

fn parse(format: FileFormat, text: &[u8]) -> Result<ConfigFile, SyntaxError> {
    ConfigFile::parse(Path::new("file"), format, text)
}

fn properties(text: &str) -> Vec<(String, String)> {
    let file = parse(FileFormat::Properties, text.as_bytes()).unwrap();
    let text = |value: &SettingValue| match value {
        SettingValue::UntypedText(text) => text.expose().to_owned(),
        other => panic!("{other:?}"),
    };
    let settings = file.settings.iter();
    settings.map(|(key, setting)| (key.clone(), text(&setting.value))).collect()
}

fn mistake(format: FileFormat, text: &[u8]) -> (usize, String) {
    match parse(format, text) {
        Ok(_) => (0, "no mistake".to_owned()),
        Err(SyntaxError { line, problem }) => (line, problem),
    }
}

#[track_caller]
fn reads(text: &str, expected: &[(&str, &str)]) {
    let read = properties(text);
    let read: Vec<_> = read.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(read, expected, "{text}");
}

#[test]
fn a_property_may_be_written_with_either_sign_or_none() {
    for text in ["a=b c", "a:b c", "a b c", " a = b c", "\ta\u{c}:\tb c", "a   b c"] {
        reads(text, &[("a", "b c")]);
    }
    reads("a==b", &[("a", "=b")]);
    reads("a b=c", &[("a", "b=c")]);
    reads("a = b ", &[("a", "b ")]);
}

#[test]
fn comments_and_blank_lines_are_passed_over() {
    reads("# a=1\n  ! b=2 \\\n\n \t\nc=3 # not a comment", &[("c", "3 # not a comment")]);
}

#[test]
fn every_line_ending_ends_a_line() {
    reads("a=1\r\nb=2\rc=3\n", &[("a", "1"), ("b", "2"), ("c", "3")]);
}

#[test]
fn a_value_may_be_empty() {
    reads("a\nb=\nc:", &[("a", ""), ("b", ""), ("c", "")]);
}

#[test]
fn an_odd_number_of_backslashes_continues_a_line() {
    reads(
        "a=1,\\\n   2,\\\r\n\t3\nb=x\\\\\nc=y\\\\\\\n  z",
        &[("a", "1,2,3"), ("b", "x\\"), ("c", "y\\z")],
    );
    reads("a=1\\\n# no comment", &[("a", "1# no comment")]);
    reads("a\\\n\\\n=\\\n1", &[("a", "1")]);
}

#[test]
fn escapes_are_read() {
    reads(r"a\ b\:c\=d=\ x\t\n\r\f\\\:\=\#\!y", &[("a b:c=d", " x\t\n\r\u{c}\\:=#!y")]);
    reads(r"a=\u0041\u00e9\uD83D\uDE00é😀", &[("a", "Aé😀é😀")]);
}

#[test]
fn names_keep_their_case() {
    reads("MCP_1.name=a\nmcp_1.name=b", &[("MCP_1.name", "a"), ("mcp_1.name", "b")]);
}

#[test]
fn a_byte_order_mark_is_not_part_of_a_key() {
    reads("\u{feff}a=1", &[("a", "1")]);
    assert!(parse(FileFormat::Toml, "\u{feff}a=1".as_bytes()).unwrap().settings.contains_key("a"));
}

#[test]
fn a_malformed_property_is_refused_with_its_line_and_what_was_expected() {
    let escapes =
        "expected one of \\t \\n \\r \\f \\\\ \\: \\= \\# \\! \\uXXXX or an escaped space";
    let digits = "expected four hexadecimal digits after \\u";
    let half = "is half a character, expected a pair such as \\ud83d\\ude00";
    for (text, line, problem) in [
        ("a=1\nb=C:\\Windows", 2, format!("unknown escape `\\W`, {escapes}")),
        ("\\q=1", 1, format!("unknown escape `\\q`, {escapes}")),
        ("a=\\\n  1\\\n  \\z", 3, format!("unknown escape `\\z`, {escapes}")),
        ("a=\\u12", 1, digits.to_owned()),
        ("a=\\u12g4", 1, digits.to_owned()),
        ("a=\\u+123", 1, digits.to_owned()),
        ("\n\na=\\ud83d", 3, format!("\\ud83d {half}")),
        ("a=\\ude00", 1, format!("\\ude00 {half}")),
        ("a=\\ud83dx", 1, format!("\\ud83d {half}")),
        ("a=\\ud83d\\n", 1, format!("\\ud83d {half}")),
        ("a=\\ud83d\\u0041", 1, format!("\\ud83d {half}")),
        ("a=1\n=2", 2, "expected a key before the sign, such as `key=value`".to_owned()),
        (": 2", 1, "expected a key before the sign, such as `key=value`".to_owned()),
        (
            "a=1\nb=C:\\",
            2,
            "expected another line after the `\\` at the end: write `\\\\` for a backslash"
                .to_owned(),
        ),
    ] {
        assert_eq!(mistake(FileFormat::Properties, text.as_bytes()), (line, problem), "{text}");
    }
}

#[test]
fn a_file_that_is_not_utf_8_is_refused_with_the_line() {
    for format in [FileFormat::Properties, FileFormat::Toml] {
        assert_eq!(
            mistake(format, b"a = 1\nb = \xe9\n"),
            (2, "expected UTF-8 text: save the file in that encoding".to_owned())
        );
    }
}

#[test]
fn toml_tables_become_dotted_keys() {
    let text =
        "model = 'demo'\n[tools.get_weather]\ntimeout = '5s'\nretry = { most = 3 }\n[empty]\n";
    let file = parse(FileFormat::Toml, text.as_bytes()).unwrap();
    let settings = file.settings.iter();
    let found: Vec<_> = settings
        .map(|(key, setting)| {
            format!("{key} = {} {}", setting.value.to_redacted_text(key), setting.origin)
        })
        .collect();
    assert_eq!(
        found,
        [
            "model = demo file:1",
            "tools.get_weather.retry.most = 3 file:4",
            "tools.get_weather.timeout = 5s file:3"
        ]
    );
}

#[test]
fn malformed_toml_is_refused_with_its_line_and_what_was_expected() {
    for (text, line, problem) in [
        ("a = 1\nb", 2, "expected `=`"),
        ("a = 1\nb =", 2, "expected"),
        ("a = 1\nb = c", 2, "string values must be quoted"),
        ("a = 'x", 1, "expected `'`"),
        ("a = 1\n\n[t", 3, "expected `]`"),
        ("a = 1\n\na = 2", 3, "duplicate key"),
        ("a.b = 1\n[a]\nb = 1", 2, "duplicate key"),
    ] {
        let (found, message) = mistake(FileFormat::Toml, text.as_bytes());
        assert!(message.contains(problem), "{text}: {message}");
        assert_eq!(found, line, "{text}: {message}");
    }
}

#[test]
fn toml_that_cannot_become_settings_is_refused_with_its_line_and_what_was_expected() {
    let dotted = "expected a name without a dot, found `\"a.b\"`: leave out the quotes to nest, or rename it";
    for (text, line, problem) in [
        ("\na = 99999999999999999999", 2, "expected a whole number of at most 64 bits"),
        ("\n[t]\n'' = 1", 3, "expected a name, found an empty key"),
        ("[tools]\n\"a.b\" = 1", 2, dotted),
        ("\n[tools.'a.b']\nx = 1", 2, dotted),
    ] {
        let expected = (line, problem.to_owned());
        assert_eq!(mistake(FileFormat::Toml, text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn toml_that_is_nested_without_end_is_refused() {
    let (line, _) = mistake(FileFormat::Toml, format!("\na = {}", "[".repeat(100_000)).as_bytes());
    assert_eq!(line, 2);
    let (line, _) =
        mistake(FileFormat::Toml, format!("\n{}a = 1", "a.".repeat(100_000)).as_bytes());
    assert_eq!(line, 2);
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\\' | ':' | '=' | '#' | '!' | ' ' => out.extend(['\\', c]),
            c if c.is_ascii() => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out
}

/// Random text of the characters of the two formats.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c.=: \\\\#!\\[\\]{}\"',\n\r\t\u{c}0-9é😀]{0,6}",
        Just("\\u".to_owned()),
        Just("\\ud83d".to_owned()),
        Just("\\\n".to_owned()),
        Just("\na = ".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_is_too_strange_to_be_read_or_refused(text in text()) {
        for format in [FileFormat::Properties, FileFormat::Toml] {
            let (line, _) = mistake(format, text.as_bytes());
            prop_assert!(line <= 1 + text.matches(['\n', '\r']).count());
        }
    }

    #[test]
    fn no_bytes_are_too_strange_to_be_read_or_refused(bytes: Vec<u8>) {
        for format in [FileFormat::Properties, FileFormat::Toml] {
            let _ = parse(format, &bytes);
        }
    }

    #[test]
    fn escaped_properties_read_back_as_they_were(
        settings in prop::collection::btree_map("(?s).{1,8}", "(?s).{0,12}", 0..6),
    ) {
        let lines = settings.iter();
        let lines: Vec<_> = lines
            .map(|(key, value)| format!("{}={}\n", escaped(key), escaped(value)))
            .collect();
        prop_assert_eq!(properties(&lines.concat()), settings.into_iter().collect::<Vec<_>>());
    }
}
