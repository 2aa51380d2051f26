//! What lowering promises for every schema and every dialect.

use std::env;

use proptest::{collection::vec, prelude::*, sample::select, test_runner::TestCaseError};
use serde_json::{Map, Value, json};
use toolwright_sampler::Sampler;
use toolwright_schema::{Dialect, Lowered, Schema, Severity, validate_for};

use crate::meaning::{admits, ceiling, meant};

/// Schemas of every form that a tool's author, or a generator of schemas, might write.
fn schema() -> BoxedStrategy<Value> {
    leaf()
        .prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                4 => object(inner.clone()),
                2 => array(inner.clone()),
                2 => combined(inner.clone()),
                1 => annotated(inner),
            ]
        })
        .boxed()
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => select(vec!["string", "integer", "number", "boolean", "null"]).prop_map(|kind| json!({"type": kind})),
        1 => Just(json!({})),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => select(vec![
            json!({"type": "string", "minLength": 1, "maxLength": 5}),
            json!({"type": "string", "pattern": "^[a-c]+$"}),
            json!({"type": "string", "pattern": "^(?!x)"}),
            json!({"type": "string", "format": "date"}),
            json!({"type": "string", "format": "uri"}),
            json!({"type": "integer", "minimum": 0, "exclusiveMaximum": 10}),
            json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}),
            json!({"type": ["string", "null"]}),
            json!({"type": ["integer", "string", "boolean"], "minimum": 3, "maxLength": 2}),
            json!({"const": "only"}),
            json!({"const": 7}),
            json!({"enum": ["a", "b", "c"]}),
            json!({"type": "string", "enum": ["a", ""]}),
            json!({"enum": [1, 2, 3], "type": "integer"}),
            json!({"enum": ["a", 1, null, true]}),
            json!({"enum": [{"a": 1}, [1]]}),
            json!({"minimum": 3}),
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"type": "array"}),
            json!({"$ref": "#/$defs/tree"}),
            json!({"$ref": "#/$defs/unit"}),
            json!({"$ref": "#/$defs/list", "description": "a list"}),
            json!({"$ref": "#point"}),
            json!({"$ref": "#/$defs/point", "required": ["y"]}),
        ]),
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "type", "enum", "user.id", "größe", "items", "x-1"])
}

fn object(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let properties = vec((name(), inner.clone(), any::<bool>()), 0..4);
    let extra = prop_oneof![
        4 => Just(None),
        4 => Just(Some(("additionalProperties", json!(false)))),
        1 => inner.prop_map(|part| Some(("additionalProperties", part))),
        1 => select(vec![
            Some(("minProperties", json!(1))),
            Some(("maxProperties", json!(3))),
            Some(("propertyNames", json!({"pattern": "^[a-z]"}))),
            Some(("patternProperties", json!({"^b": {"type": "string"}}))),
            Some(("dependentRequired", json!({"a": ["b"]}))),
            Some(("dependentSchemas", json!({"a": {"required": ["b"]}}))),
            Some(("unevaluatedProperties", json!(false))),
            Some(("required", json!(["nowhere"]))),
        ]),
    ];
    (properties, extra).prop_map(|(properties, extra)| {
        let mut named = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for (name, part, is_required) in properties {
            if is_required && !required.contains(&json!(name)) {
                required.push(json!(name));
            }
            named.insert(name.to_owned(), part);
        }
        let mut schema = json!({"type": "object", "properties": named, "required": required});
        if let (Some((keyword, value)), Value::Object(members)) = (extra, &mut schema) {
            members.insert(keyword.to_owned(), value);
        }
        schema
    })
}

fn array(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => inner.clone().prop_map(|part| json!({"type": "array", "items": part})),
        1 => inner.clone().prop_map(|part| json!({"type": "array", "items": part, "minItems": 2, "maxItems": 3, "uniqueItems": true})),
        1 => vec(inner.clone(), 1..3).prop_map(|parts| json!({"type": "array", "prefixItems": parts, "items": false})),
        1 => vec(inner.clone(), 1..3).prop_map(|parts| json!({"type": "array", "prefixItems": parts})),
        1 => inner.prop_map(|part| json!({"type": "array", "contains": part})),
    ]
}

fn combined(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => vec(inner.clone(), 1..4).prop_map(|parts| json!({"anyOf": parts})),
        2 => vec(inner.clone(), 1..3).prop_map(|parts| json!({"oneOf": parts})),
        2 => vec(inner.clone(), 1..3).prop_map(|parts| json!({"allOf": parts})),
        1 => (inner.clone(), inner.clone()).prop_map(|(one, other)| json!({"allOf": [one, other], "unevaluatedProperties": false})),
        1 => inner.clone().prop_map(|part| json!({"not": part})),
        1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
        1 => (inner.clone(), inner).prop_map(|(one, other)| {
            json!({"type": "object", "properties": {"a": one, "b": other}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]})
        }),
        1 => select(vec![
            json!({"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
                {"type": "object", "properties": {"kind": {"const": "b"}, "s": {"type": "string"}}, "required": ["kind", "s"]},
            ]}),
            json!({"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
                {"type": "object", "properties": {"kind": {"const": "b"}, "s": {"type": "string"}}, "required": ["kind", "s"]},
            ], "properties": {"id": {"type": "string"}}, "unevaluatedProperties": false}),
            json!({"oneOf": [{"type": "string", "enum": ["x"]}, {"type": "object", "properties": {"Y": {"type": "null"}}, "required": ["Y"], "additionalProperties": false}]}),
        ]),
    ]
}

