//! Samples are valid, varied, and the same for the same seed.

mod adversarial;
mod random;
mod schema_table;

use std::collections::HashSet;

use schemars::schema_for;
use serde::Deserialize;
use serde_json::json;

use super::*;
use schema_table::{Order, schemas};

fn schema(value: Value) -> Schema {
    Schema::check(value).unwrap()
}

/// The first valid value of each of many seeds.
fn samples(schema: &Schema, seeds: u64) -> Vec<Value> {
    (0..seeds)
        .map(|seed| match Sampler::new(schema, seed).valid() {
            Some(value) => value,
            None => panic!("nothing for {schema:?} with seed {seed}"),
        })
        .collect()
}

fn admits(schema: &Schema, value: &Value) -> bool {
    schema.is_valid(Tape::from_value(value).root())
}

#[test]
fn the_same_seed_gives_the_same_values() {
    for value in schemas() {
        let schema = schema(value);
        let (mut one, mut other) = (Sampler::new(&schema, 3), Sampler::new(&schema, 3));
        for _ in 0..5 {
            assert_eq!(one.valid(), other.valid());
            assert_eq!(one.near_miss(), other.near_miss());
        }
    }
}

#[test]
fn what_is_called_valid_is_valid() {
    for value in schemas() {
        let schema = schema(value);
        for value in samples(&schema, 100) {
            assert!(admits(&schema, &value), "{value} by {schema:?}");
        }
    }
}

#[test]
fn nearly_valid_values_are_mostly_refused() {
    let (mut all, mut refused) = (0, 0);
    for value in schemas() {
        let schema = schema(value);
        let nearly: Vec<Value> =
            (0..50).filter_map(|seed| Sampler::new(&schema, seed).near_miss()).collect();
        let bad = nearly.iter().filter(|value| !admits(&schema, value)).count();
        assert!(bad > 40, "only {bad} of 50 are refused by {schema:?}");
        all += nearly.len();
        refused += bad;
    }
    assert!(refused * 100 > all * 98, "only {refused} of {all} are refused");
}

#[test]
fn mistakes_are_of_every_sort() {
    let schema = schema(json!({
        "type": "object",
        "properties": {"unit": {"enum": ["C", "F"]}, "days": {"type": "integer", "maximum": 9}, "near": {"type": "array", "maxItems": 1}},
        "required": ["unit", "days", "near"],
        "additionalProperties": false
    }));
    let keywords: HashSet<String> = (0..200)
        .filter_map(|seed| Sampler::new(&schema, seed).near_miss())
        .flat_map(|value| schema.violations(&value))
        .map(|violation| violation.keyword)
        .collect();
    for keyword in ["type", "enum", "maximum", "maxItems", "required", "additionalProperties"] {
        assert!(keywords.contains(keyword), "{keyword} is never broken, only {keywords:?}");
    }
}

#[test]
fn every_branch_of_a_union_turns_up() {
    let union = schema(
        json!({"anyOf": [{"type": "null"}, {"type": "string"}, {"oneOf": [{"const": 1}, {"const": 2}]}, {"type": "array", "maxItems": 0}]}),
    );
    let values: HashSet<String> = samples(&union, 200)
        .iter()
        .map(|value| if value.is_string() { "text".to_owned() } else { value.to_string() })
        .collect();
    assert_eq!(values.len(), 5, "{values:?}");

    let several =
        schema(json!({"type": ["string", "null", "boolean", "number", "object", "array"]}));
    let kinds: HashSet<_> = samples(&several, 200).iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 6);
}

#[test]
fn optional_properties_come_and_go() {
    let closed = schema(
        json!({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}}, "required": ["b"], "additionalProperties": false}),
    );
    let values: HashSet<String> = samples(&closed, 200).iter().map(ToString::to_string).collect();
    assert_eq!(values.len(), 4, "{values:?}");

    let open = schema(json!({"type": "object", "properties": {"a": {"const": 1}}}));
    let names = |value: &Value| value.as_object().unwrap().keys().any(|name| name != "a");
    assert!(samples(&open, 200).iter().any(names));
}

