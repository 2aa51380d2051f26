//! Schemas that alone would use more than all strict tools share.

use serde_json::{Map, Value, json};

use crate::lower::pass::tests::{assert_pass, pass_error, run_pass};
use crate::{
    Dialect,
    lower::{LIFT_KEYWORD, pass::strict_budget::run},
};

/// Closed objects with as many properties, none of them required.
fn optional(count: usize, subschema: &Value) -> Value {
    let properties: Map<String, Value> =
        (0..count).map(|at| (format!("p{at}"), subschema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": [], "additionalProperties": false})
}

fn absent(subschema: &str) -> Value {
    json!({"anyOf": [{"type": subschema}, {"type": "null"}], (LIFT_KEYWORD): {"absent": true}})
}

#[test]
fn what_fits_stays() {
    let union = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    for schema in
        [optional(24, &json!({"type": "string"})), optional(16, &union), optional(0, &union)]
    {
        assert_pass(run, Dialect::ANTHROPIC_STRICT, schema.clone(), schema, &[]);
    }
    let large = optional(40, &union);
    assert_pass(run, Dialect::OPENAI_STRICT, large.clone(), large, &[]);
}

#[test]
fn what_may_be_left_out_beyond_that_may_be_null() {
    let mut after = optional(26, &json!({"type": "string"}));
    for name in ["p0", "p1"] {
        after["properties"][name] = absent("string");
    }
    after["required"] = json!(["p0", "p1"]);
    assert_pass(
        run,
        Dialect::ANTHROPIC_STRICT,
        optional(26, &json!({"type": "string"})),
        after,
        &[],
    );
}

#[test]
fn what_is_a_union_already_is_required_first() {
    let mut before = optional(25, &json!({"type": "string"}));
    before["properties"]["p24"] = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    let mut after = before.clone();
    after["properties"]["p24"] = json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], (LIFT_KEYWORD): {"absent": true}});
    after["required"] = json!(["p24"]);
    assert_pass(run, Dialect::ANTHROPIC_STRICT, before, after, &[]);
}

#[test]
fn then_the_heaviest_property_is_text() {
    let mut before = optional(1, &optional(50, &json!({"type": "string"})));
    before["properties"]["p1"] = optional(2, &json!({"type": "string"}));
    before["required"] = json!(["p0", "p1"]);
    let (after, losses) = run_pass(run, Dialect::ANTHROPIC_STRICT, before);
    assert_eq!(after["properties"]["p0"]["type"], "string");
    assert_eq!(after["properties"]["p0"][LIFT_KEYWORD], json!({"json": true}));
    assert_eq!(after["properties"]["p1"]["type"], "object");
    assert_eq!(losses.len(), 1);
    assert!(
        losses[0].starts_with("/properties/p0: type (wider), described as \"an object with `p0`, ")
            && losses[0].ends_with(", as JSON text\""),
        "{losses:?}"
    );
}

#[test]
fn unions_too_many_are_text_one_by_one() {
    let union = json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]});
    let mut before = optional(18, &union);
    before["required"] = before["properties"].as_object().unwrap().keys().cloned().collect();
    let mut after = before.clone();
    for name in ["p0", "p1"] {
        after["properties"][name] = json!({"type": "string", "description": "An integer or a boolean, as JSON text", (LIFT_KEYWORD): {"json": true}});
    }
    assert_pass(
        run,
        Dialect::ANTHROPIC_STRICT,
        before,
        after,
        &[
            "/properties/p0: type (wider), described as \"an integer or a boolean, as JSON text\"",
            "/properties/p1: type (wider), described as \"an integer or a boolean, as JSON text\"",
        ],
    );
}

#[test]
fn what_has_nothing_heavy_in_it_is_refused() {
    assert_eq!(
        pass_error(run, Dialect::ANTHROPIC_STRICT, optional(60, &json!({"type": "string"})))
            .to_string(),
        "it has 44 optional parameters and 16 unions, and strict tools may have 24 and 16"
    );
}
