//! Null in each of its forms.

use serde_json::json;

use crate::lower::pass::tests::{assert_pass, run_pass_with_marks};
use crate::{
    Dialect,
    lower::{LIFT_KEYWORD, pass::nulls::run},
};

#[test]
fn a_scalar_or_null_has_two_types() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"properties": {"type": {"description": "Name.", "anyOf": [{"type": "string", "pattern": "a"}, {"type": "null"}]}}}),
        json!({"properties": {"type": {"description": "Name.", "type": ["string", "null"], "pattern": "a"}}}),
        &[],
    );
}

#[test]
fn an_enum_with_two_types_lists_null() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"anyOf": [{"type": "null", "description": "none"}, {"type": "string", "enum": ["a"], "description": "Unit."}], "description": ""}),
        json!({"description": "Unit. (null: none)", "type": ["string", "null"], "enum": ["a", null]}),
        &[],
    );
}

#[test]
fn objects_arrays_and_larger_unions_keep_a_branch() {
    for before in [
        json!({"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]}),
        json!({"anyOf": [{"type": "array", "items": {}}, {"type": "null"}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
        json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}),
        json!({"type": "null"}),
    ] {
        assert_pass(run, Dialect::OPENAI_STRICT, before.clone(), before, &[]);
    }
}

#[test]
fn where_null_is_only_a_branch_nothing_changes() {
    let before = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    assert_pass(run, Dialect::DEEPSEEK_STRICT, before.clone(), before, &[]);
}

#[test]
fn null_becomes_a_flag() {
    assert_pass(
        run,
        Dialect::GEMINI_OPENAPI,
        json!({"properties": {
            "a": {"anyOf": [{"type": "object", "properties": {"b": {"type": "string"}}, "description": "Where"}, {"type": "null"}], "description": "Place"},
            "b": {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]},
            "c": {"type": "null", "description": "Nothing."},
        }}),
        json!({"properties": {
            "a": {"description": "Place. Where", "type": "object", "properties": {"b": {"type": "string"}}, "nullable": true},
            "b": {"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": true},
            "c": {"description": "Nothing.", "type": "string", "enum": ["null"], (LIFT_KEYWORD): {"texts": [null]}},
        }}),
        &[],
    );
}

#[test]
fn two_nulls_are_one() {
    let nulls = || json!({"anyOf": [{"type": "null"}, {"type": "null", "description": "Nothing."}, {"type": "string"}]});
    assert_pass(
        run,
        Dialect::GEMINI_OPENAPI,
        nulls(),
        json!({"type": "string", "nullable": true}),
        &[],
    );
    let mut only = nulls();
    only["anyOf"].as_array_mut().unwrap().pop();
    assert_pass(
        run,
        Dialect::PORTABLE,
        json!({"type": "object", "properties": {"a": only}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["null"], (LIFT_KEYWORD): {"texts": [null]}}}}),
        &[],
    );
}

#[test]
fn where_there_is_no_null_a_property_is_left_out_if_it_may_be() {
    let maybe = || json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    assert_pass(
        run,
        Dialect::PORTABLE,
        json!({"type": "object", "properties": {"a": maybe(), "b": maybe(), "c": {"type": "array", "items": maybe()}}, "required": ["b", "c"]}),
        json!({"type": "object", "properties": {
            "a": {"type": "string", (LIFT_KEYWORD): {"never_null": true}},
            "b": {"type": "string"},
            "c": {"type": "array", "items": {"type": "string"}},
        }, "required": ["b", "c"]}),
        &[
            "/properties/a: null (note)",
            "/properties/b: null (narrower)",
            "/properties/c/items: null (narrower)",
        ],
    );
}

#[test]
fn marks_of_property_and_value_come_together() {
    let (after, _) = run_pass_with_marks(
        run,
        Dialect::OPENAI_STRICT,
        json!({"anyOf": [{"type": "string", "enum": ["1"], (LIFT_KEYWORD): {"texts": [1]}}, {"type": "null"}], (LIFT_KEYWORD): {"absent": true}}),
    );
    assert_eq!(
        after,
        json!({"type": ["string", "null"], "enum": ["1", null], (LIFT_KEYWORD): {"absent": true, "texts": [1]}})
    );
}
