//! Schemas that admit nothing, never end, or ask for too much.

use serde_json::{Map, Value, json};

use super::{Sampler, samples, schema};

/// Definitions of which each refers twice to the next.
fn doubling(steps: usize, step: impl Fn(Value) -> Value) -> Value {
    let mut definitions: Map<String, Value> = (0..steps)
        .map(|at| (format!("d{at}"), step(json!({"$ref": format!("#/$defs/d{}", at + 1)}))))
        .collect();
    definitions.insert(format!("d{steps}"), json!({"type": "integer"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

fn assert_no_sample(value: Value) {
    let schema = schema(value);
    for seed in 0..2 {
        assert_eq!(Sampler::new(&schema, seed).valid(), None, "{schema:?}");
        assert_eq!(Sampler::new(&schema, seed).near_miss(), None, "{schema:?}");
    }
}

#[test]
fn a_schema_that_admits_nothing_gives_nothing() {
    assert_no_sample(json!(false));
    assert_no_sample(json!({"not": {}}));
    assert_no_sample(json!({"enum": []}));
    assert_no_sample(json!({"type": "integer", "minimum": 5, "maximum": 4}));
    assert_no_sample(json!({"allOf": [{"type": "string"}, {"type": "integer"}]}));
    assert_no_sample(json!({"type": "object", "properties": {"a": false}, "required": ["a"]}));
    assert_no_sample(json!({"type": "array", "items": false, "minItems": 1}));
    assert_no_sample(
        json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}),
    );
    assert_no_sample(json!({"type": "array", "items": {"$ref": "#"}, "minItems": 2}));
}

#[test]
fn recursive_schemas_come_to_an_end() {
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "more": {"type": "array", "items": {"$ref": "#"}}}});
    let term = json!({"oneOf": [
        {"type": "object", "properties": {"op": {"const": "add"}, "of": {"type": "array", "items": {"$ref": "#"}, "minItems": 2}}, "required": ["op", "of"]},
        {"type": "object", "properties": {"op": {"const": "neg"}, "of": {"$ref": "#"}}, "required": ["op", "of"]},
        {"type": "integer"}
    ]});
    let untyped = json!({"properties": {"next": {"$ref": "#"}}, "required": ["next"]});
    let anchored = json!({"$dynamicAnchor": "node", "type": "object", "properties": {"kids": {"type": "array", "items": {"$dynamicRef": "#node"}}}, "required": ["kids"]});
    for value in [tree, term, untyped, anchored] {
        samples(&schema(value), 50);
    }
}

#[test]
fn what_is_asked_of_one_kind_only_is_escaped_by_another() {
    samples(&schema(json!({"minProperties": 1_000_000_000})), 20);
    samples(&schema(json!({"minItems": 1_000_000_000})), 20);
}

#[test]
fn too_much_is_not_attempted() {
    assert_no_sample(json!({"type": "array", "minItems": 1_000_000_000}));
    assert_no_sample(json!({"type": "string", "minLength": 1_000_000_000}));
    assert_no_sample(
        json!({"type": "array", "minItems": 500, "items": {"type": "string", "minLength": 90_000}}),
    );
    assert_no_sample(json!({"type": "string", "pattern": "^(((){1000}){1000}){1000}x$"}));
    assert_no_sample(doubling(
        40,
        |next| json!({"type": "array", "prefixItems": [next, next], "minItems": 2}),
    ));
}

#[test]
fn schemas_that_would_keep_the_validator_busy_for_ever_are_not_put_to_it() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        assert_no_sample(doubling(30, |next| json!({keyword: [next, next]})));
    }
    let nested = (0..50).fold(json!({}), |inner, _| json!({"x": inner}));
    let members = json!({"properties": {"x": {"$ref": "#"}}, "default": nested});
    samples(&schema(json!({"type": "object", "allOf": [members, members, members, members]})), 20);
}

#[test]
fn large_schemas_give_values_too() {
    let names: Vec<String> = (0..10_000).map(|at| format!("p{at}")).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"type": "integer"}))).collect();
    let values = samples(&schema(json!({"type": "object", "properties": properties})), 10);
    assert!(values.iter().any(|value| value.as_object().is_some_and(|it| !it.is_empty())));
    assert!(values.iter().all(|value| value.as_object().is_some_and(|it| it.len() < 100)));

    samples(&schema(json!({"enum": names})), 10);
    let branches: Vec<Value> = names.iter().map(|name| json!({"const": name})).collect();
    samples(&schema(json!({"anyOf": branches})), 10);
}
