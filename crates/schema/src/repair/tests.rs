//! Each kind of untidiness, and what must never be mended.

use serde_json::{Value, json};

use super::*;

fn mends(text: &str, meant: Value, notes: &[&str]) {
    let repaired =
        repair(text, &Limits::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(
        serde_json::from_str::<Value>(&repaired.text).unwrap(),
        meant,
        "{text}"
    );
    assert_eq!(repaired.notes, notes, "{text}");
}

fn refusal(text: &str) -> Unrepairable {
    repair(text, &Limits::default()).expect_err(text)
}

#[test]
fn tidy_text_is_left_alone() {
    mends(
        r#" {"a": [1, -2.5e3, "x,]}", true, null]} "#,
        json!({"a": [1, -2500.0, "x,]}", true, null]}),
        &[],
    );
}

#[test]
fn blank_text_is_an_empty_object() {
    mends("", json!({}), &["blank read as {}"]);
    mends(" \n", json!({}), &["blank read as {}"]);
}

#[test]
fn one_comma_too_many_is_dropped() {
    mends(
        r#"{"a": [1, 2, ], }"#,
        json!({"a": [1, 2]}),
        &["trailing comma removed"],
    );
}

#[test]
fn single_quotes_become_double() {
    mends(
        r#"{'a': 'say "hi"'}"#,
        json!({"a": "say \"hi\""}),
        &["single quotes replaced"],
    );
    mends(
        r"{'a': 'it\'s, a \\ \n'}",
        json!({"a": "it's, a \\ \n"}),
        &["single quotes replaced"],
    );
}

#[test]
fn code_fences_are_taken_off() {
    mends(
        "```json\n{\"a\": 1}\n```",
        json!({"a": 1}),
        &["code fence removed"],
    );
    mends(
        "```\n{\"a\": \"```\"}\n```",
        json!({"a": "```"}),
        &["code fence removed"],
    );
    mends("```{\"a\": 1}```", json!({"a": 1}), &["code fence removed"]);
    mends("```true```", json!(true), &["code fence removed"]);
}

#[test]
fn bare_keys_are_quoted() {
    mends(
        "{city: \"Rome\", $zip_1: 5}",
        json!({"city": "Rome", "$zip_1": 5}),
        &["unquoted key quoted"],
    );
}

#[test]
fn a_second_encoding_is_undone() {
    mends(
        r#""{\"a\": 1}""#,
        json!({"a": 1}),
        &["doubled encoding undone"],
    );
    mends(
        r#"'{"a": 1}'"#,
        json!({"a": 1}),
        &["single quotes replaced", "doubled encoding undone"],
    );
    mends(r#""plain text""#, json!("plain text"), &[]);
}

#[test]
fn python_literals_are_translated() {
    mends(
        r#"{"a": True, "b": [None, False], "c": "True"}"#,
        json!({"a": true, "b": [null, false], "c": "True"}),
        &["Python literal replaced"],
    );
}

#[test]
fn typographic_quotes_are_replaced_where_they_are_clear() {
    mends(
        "{“a”: “b, c”}",
        json!({"a": "b, c"}),
        &["typographic quotes replaced"],
    );
    mends(
        "{\"a\": \"“b”\",}",
        json!({"a": "“b”"}),
        &["trailing comma removed"],
    );
    assert!(matches!(
        refusal("{“a”: “say “hi””}"),
        Unrepairable::Ambiguous { .. }
    ));
}

#[test]
fn a_byte_order_mark_is_dropped() {
    mends("\u{feff}{}", json!({}), &["byte order mark removed"]);
}

#[test]
fn cut_off_text_is_never_mended() {
    for text in [
        "{",
        "{\"a\"",
        "{\"a\":",
        "{'a': 'b",
        "{'a': 1",
        "[1, 2,",
        "{a: 1,",
        "```json\n{\"a\": 1}",
        "```",
        "{“a”: “b",
        "\"abc",
        "{'a': 'b'",
    ] {
        assert_eq!(refusal(text), Unrepairable::Truncated, "{text}");
    }
}

#[test]
fn what_could_mean_two_things_is_refused_with_its_place() {
    assert_eq!(
        refusal("{'a': 'it's'}"),
        Unrepairable::Ambiguous {
            at: 10,
            message: "a quote inside a string in the same quotes".to_owned()
        }
    );
    for text in [
        "[1,,2]",
        "[,1]",
        "{,}",
        "{\"a\" 1}",
        "{\"a\": b}",
        "{a-b: 1}",
        "{\"a\": 1} {}",
        "{\"a\": 1]",
        "}",
        "hello",
        "[01]",
        "{\"a\": \"\\x\"}",
    ] {
        assert!(
            matches!(refusal(text), Unrepairable::Ambiguous { .. }),
            "{text}: {:?}",
            refusal(text)
        );
    }
}

#[test]
fn limits_and_doubled_keys_hold_for_mended_text_too() {
    assert!(matches!(
        refusal("{a: 1, 'a': 2}"),
        Unrepairable::Refused(ParseError::DuplicateKey { .. })
    ));
    assert!(matches!(
        refusal(&"[".repeat(100_000)),
        Unrepairable::Refused(ParseError::TooDeep { .. })
    ));
    assert!(matches!(
        refusal(&format!("[None,{}", "[".repeat(100_000))),
        Unrepairable::Refused(ParseError::TooDeep { .. })
    ));
    assert!(matches!(
        refusal(&" ".repeat(2 << 20)),
        Unrepairable::Refused(ParseError::TooLong { .. })
    ));
}
