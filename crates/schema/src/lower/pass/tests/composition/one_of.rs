//! Where `oneOf` and `anyOf` are equivalent, and where not.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_losses_reported, run_pass};
use crate::{Dialect, lower::pass::one_of::run};

fn converted(branches: Value) -> Vec<String> {
    let (after, losses) = run_pass(run, Dialect::OPENAI_STRICT, json!({"oneOf": branches.clone()}));
    assert_eq!(after["anyOf"], branches);
    losses
}

#[test]
fn alternatives_that_no_value_fits_twice_lose_nothing() {
    for branches in [
        json!([{"type": "string"}]),
        json!([{"type": "string"}, {"type": ["integer", "null"]}, {"type": "object"}]),
        json!([{"const": "a", "description": "A."}, {"enum": ["b", "c"]}, {"const": 1}]),
        // Disjoint by a discriminator.
        json!([
            {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"enum": ["b", "c"]}}, "required": ["kind"]}
        ]),
        // The tag of one is optional; without it, the other refuses.
        json!([
            {"type": "object", "properties": {"kind": {"const": "a"}}},
            {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}
        ]),
        // Disjoint by their only property.
        json!([
            {"type": "object", "properties": {"card": {}}, "required": ["card"], "additionalProperties": false},
            {"type": "object", "properties": {"cash": {}}, "required": ["cash"], "additionalProperties": false}
        ]),
        json!([{"const": "Off"}, {"type": "object", "properties": {"On": {}}, "required": ["On"], "additionalProperties": false}]),
        json!([{"type": "integer", "exclusiveMaximum": 5}, {"type": "number", "minimum": 5}]),
        json!([{"type": "string", "maxLength": 2}, {"type": "string", "minLength": 3}]),
        json!([{"type": "array", "items": {"type": "string"}, "minItems": 1}, {"type": "array", "items": {"type": "integer"}}]),
        json!([{"type": "array", "prefixItems": [{}], "items": false}, {"type": "array", "minItems": 2}]),
        json!([{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "integer"}]),
    ] {
        assert_eq!(converted(branches), Vec::<String>::new());
    }
}

#[test]
fn alternatives_that_a_value_might_fit_twice_are_reported() {
    for branches in [
        json!([{"type": "integer"}, {"type": "number"}]),
        json!([{"type": ["string", "null"]}, {"type": ["integer", "null"]}]),
        json!([{"enum": ["a", 1]}, {"enum": ["b", 1.0]}]),
        json!([{"required": ["a"]}, {"required": ["b"]}]),
        // Neither has a type.
        json!([
            {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "b"}}, "required": ["kind"]}
        ]),
        // Both tags are optional.
        json!([
            {"type": "object", "properties": {"kind": {"const": "a"}}},
            {"type": "object", "properties": {"kind": {"const": "b"}}}
        ]),
        // A pattern may admit what the others refuse.
        json!([
            {"type": "object", "required": ["ab"]},
            {"type": "object", "patternProperties": {"^a": {}}, "additionalProperties": false}
        ]),
        json!([{"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "integer"}}]),
        json!([{"type": "integer", "maximum": 5}, {"type": "integer", "minimum": 5}]),
        json!([{"type": "integer", "maximum": 9007199254740992u64}, {"type": "integer", "minimum": 9007199254740993u64}]),
    ] {
        assert_eq!(
            converted(branches),
            ["/: oneOf (wider), described as \"exactly one of the alternatives\""]
        );
    }
}

#[test]
fn what_stands_around_the_alternatives_counts() {
    let before = json!({
        "type": "object",
        "required": ["kind"],
        "oneOf": [{"properties": {"kind": {"const": "a"}}}, {"properties": {"kind": {"const": "b"}}}]
    });
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before).1, Vec::<String>::new());
}

#[test]
fn references_are_followed() {
    let before = json!({
        "oneOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#/$defs/node"}],
        "$defs": {
            "leaf": {"type": "object", "properties": {"kind": {"const": "leaf"}}, "required": ["kind"]},
            "node": {"type": "object", "properties": {"kind": {"const": "node"}, "next": {"$ref": "#/$defs/node"}}, "required": ["kind"]}
        }
    });
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before).1, Vec::<String>::new());
    let circle = json!({"oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, circle).1.len(), 1);
}

#[test]
fn two_unions_become_one() {
    let before = json!({
        "anyOf": [{"minimum": 0}, {"multipleOf": 2}],
        "oneOf": [{"type": "integer"}, {"type": "string"}]
    });
    let after = json!({"anyOf": [
        {"minimum": 0, "type": "integer"},
        {"minimum": 0, "type": "string"},
        {"multipleOf": 2, "type": "integer"},
        {"multipleOf": 2, "type": "string"}
    ]});
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
}

#[test]
fn what_is_refused_stays_as_it_is() {
    let schema = json!({
        "not": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        "if": {"oneOf": [{}]},
        "properties": {"oneOf": {"type": "string"}, "not": {"oneOf": [{"type": "string"}]}}
    });
    let mut after = schema.clone();
    after["properties"]["not"] = json!({"anyOf": [{"type": "string"}]});
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, schema), (after, vec![]));
}

#[test]
fn the_verdict_is_as_reported() {
    let schemas = [
        json!({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]}),
        json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}, "unevaluatedProperties": false}),
        json!({"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "properties": {"b": {}}, "additionalProperties": false}]}),
        json!({"oneOf": [{"type": "array", "minItems": 1, "prefixItems": [{"type": "string"}]}, {"type": "array", "items": {"type": "integer"}}]}),
        json!({"anyOf": [{"minimum": 2}, {"type": "object"}], "oneOf": [{"type": "integer"}, {"type": "number"}, {"required": ["a"]}]}),
        json!({"not": {"oneOf": [{"type": "integer"}, {"type": "number"}]}}),
    ];
    let values = [
        json!(null),
        json!(1),
        json!(2),
        json!(2.5),
        json!({}),
        json!({"a": 1}),
        json!({"b": 1}),
        json!({"a": 1, "b": 1}),
        json!({"c": 1, "a": 1}),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!(["a", 1]),
    ];
    assert_losses_reported(run, Dialect::OPENAI_STRICT, &schemas, &values);
}

#[test]
fn many_alternatives_are_compared_in_reasonable_time() {
    let constants: Vec<Value> = (0..5000)
        .map(|number| json!({"const": format!("v{number}"), "description": "One."}))
        .collect();
    assert_eq!(converted(Value::Array(constants)), Vec::<String>::new());
    let tagged: Vec<Value> = (0..100)
        .map(|number| json!({"type": "object", "properties": {"kind": {"const": number}}, "required": ["kind"]}))
        .collect();
    assert_eq!(converted(Value::Array(tagged)), Vec::<String>::new());
    let lists = |from: u32| json!({"enum": (from..from + 4000).collect::<Vec<_>>()});
    assert_eq!(converted(json!([lists(0), lists(4000)])).len(), 1);
}
