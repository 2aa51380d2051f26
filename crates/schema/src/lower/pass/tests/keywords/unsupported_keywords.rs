//! Keywords that are not read.

use serde_json::json;

use crate::lower::pass::tests::{assert_pass, run_pass, run_pass_with_marks};
use crate::{
    Dialect,
    lower::{LIFT_KEYWORD, pass::unsupported_keywords::run},
};

#[test]
fn assertions_are_described_and_annotations_dropped() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "string", "minLength": 3, "maxLength": 1, "x-note": 1, "title": "T", "default": "a", "description": "Name."}),
        json!({"type": "string", "description": "Name. (at least 3 characters; at most 1 character)"}),
        &[
            "/: minLength (wider), described as \"at least 3 characters\"",
            "/: maxLength (wider), described as \"at most 1 character\"",
        ],
    );
}

#[test]
fn a_property_may_be_called_like_a_keyword() {
    assert_pass(
        run,
        Dialect::OLLAMA,
        json!({"type": "object", "properties": {"minLength": {"type": "string", "minLength": 1}, "title": {"type": "string", "title": "T"}}}),
        json!({"type": "object", "properties": {"minLength": {"type": "string", "description": "Not empty"}, "title": {"type": "string"}}}),
        &["/properties/minLength: minLength (wider), described as \"not empty\""],
    );
}

#[test]
fn that_an_object_was_closed_needs_no_words() {
    assert_pass(
        run,
        Dialect::OLLAMA,
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        &["/: additionalProperties (note)"],
    );
}

#[test]
fn an_open_object_is_more_than_a_note_where_it_makes_others_invalid() {
    let closed = json!({"anyOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false});
    let (_, losses) =
        run_pass(run, Dialect::MISTRAL, json!({"properties": {"x": closed, "y": {"not": closed}}}));
    assert_eq!(
        losses,
        [
            "/properties/x: unevaluatedProperties (note)",
            "/properties/y/not: unevaluatedProperties (narrower)",
            "/properties/y/not: unevaluatedProperties (wider)",
        ]
    );
}

#[test]
fn a_map_is_described() {
    assert_pass(
        run,
        Dialect::OLLAMA,
        json!({"anyOf": [
            {"type": "object", "additionalProperties": {"type": "integer"}},
            {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        ]}),
        json!({"anyOf": [
            {"type": "object", "description": "Each property is an integer"},
            {"type": "object", "properties": {"a": {}}, "description": "Each further property is an array, each item is a string"},
        ]}),
        &[
            "/anyOf/0: additionalProperties (wider), described as \"each property is an integer\"",
            "/anyOf/1: additionalProperties (wider), described as \"each further property is an array, each item is a string\"",
        ],
    );
}

#[test]
fn what_binds_nothing_goes_in_silence() {
    assert_pass(
        run,
        Dialect::OLLAMA,
        json!({"type": "array", "minItems": 0, "uniqueItems": false, "items": {"type": "object", "minProperties": 0, "additionalProperties": {}, "patternProperties": {}}}),
        json!({"type": "array", "items": {"type": "object"}}),
        &[],
    );
}

#[test]
fn what_only_a_pattern_admitted_is_not_refused() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({"type": "object", "properties": {}, "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {}, "description": "Each property whose name matches `^x` is an integer"}),
        &[
            "/: patternProperties (wider), described as \"each property whose name matches `^x` is an integer\"",
            "/: additionalProperties (note)",
        ],
    );
}

#[test]
fn unevaluated_properties_are_the_additional_ones_where_nothing_else_evaluates() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({"type": "object", "properties": {"a": {}}, "unevaluatedProperties": false}),
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
        &[],
    );
}

#[test]
fn under_a_negation_more_is_less() {
    assert_pass(
        run,
        Dialect::MISTRAL,
        json!({"not": {"type": ["array", "null"], "items": [{"type": "string"}], "unevaluatedItems": false}}),
        json!({"not": {"type": ["array", "null"], "items": [{"type": "string"}], "description": "No further items"}}),
        &[
            "/not: unevaluatedItems (narrower)",
            "/not: unevaluatedItems (wider), described as \"no further items\"",
        ],
    );
}

#[test]
fn none_of_an_item_need_be_contained_without_the_word_for_it() {
    assert_pass(
        run,
        Dialect::MISTRAL,
        json!({"contains": {"type": "string"}, "minContains": 0}),
        json!({}),
        &[],
    );
}

#[test]
fn formats_are_given_up_as_in_their_own_pass() {
    assert_pass(
        run,
        Dialect::OLLAMA,
        json!({"anyOf": [{"type": "string", "format": "email"}, {"type": "integer", "format": "int64"}, {"type": "string", "format": "phone"}]}),
        json!({"anyOf": [{"type": "string", "description": "An email address"}, {"type": "integer"}, {"type": "string", "description": "In the format `phone`"}]}),
        &[
            "/anyOf/0: format (wider), described as \"an email address\"",
            "/anyOf/2: format (note), described as \"in the format `phone`\"",
        ],
    );
}

#[test]
fn marks_stay() {
    let before = json!({"type": "string", (LIFT_KEYWORD): {"json": true}});
    assert_eq!(run_pass_with_marks(run, Dialect::PORTABLE, before.clone()), (before, Vec::new()));
}
