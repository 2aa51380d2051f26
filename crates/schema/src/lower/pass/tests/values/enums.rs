//! Enums.

use serde_json::json;

use crate::lower::pass::tests::assert_pass;
use crate::{
    Dialect,
    lower::{LIFT_KEYWORD, pass::enums::run},
};

#[test]
fn numbers_and_booleans_are_chosen_by_their_text() {
    assert_pass(
        run,
        Dialect::GEMINI_OPENAPI,
        json!({"properties": {
            "enum": {"type": "integer", "enum": [1, 2], "description": ""},
            "b": {"type": "boolean", "enum": [true]},
            "c": {"type": "number", "enum": [1, 1.5]},
        }}),
        json!({"properties": {
            "enum": {"type": "string", "enum": ["1", "2"], "description": "", (LIFT_KEYWORD): {"texts": [1, 2]}},
            "b": {"type": "string", "enum": ["true"], (LIFT_KEYWORD): {"texts": [true]}},
            "c": {"type": "string", "enum": ["1", "1.5"], (LIFT_KEYWORD): {"texts": [1, 1.5]}},
        }}),
        &[],
    );
}

#[test]
fn values_that_the_rest_of_the_schema_refuses_are_not_listed() {
    assert_pass(
        run,
        Dialect::PORTABLE,
        json!({"type": "integer", "enum": [1, 5, 5], "minimum": 3, "format": "int32"}),
        json!({"type": "string", "enum": ["5"], (LIFT_KEYWORD): {"texts": [5]}}),
        &[],
    );
}

#[test]
fn both_booleans_are_no_choice_and_null_needs_none() {
    assert_pass(
        run,
        Dialect::PORTABLE,
        json!({"anyOf": [{"type": "boolean", "enum": [false, true]}, {"type": "null", "enum": [null]}]}),
        json!({"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
        &[],
    );
}

#[test]
fn a_text_that_already_means_itself_stands_for_nothing_else() {
    assert_pass(
        run,
        Dialect::PORTABLE,
        json!({"anyOf": [{"type": "integer", "enum": [1, 2]}, {"type": "string", "enum": ["1"]}]}),
        json!({"anyOf": [{"type": "integer", "description": "One of 1, 2"}, {"type": "string", "enum": ["1"]}]}),
        &["/anyOf/0: enum (wider), described as \"one of 1, 2\""],
    );
    assert_pass(
        run,
        Dialect::PORTABLE,
        json!({"anyOf": [{"type": "integer", "enum": [1]}, {"type": "string"}, {"type": "string", "enum": ["a"]}]}),
        json!({"anyOf": [{"type": "integer", "description": "Always 1"}, {"type": "string"}, {"type": "string", "enum": ["a"]}]}),
        &["/anyOf/0: enum (wider), described as \"always 1\""],
    );
    assert_pass(
        run,
        Dialect::PORTABLE,
        json!({"anyOf": [{"type": "integer", "enum": [1]}, {"type": "string", "enum": ["a"]}]}),
        json!({"anyOf": [{"type": "string", "enum": ["1"], (LIFT_KEYWORD): {"texts": [1]}}, {"type": "string", "enum": ["a"]}]}),
        &[],
    );
}

#[test]
fn an_empty_text_cannot_be_listed() {
    assert_pass(
        run,
        Dialect::GEMINI_OPENAPI,
        json!({"properties": {"a": {"type": "string", "enum": ["", "x"], "description": "Mode."}}}),
        json!({"properties": {"a": {"type": "string", "description": "Mode. (one of \"\", \"x\")"}}}),
        &["/properties/a: enum (wider), described as \"one of \"\", \"x\"\""],
    );
}

#[test]
fn arrays_and_objects_are_described_where_only_primitives_are_listed() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({"anyOf": [
            {"type": "array", "items": {}, "enum": [[1], [2]]},
            {"type": "object", "enum": [{"a": 1}]},
            {"type": "integer", "enum": [1]},
        ]}),
        json!({"anyOf": [
            {"type": "array", "items": {}, "description": "One of [1], [2]"},
            {"type": "object", "description": "Always {\"a\":1}"},
            {"type": "integer", "enum": [1]},
        ]}),
        &[
            "/anyOf/0: enum (wider), described as \"one of [1], [2]\"",
            "/anyOf/1: enum (wider), described as \"always {\"a\":1}\"",
        ],
    );
}
