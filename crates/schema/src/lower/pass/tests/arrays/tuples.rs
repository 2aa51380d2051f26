//! What becomes of elements that differ by place.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_losses_reported, run_pass};
use crate::{
    Dialect, Schema, Tape,
    lower::pass::tuples::{close_tuples, tuples_to_arrays, tuples_to_draft_7},
};

fn wider(words: &str) -> Vec<String> {
    vec![format!("/: prefixItems (wider), described as \"in this order: {words}\"")]
}

#[test]
fn elements_of_several_kinds_become_elements_of_any_of_them() {
    for (before, after, words) in [
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
            json!({"type": "array", "maxItems": 2, "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
            "a string, then an integer",
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 1}),
            json!({"minItems": 1, "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
            "a string, then each further item an integer",
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "description": "Words."}),
            json!({"description": "Words."}),
            "a string, then anything after that",
        ),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "null"}, {"type": "string"}], "maxItems": 3}),
            json!({"maxItems": 3, "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}),
            "a string, then null, then a string",
        ),
        (
            json!({"items": [{"type": "string"}, {"type": "boolean"}], "additionalItems": false, "maxItems": 5}),
            json!({"maxItems": 2, "items": {"anyOf": [{"type": "string"}, {"type": "boolean"}]}}),
            "a string, then a boolean",
        ),
        (
            json!({"prefixItems": [{"type": "number", "description": "Height."}, {}], "items": false}),
            json!({"maxItems": 2}),
            "a number (Height.), then anything",
        ),
    ] {
        let mut after = after;
        let text = match before.get("description").and_then(Value::as_str) {
            Some(text) => format!("{text} (in this order: {words})"),
            None => format!("In this order: {words}"),
        };
        after["description"] = json!(text);
        assert_eq!(
            run_pass(tuples_to_arrays, Dialect::OPENAI_STRICT, before),
            (after, wider(words))
        );
    }
}

#[test]
fn elements_of_one_kind_lose_nothing() {
    for (before, after) in [
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "string"}], "items": false, "maxItems": 4}),
            json!({"maxItems": 2, "items": {"type": "string"}}),
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "items": {"type": "string"}}),
            json!({"items": {"type": "string"}}),
        ),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "null"}], "maxItems": 1}),
            json!({"maxItems": 1, "items": {"type": "string"}}),
        ),
        (json!({"prefixItems": [{}, {}]}), json!({})),
        (json!({"type": "array", "items": false}), json!({"type": "array", "maxItems": 0})),
        (
            json!({"prefixItems": [{"type": "string"}, {"not": {}}, {"type": "null"}]}),
            json!({"maxItems": 1, "items": {"type": "string"}}),
        ),
        (
            json!({"items": {"type": "null"}, "additionalItems": false}),
            json!({"items": {"type": "null"}}),
        ),
    ] {
        assert_eq!(run_pass(tuples_to_arrays, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

#[test]
fn descriptions_of_elements_move_to_the_array() {
    let before = json!({
        "prefixItems": [{"type": "number", "description": "latitude"}, {"type": "number", "description": "longitude"}],
        "items": false,
        "minItems": 2
    });
    let words = "in this order: a number (latitude), then a number (longitude)";
    assert_eq!(
        run_pass(tuples_to_arrays, Dialect::OPENAI_STRICT, before),
        (
            json!({"minItems": 2, "maxItems": 2, "items": {"type": "number"}, "description": words.replacen('i', "I", 1)}),
            vec![format!("/: prefixItems (note), described as \"{words}\"")]
        )
    );
}

#[test]
fn elements_within_elements_are_found_and_names_are_not() {
    let before = json!({"properties": {"prefixItems": {"items": {"prefixItems": [{"type": "null"}], "items": false}}, "items": {}}});
    let after = json!({"properties": {"prefixItems": {"items": {"maxItems": 1, "items": {"type": "null"}}}, "items": {}}});
    assert_eq!(run_pass(tuples_to_arrays, Dialect::OPENAI_STRICT, before), (after, vec![]));
}

#[test]
fn draft_7_has_its_own_form() {
    for (before, after) in [
        (
            json!({"prefixItems": [{"type": "string"}], "items": {"type": "null"}}),
            json!({"items": [{"type": "string"}], "additionalItems": {"type": "null"}}),
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "items": false, "minItems": 1}),
            json!({"items": [{"type": "string"}], "additionalItems": false, "minItems": 1}),
        ),
        (
            json!({"prefixItems": [{"prefixItems": [{}]}], "additionalItems": false}),
            json!({"items": [{"items": [{}]}]}),
        ),
        (json!({"prefixItems": [], "items": {"type": "null"}}), json!({"items": {"type": "null"}})),
        (json!({"items": {"type": "null"}}), json!({"items": {"type": "null"}})),
        (
            json!({"items": [{"type": "null"}], "additionalItems": false}),
            json!({"items": [{"type": "null"}], "additionalItems": false}),
        ),
    ] {
        assert_eq!(run_pass(tuples_to_draft_7, Dialect::MISTRAL, before), (after, vec![]));
    }
}

#[test]
fn an_end_is_a_length() {
    for (before, after) in [
        (
            json!({"prefixItems": [{"type": "string"}, {}], "items": false}),
            json!({"prefixItems": [{"type": "string"}, {}], "maxItems": 2}),
        ),
        (
            json!({"prefixItems": [{}, {}], "items": false, "maxItems": 1}),
            json!({"prefixItems": [{}, {}], "maxItems": 1}),
        ),
        (json!({"items": {"not": {}}}), json!({"maxItems": 0})),
        (
            json!({"prefixItems": [{}], "items": {"type": "null"}}),
            json!({"prefixItems": [{}], "items": {"type": "null"}}),
        ),
    ] {
        assert_eq!(run_pass(close_tuples, Dialect::GEMINI, before), (after, vec![]));
    }
}

#[test]
fn the_verdict_is_as_reported() {
    let schemas = [
        json!({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
        json!({"prefixItems": [{"type": "string"}, {"type": "integer"}]}),
        json!({"prefixItems": [{"type": "string"}, {"type": "integer"}], "maxItems": 2}),
        json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 1}),
        json!({"prefixItems": [{"type": "string"}, {"type": "integer"}], "maxItems": 1.0}),
        json!({"prefixItems": [{"type": "string", "description": "a"}, {"type": "string", "default": "b"}], "items": false}),
        json!({"prefixItems": [{"type": "string"}, false, {"type": "integer"}]}),
        json!({"items": false}),
        json!({"prefixItems": [{}], "items": {"type": "integer"}}),
    ];
    let values = [
        json!(null),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!(["a", 1]),
        json!([1, "a"]),
        json!(["a", "b"]),
        json!(["a", 1, null]),
        json!(["a", 1, 2]),
        json!(["a", "b", 1]),
    ];
    assert_losses_reported(tuples_to_arrays, Dialect::OPENAI_STRICT, &schemas, &values);
    assert_losses_reported(close_tuples, Dialect::GEMINI, &schemas, &values);
    // Read as Draft 7, the other form is equivalent.
    for before in &schemas {
        let (mut after, _) = run_pass(tuples_to_draft_7, Dialect::MISTRAL, before.clone());
        after["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        let (before, after) = (Schema::trusted(before.clone()), Schema::check(after).unwrap());
        for value in &values {
            let tape = Tape::from_value(value);
            let (was, is) = (before.is_valid(tape.root()), after.is_valid(tape.root()));
            assert_eq!(was, is, "{value} in {before:?}");
        }
    }
}
