//! Each kind of untidiness, and what must never be mended.

use serde_json::{Value, json};

use super::*;

fn assert_repairs(text: &str, meant: Value, notes: &[&str]) {
    let repaired =
        repair(text, &InputLimits::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(serde_json::from_str::<Value>(&repaired.text).unwrap(), meant, "{text}");
    assert_eq!(repaired.notes, notes, "{text}");
}

fn refusal(text: &str) -> RepairError {
    repair(text, &InputLimits::default()).expect_err(text)
}

#[test]
fn tidy_text_is_left_alone() {
    assert_repairs(
        r#" {"a": [1, -2.5e3, "x,]}", true, null]} "#,
        json!({"a": [1, -2500.0, "x,]}", true, null]}),
        &[],
    );
}

#[test]
fn blank_text_is_an_empty_object() {
    assert_repairs("", json!({}), &["blank read as {}"]);
    assert_repairs(" \n", json!({}), &["blank read as {}"]);
}

#[test]
fn one_comma_too_many_is_dropped() {
    assert_repairs(r#"{"a": [1, 2, ], }"#, json!({"a": [1, 2]}), &["trailing comma removed"]);
}

#[test]
fn single_quotes_become_double() {
    assert_repairs(r#"{'a': 'say "hi"'}"#, json!({"a": "say \"hi\""}), &["single quotes replaced"]);
    assert_repairs(
        r"{'a': 'it\'s, a \\ \n'}",
        json!({"a": "it's, a \\ \n"}),
        &["single quotes replaced"],
    );
}

#[test]
fn code_fences_are_taken_off() {
    assert_repairs("```json\n{\"a\": 1}\n```", json!({"a": 1}), &["code fence removed"]);
    assert_repairs("```\n{\"a\": \"```\"}\n```", json!({"a": "```"}), &["code fence removed"]);
    assert_repairs("```{\"a\": 1}```", json!({"a": 1}), &["code fence removed"]);
    assert_repairs("```true```", json!(true), &["code fence removed"]);
}

#[test]
fn bare_keys_are_quoted() {
    assert_repairs(
        "{city: \"Rome\", $zip_1: 5}",
        json!({"city": "Rome", "$zip_1": 5}),
        &["unquoted key quoted"],
    );
}

#[test]
fn a_second_encoding_is_undone() {
    assert_repairs(r#""{\"a\": 1}""#, json!({"a": 1}), &["doubled encoding undone"]);
    assert_repairs(
        r#"'{"a": 1}'"#,
        json!({"a": 1}),
        &["single quotes replaced", "doubled encoding undone"],
    );
    assert_repairs(r#""plain text""#, json!("plain text"), &[]);
}

#[test]
fn python_literals_are_translated() {
    assert_repairs(
        r#"{"a": True, "b": [None, False], "c": "True"}"#,
        json!({"a": true, "b": [null, false], "c": "True"}),
        &["Python literal replaced"],
    );
}

#[test]
fn typographic_quotes_are_replaced_where_they_are_clear() {
    assert_repairs("{“a”: “b, c”}", json!({"a": "b, c"}), &["typographic quotes replaced"]);
    assert_repairs("{\"a\": \"“b”\",}", json!({"a": "“b”"}), &["trailing comma removed"]);
    assert!(matches!(refusal("{“a”: “say “hi””}"), RepairError::Ambiguous { .. }));
}

#[test]
fn a_byte_order_mark_is_dropped() {
    assert_repairs("\u{feff}{}", json!({}), &["byte order mark removed"]);
}

#[test]
fn cut_off_text_is_never_mended() {
    for text in [
        "{", "{\"a\"", "{\"a\":", "{'a': 'b", "{'a': 1", "[1, 2,", "{a: 1,", "```json\n{\"a\": 1}",
        "```", "{“a”: “b", "\"abc", "{'a': 'b'",
    ] {
        assert_eq!(refusal(text), RepairError::Truncated, "{text}");
    }
}

#[test]
fn what_could_mean_two_things_is_refused_with_its_place() {
    assert_eq!(
        refusal("{'a': 'it's'}"),
        RepairError::Ambiguous {
            at: 10,
            message: "a quote inside a string in the same quotes".to_owned()
        }
    );
    for text in [
        "[1,,2]", "[,1]", "{,}", "{\"a\" 1}", "{\"a\": b}", "{a-b: 1}", "{\"a\": 1} {}",
        "{\"a\": 1]", "}", "hello", "[01]", "{\"a\": \"\\x\"}",
    ] {
        assert!(
            matches!(refusal(text), RepairError::Ambiguous { .. }),
            "{text}: {:?}",
            refusal(text)
        );
    }
}

#[test]
fn limits_and_doubled_keys_hold_for_mended_text_too() {
    assert!(matches!(
        refusal("{a: 1, 'a': 2}"),
        RepairError::Rejected(ParseError::DuplicateKey { .. })
    ));
    assert!(matches!(
        refusal(&"[".repeat(100_000)),
        RepairError::Rejected(ParseError::TooDeep { .. })
    ));
    assert!(matches!(
        refusal(&format!("[None,{}", "[".repeat(100_000))),
        RepairError::Rejected(ParseError::TooDeep { .. })
    ));
    assert!(matches!(
        refusal(&" ".repeat(2 << 20)),
        RepairError::Rejected(ParseError::TooLong { .. })
    ));
}