#[test]
fn edges_turn_up() {
    let whole = schema(json!({"type": "integer", "minimum": -1_000_000, "maximum": 1_000_000}));
    let values = samples(&whole, 200);
    assert!(values.contains(&json!(-1_000_000)) && values.contains(&json!(1_000_000)));

    let values = samples(&schema(json!({"type": "integer"})), 200);
    assert!(values.iter().any(|value| value.as_i64().is_none_or(|it| it.unsigned_abs() > 1 << 53)));

    let values = samples(&schema(json!({"type": "string"})), 200);
    assert!(values.contains(&json!("")));
    assert!(values.iter().any(|value| !value.as_str().unwrap().is_ascii()));

    let values = samples(&schema(json!({"type": "array", "items": {"type": "null"}})), 50);
    assert!(values.contains(&json!([])) && values.iter().any(|value| value[1].is_null()));
}

#[test]
fn the_example_is_what_the_schema_itself_suggests() {
    let schema = schema(json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "examples": ["Rome", "Oslo"]},
            "unit": {"enum": ["C", "F"]},
            "days": {"type": "integer", "default": 3},
            "note": {"type": "string"},
            "spot": {"anyOf": [{"type": "null"}, {"const": "here"}]}
        },
        "required": ["city", "unit", "spot"]
    }));
    let expected = json!({"city": "Rome", "unit": "C", "days": 3, "spot": "here"});
    assert_eq!(Sampler::example(&schema), Some(expected.clone()));
    assert_eq!(Sampler::new(&schema, 0).valid(), Some(expected));
}

#[test]
fn a_default_that_the_schema_refuses_is_not_used() {
    let schema = schema(
        json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "default": {"n": "x"}}}, "required": ["a"]}),
    );
    let value = Sampler::example(&schema).unwrap();
    assert!(value["a"]["n"].is_i64(), "{value}");
}

#[test]
fn values_for_a_type_can_be_read_as_that_type() {
    let schema = Schema::trusted(schema_for!(Order).to_value());
    for value in samples(&schema, 200) {
        assert!(Order::deserialize(&value).is_ok(), "{value}");
    }
}

#[test]
fn texts_have_their_format() {
    let formats = [
        "date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri",
        "uri-reference", "uri-template", "iri", "iri-reference", "uuid", "json-pointer",
        "relative-json-pointer", "regex",
    ];
    for format in formats {
        let schema = schema(json!({"type": "string", "format": format}));
        let values: HashSet<Value> = samples(&schema, 50).into_iter().collect();
        assert!(values.len() > 1, "always the same {format}");
        assert!(!admits(&schema, &json!("\u{0} %(")), "{format} is not checked");
    }
}

#[test]
fn texts_match_their_pattern() {
    let patterns = [
        r"^[A-Z]{2}\d{3,5}$",
        r"^(red|green|blue)(-(light|dark))?$",
        r"^\w+(\.\w+)*@[a-z]+\.(com|org)$",
        r"^[^\s,]+$",
        r"x+y*z?",
        r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$",
        r"^#(?:[0-9a-fA-F]{3}){1,2}$",
        r"^\+?[1-9][0-9 ()\-]{6,14}$",
        r"^.{3}$",
        r"^(?=.*[a-z])(?=.*\d)\S{8,}$",
        r"^[\u0041-\u005a]\x2d\/$",
        r"^\p{Lu}\p{L}*$",
        r"\bword\b",
        r"^$",
        r"^(?<year>\d{4})-\d\d$",
        r"^(?!foo)[a-z]{3}$",
        r"a|b",
        r"^[\w.-]+$",
        r"[.*+?^${}()|\[\]\\]",
    ];
    for pattern in patterns {
        let schema = schema(json!({"type": "string", "pattern": pattern}));
        samples(&schema, 50);
    }
    let long = json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 30, "maxLength": 32});
    samples(&schema(long), 20);
}
