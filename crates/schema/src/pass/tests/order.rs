//! The order of properties.

use serde_json::json;

use super::{marked, pair};
use crate::{Dialect, lower::LIFT, pass::order::run};

#[test]
fn two_properties_have_an_order() {
    pair(
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
    pair(run, Dialect::GEMINI, before.clone(), before, &[]);
}

#[test]
fn nested_objects_have_their_own() {
    pair(
        run,
        Dialect::GEMINI_OPENAPI,
        json!({"anyOf": [{"type": "array", "items": {"type": "object", "properties": {"x": {}, "propertyOrdering": {}}}}]}),
        json!({"anyOf": [{"type": "array", "items": {"type": "object", "properties": {"x": {}, "propertyOrdering": {}}, "propertyOrdering": ["x", "propertyOrdering"]}}]}),
        &[],
    );
}

#[test]
fn an_order_that_was_there_is_replaced() {
    pair(
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
    pair(run, Dialect::GEMINI, before.clone(), before, &[]);
}

#[test]
fn marks_stay() {
    let (after, _) = marked(
        run,
        Dialect::GEMINI,
        json!({"properties": {"a": {(LIFT): {"name": "b"}}, "b": {}}}),
    );
    assert_eq!(
        after,
        json!({"properties": {"a": {(LIFT): {"name": "b"}}, "b": {}}, "propertyOrdering": ["a", "b"]})
    );
}
