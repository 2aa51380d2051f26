//! Properties that may be left out.

use serde_json::json;

use crate::lower::pass::tests::{assert_pass, run_pass_with_marks};
use crate::{
    Dialect,
    lower::{LIFT_KEYWORD, pass::optional_as_null::run},
};

#[test]
fn what_may_be_left_out_may_be_null() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {"required": {"type": "string", "description": "Name."}, "b": {"type": "integer", "minimum": 0}}, "required": ["b"], "additionalProperties": false}),
        json!({"type": "object", "properties": {
            "required": {"description": "Name.", "anyOf": [{"type": "string"}, {"type": "null"}], (LIFT_KEYWORD): {"absent": true}},
            "b": {"type": "integer", "minimum": 0},
        }, "required": ["required", "b"], "additionalProperties": false}),
        &[],
    );
}

#[test]
fn a_union_gets_one_more_branch() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": ""}}}),
        json!({"type": "object", "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "description": "", (LIFT_KEYWORD): {"absent": true}},
        }, "required": ["a"]}),
        &[],
    );
}

#[test]
fn a_null_of_its_own_becomes_the_same_as_leaving_it_out() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "b": {"type": "null"},
            "c": {},
        }, "required": []}),
        json!({"type": "object", "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "null"}], (LIFT_KEYWORD): {"absent": true}},
            "b": {"type": "null", (LIFT_KEYWORD): {"absent": true}},
            "c": {(LIFT_KEYWORD): {"absent": true}},
        }, "required": ["a", "b", "c"]}),
        &["/properties/a: null (note)", "/properties/b: null (note)", "/properties/c: null (note)"],
    );
}

#[test]
fn a_reference_is_wrapped() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/A", "description": "The next."}}, "$defs": {"A": {"type": "object", "properties": {"n": {"$ref": "#/$defs/A"}}}}}),
        json!({"type": "object", "properties": {
            "next": {"description": "The next.", "anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], (LIFT_KEYWORD): {"absent": true}},
        }, "$defs": {"A": {"type": "object", "properties": {
            "n": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], (LIFT_KEYWORD): {"absent": true}},
        }, "required": ["n"]}}, "required": ["next"]}),
        &[],
    );
}

#[test]
fn marks_of_the_property_go_out_and_marks_of_the_value_stay_in() {
    let (after, losses) = run_pass_with_marks(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {"a": {"type": "string", (LIFT_KEYWORD): {"name": "a.b", "json": true}}}}),
    );
    assert_eq!(
        after,
        json!({"type": "object", "properties": {"a": {
            "anyOf": [{"type": "string", (LIFT_KEYWORD): {"json": true}}, {"type": "null"}],
            (LIFT_KEYWORD): {"name": "a.b", "absent": true},
        }}, "required": ["a"]})
    );
    assert!(losses.is_empty());
}
