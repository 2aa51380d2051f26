//! Bounds.

use serde_json::json;

use crate::lower::pass::tests::assert_pass;
use crate::{
    Dialect,
    lower::pass::bounds::{limit_min_items_to_one, run},
};

#[test]
fn exclusive_bounds_of_integers_become_inclusive() {
    for (before, after) in [
        (json!({"exclusiveMinimum": 0}), json!({"minimum": 1})),
        (json!({"exclusiveMinimum": 2.5}), json!({"minimum": 3})),
        (json!({"exclusiveMinimum": -2.5}), json!({"minimum": -2})),
        (json!({"exclusiveMaximum": 2.5}), json!({"maximum": 2})),
        (json!({"exclusiveMaximum": 3.0}), json!({"maximum": 2})),
        (json!({"exclusiveMaximum": i64::MIN}), json!({"exclusiveMaximum": i64::MIN})),
        (json!({"exclusiveMinimum": i64::MAX}), json!({"minimum": 1_u64 << 63})),
        (json!({"exclusiveMinimum": u64::MAX}), json!({"exclusiveMinimum": u64::MAX})),
        (json!({"exclusiveMinimum": 1e300}), json!({"exclusiveMinimum": 1e300})),
        (json!({"minimum": 5, "exclusiveMinimum": 2}), json!({"minimum": 5})),
        (json!({"minimum": 1, "exclusiveMinimum": 2}), json!({"minimum": 3})),
        (json!({"maximum": 1.5, "exclusiveMaximum": 2}), json!({"maximum": 1})),
        (
            json!({"minimum": 1e300, "exclusiveMinimum": 2}),
            json!({"minimum": 1e300, "exclusiveMinimum": 2}),
        ),
    ] {
        let (mut before, mut after) = (before, after);
        before["type"] = json!("integer");
        after["type"] = json!("integer");
        assert_pass(run, Dialect::GEMINI, before, after, &[]);
    }
}

#[test]
fn fractions_that_bind_integers_are_rounded_to_what_they_mean() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "integer", "minimum": 1.5, "maximum": 7.5}),
        json!({"type": "integer", "minimum": 2, "maximum": 7}),
        &[],
    );
}

#[test]
fn exclusive_bounds_stay_where_they_are_read_and_where_numbers_have_them() {
    let integer = json!({"type": "integer", "exclusiveMinimum": 0});
    assert_pass(run, Dialect::OPENAI_STRICT, integer.clone(), integer, &[]);
    let number = json!({"type": "number", "exclusiveMinimum": 0});
    assert_pass(run, Dialect::GEMINI, number.clone(), number, &[]);
}

#[test]
fn bounds_that_bind_nothing_go() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "minProperties": 0, "properties": {
            "minLength": {"type": "string", "minLength": 0},
            "minItems": {"type": "array", "items": {}, "minItems": 0, "uniqueItems": false},
        }}),
        json!({"type": "object", "properties": {
            "minLength": {"type": "string"},
            "minItems": {"type": "array", "items": {}},
        }}),
        &[],
    );
}

#[test]
fn a_property_that_is_called_like_a_bound_is_none() {
    let before = json!({"type": "object", "properties": {"exclusiveMinimum": {"type": "integer"}, "minimum": {"type": "integer", "minimum": 0}}});
    assert_pass(run, Dialect::GEMINI, before.clone(), before, &[]);
}

#[test]
fn more_than_one_item_is_described() {
    assert_pass(
        limit_min_items_to_one,
        Dialect::ANTHROPIC_STRICT,
        json!({"type": "object", "properties": {
            "a": {"type": "array", "items": {}, "minItems": 3, "description": "Points."},
            "b": {"type": "array", "items": {}, "minItems": 1},
        }}),
        json!({"type": "object", "properties": {
            "a": {"type": "array", "items": {}, "minItems": 1, "description": "Points. (at least 3 items)"},
            "b": {"type": "array", "items": {}, "minItems": 1},
        }}),
        &["/properties/a: minItems (wider), described as \"at least 3 items\""],
    );
}
