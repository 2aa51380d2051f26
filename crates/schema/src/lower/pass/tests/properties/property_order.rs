//! The order of properties.

use serde_json::json;

use crate::lower::pass::tests::{assert_pass, run_pass_with_marks};
use crate::{
    Dialect,
    lower::{LIFT_KEYWORD, pass::property_order::run},
};

#[test]
fn two_properties_have_an_order() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({"type": "object", "properties": {"b": {}, "a": {}}}),
        json!({"type": "object", "properties": {"b": {}, "a": {}}, "propertyOrdering": ["b", "a"]}),
        &[],
    );
}

#[test]
fn one_or_none_has_not() {
    let before =
        json!({"type": "object", "properties": {"a": {"type": "object", "properties": {}}}});
    assert_pass(run, Dialect::GEMINI, before.clone(), before, &[]);
}

#[test]
fn nested_objects_have_their_own() {
    assert_pass(
        run,
        Dialect::GEMINI_OPENAPI,
        json!({"anyOf": [{"type": "array", "items": {"type": "object", "properties": {"x": {}, "propertyOrdering": {}}}}]}),
        json!({"anyOf": [{"type": "array", "items": {"type": "object", "properties": {"x": {}, "propertyOrdering": {}}, "propertyOrdering": ["x", "propertyOrdering"]}}]}),
        &[],
    );
}

#[test]
fn an_order_that_was_there_is_replaced() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({"properties": {"b": {}, "a": {}}, "propertyOrdering": ["gone"]}),
        json!({"properties": {"b": {}, "a": {}}, "propertyOrdering": ["b", "a"]}),
        &[],
    );
}

#[test]
fn a_property_called_properties_is_a_schema() {
    let before = json!({"type": "object", "properties": {"properties": {"type": "string", "description": ""}}});
    assert_pass(run, Dialect::GEMINI, before.clone(), before, &[]);
}

#[test]
fn marks_stay() {
    let (after, _) = run_pass_with_marks(
        run,
        Dialect::GEMINI,
        json!({"properties": {"a": {(LIFT_KEYWORD): {"name": "b"}}, "b": {}}}),
    );
    assert_eq!(
        after,
        json!({"properties": {"a": {(LIFT_KEYWORD): {"name": "b"}}, "b": {}}, "propertyOrdering": ["a", "b"]})
    );
}