/// Things that only inform must not disturb.
fn annotated(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    (
        inner,
        select(vec![
            "description", "title", "default", "examples", "x-note", "$comment", "deprecated",
        ]),
    )
        .prop_map(|(mut part, keyword)| {
            if let Value::Object(members) = &mut part {
                let value =
                    if keyword == "examples" { json!(["é", 5]) } else { json!("some words") };
                members.insert(keyword.to_owned(), value);
            }
            part
        })
}

fn definitions() -> Value {
    json!({
        "tree": {"type": "object", "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["value"], "additionalProperties": false},
        "list": {"type": "object", "properties": {"head": {"type": "string"}, "tail": {"anyOf": [{"$ref": "#/$defs/list"}, {"type": "null"}]}}, "required": ["head", "tail"], "additionalProperties": false},
        "unit": {"type": "string", "enum": ["C", "F"], "title": "Unit"},
        "point": {"$anchor": "point", "type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x"], "additionalProperties": false},
    })
}

/// The schema of a tool that takes such values.
fn tool() -> impl Strategy<Value = Schema> {
    (object(schema()), prop_oneof![4 => Just(None), 1 => combined(schema()).prop_map(Some)])
        .prop_filter_map("a schema", |(mut root, also)| {
            let members = root.as_object_mut()?;
            members.insert("$defs".to_owned(), definitions());
            if let Some(Value::Object(also)) = also {
                for (keyword, value) in also {
                    members.entry(keyword).or_insert(value);
                }
            }
            Schema::check(root).ok()
        })
}

/// `null` for what may be left out means the same as leaving it out.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(without_nulls).collect(),
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect(),
        other => other.clone(),
    }
}

fn worst(lowered: &Lowered) -> (bool, bool) {
    let has = |severity| lowered.losses().iter().any(|loss| loss.severity == severity);
    (has(Severity::Wider), has(Severity::Narrower))
}

fn holds(canonical: &Schema, dialect: Dialect, seed: u64) -> Result<(), TestCaseError> {
    let Ok(lowered) = canonical.lower(dialect) else {
        return Ok(());
    };
    let context = || {
        let losses: Vec<String> = lowered.losses().iter().map(ToString::to_string).collect();
        format!("{dialect}\n{}\n→ {}\n{losses:#?}", canonical.as_value(), lowered.text())
    };
    let refusals = validate_for(dialect, lowered.schema());
    prop_assert!(refusals.is_empty(), "{refusals:?}\n{}", context());

    let again = Schema::trusted(lowered.schema().clone());
    let again = again
        .lower(dialect)
        .map_err(|error| TestCaseError::fail(format!("{error}\n{}", context())))?;
    prop_assert_eq!(again.schema(), lowered.schema(), "lowering again changes it: {}", context());

    let (wider, narrower) = worst(lowered);
    let (meaning, ceiling) = (meant(lowered.schema(), dialect), ceiling(canonical, lowered));
    let mut sampler = Sampler::new(canonical, seed);
    for _ in 0..6 {
        let Some(value) = sampler.valid() else { break };
        let mut wire = value.clone();
        lowered.lower_arguments(&mut wire);
        if !narrower {
            prop_assert!(admits(&meaning, &wire), "{value} is valid, {wire} is not\n{}", context());
        }
        let mut back = wire.clone();
        lowered.lift_arguments(&mut back);
        if !narrower && !wider {
            prop_assert_eq!(
                without_nulls(&back),
                without_nulls(&value),
                "through {}\n{}",
                wire,
                context()
            );
        }
    }
    let mut sampler = Sampler::new(&meaning, seed);
    for round in 0..8 {
        let value = if round < 5 { sampler.valid() } else { sampler.near_miss() };
        let Some(value) = value else { break };
        if wider || !admits(&meaning, &value) {
            continue;
        }
        let mut back = value.clone();
        lowered.lift_arguments(&mut back);
        prop_assert!(
            admits(&ceiling, &back),
            "{value} is sent, {back} is not valid\n{}",
            context()
        );
    }
    Ok(())
}

/// The number of schemas: `LOWERING_CASES`, else 150 in CI, else 30.
#[expect(clippy::unwrap_used, reason = "a number was asked for")]
fn cases() -> u32 {
    let is_ci = env::var_os("CI").is_some_and(|ci| ci == "true");
    let default = if is_ci { 150 } else { 30 };
    env::var("LOWERING_CASES").map_or(default, |cases| cases.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lowering_is_accepted_idempotent_and_honest(canonical in tool(), seed: u64) {
        for dialect in Dialect::ALL {
            holds(&canonical, dialect, seed)?;
        }
    }
}
