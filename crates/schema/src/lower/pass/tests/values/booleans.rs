//! What becomes of `true` and `false`.

use serde_json::json;

use crate::lower::pass::tests::{assert_losses_reported, pass_error, run_pass};
use crate::{Dialect, lower::pass::booleans::run};

#[test]
fn booleans_become_objects() {
    for (before, after) in [
        (json!(true), json!({})),
        (
            json!({"properties": {"a": true, "b": false}}),
            json!({"properties": {"a": {}, "b": {"not": {}}}}),
        ),
        (
            json!({"anyOf": [true, {"allOf": [false]}]}),
            json!({"anyOf": [{}, {"allOf": [{"not": {}}]}]}),
        ),
        (
            json!({"prefixItems": [true, false], "contains": true, "not": true}),
            json!({"prefixItems": [{}, {"not": {}}], "contains": {}, "not": {}}),
        ),
        (json!({"if": false, "then": true, "not": false}), json!({"if": {"not": {}}, "then": {}})),
        (
            json!({"$defs": {"a": true}, "dependentSchemas": {"a": false}}),
            json!({"$defs": {"a": {}}, "dependentSchemas": {"a": {"not": {}}}}),
        ),
    ] {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

#[test]
fn what_is_open_need_not_say_so_and_what_is_closed_stays_closed() {
    for (before, after) in [
        (json!({"type": "object", "additionalProperties": true}), json!({"type": "object"})),
        (
            json!({"items": {"additionalProperties": false, "unevaluatedProperties": true}}),
            json!({"items": {"additionalProperties": false}}),
        ),
        (
            json!({"prefixItems": [{"type": "null"}], "items": true, "unevaluatedItems": true}),
            json!({"prefixItems": [{"type": "null"}]}),
        ),
        (json!({"items": false}), json!({"items": false})),
    ] {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

#[test]
fn what_marks_everything_as_evaluated_stays() {
    for (before, after) in [
        (
            json!({"additionalProperties": true, "unevaluatedProperties": false}),
            json!({"additionalProperties": {}, "unevaluatedProperties": false}),
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"additionalProperties": true}}, "unevaluatedProperties": false}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"additionalProperties": {}}}, "unevaluatedProperties": false}),
        ),
        (
            json!({"items": true, "unevaluatedItems": {"type": "null"}, "additionalProperties": true}),
            json!({"items": {}, "unevaluatedItems": {"type": "null"}}),
        ),
    ] {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

#[test]
fn data_and_names_are_left_alone() {
    let schema = json!({
        "properties": {
            "items": {"type": "string"},
            "not": {"default": {"properties": {"a": true}}},
            "additionalProperties": {"enum": [true, false], "uniqueItems": true, "const": true}
        },
        "additionalProperties": false
    });
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, schema.clone()), (schema, vec![]));
}

#[test]
fn a_root_that_refuses_everything_cannot_be_lowered() {
    assert_eq!(
        pass_error(run, Dialect::OPENAI_STRICT, json!(false)).to_string(),
        "the schema admits no arguments at all"
    );
}

#[test]
fn the_verdict_is_the_same() {
    let schemas = [
        json!(true),
        json!({"properties": {"a": false}, "not": false}),
        json!({"anyOf": [false, {"required": ["a"]}], "additionalProperties": true}),
        json!({"properties": {"a": {}}, "anyOf": [{"additionalProperties": true, "required": ["b"]}, {"required": ["a"]}], "unevaluatedProperties": false}),
        json!({"prefixItems": [true], "items": true, "unevaluatedItems": false}),
        json!({"prefixItems": [true], "items": false}),
    ];
    let values = [
        json!(null),
        json!({}),
        json!({"a": 1}),
        json!({"b": 1}),
        json!({"a": 1, "b": 2}),
        json!([]),
        json!([1]),
        json!([1, 2]),
    ];
    assert_losses_reported(run, Dialect::OPENAI_STRICT, &schemas, &values);
}
