//! What must hold for every text, every value and every schema.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::collections::BTreeMap;

use jsonschema::json::cmp;
use proptest::{collection::vec, prelude::*, sample::Index};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use toolwright_schema::{
    InputLimits, ParseError, RepairError, Schema, Tape, canonical_json, close_objects, coerce,
    is_enforced_by_type, redact, repair,
};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-9i64..300).prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |n| n.is_finite().then(|| Value::from(n))),
        Just(json!(5.0)),
        any::<String>().prop_map(Value::from),
        prop_oneof![
            Just("C"),
            Just("f"),
            Just("5"),
            Just("true"),
            Just("2025-01-31"),
            Just("{\"n\": \"1\"}"),
            Just("[1]")
        ]
        .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 32, 5, |inner| {
        let key = prop_oneof![
            Just("name"),
            Just("n"),
            Just("unit"),
            Just("tags"),
            Just("extra"),
            Just("a/b~")
        ];
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::Array),
            vec((key, inner), 0..5).prop_map(|members| Value::Object(
                members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
            )),
        ]
    })
}

/// Text made of pieces that JSON and its untidy relatives are made of.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => proptest::sample::select(vec![
            "{", "}", "[", "]", ":", ",", "\"", "'", "\\", " ", "\n", "1", "-", "0.5", "e9", "true", "None", "null", "\"a\"", "\"b\"",
            "'a'", "a", "```", "json", "“", "”", "\u{feff}", "\\u00", "é", "\"a\":1", ",\"a\":", "{}", "password=x", "://u:p@h",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "object", "properties": {"name": {"type": "string", "minLength": 2}, "n": {"type": "integer"}, "unit": {"enum": ["C", "F", 5]}, "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}}, "additionalProperties": false}),
        json!({"anyOf": [{"type": "object", "properties": {"n": {"$ref": "#"}}}, {"type": "array", "items": {"$ref": "#"}}, {"type": "number", "multipleOf": 0.5}, {"type": "null"}]}),
        json!({"type": "object", "oneOf": [{"properties": {"n": {"type": "number"}}, "required": ["n"]}, {"properties": {"name": {"format": "date"}}, "required": ["name"]}], "unevaluatedProperties": false}),
        json!({"propertyNames": {"maxLength": 4}, "maxProperties": 2, "not": {"type": "string"}, "contains": {"const": 5}}),
        json!({"prefixItems": [{"type": "integer", "minimum": 0}, {"type": "boolean"}], "items": false}),
        json!({"type": ["array", "null"], "items": {"type": ["integer", "boolean"]}}),
    ]
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    name: String,
    n: u8,
    unit: Option<Unit>,
    tags: Vec<Tag>,
    #[serde(default)]
    more: BTreeMap<String, f64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Unit {
    C,
    F,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tag {
    n: Option<i32>,
    next: Option<Box<Tag>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Flat {
    name: String,
    #[serde(flatten)]
    tag: Tag,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Tag(Tag),
    Nothing,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Holds {
    one: Option<Either>,
    flat: Option<Flat>,
}

/// Puts something else at a random place: a new value, an extra key, or nothing.
fn mutate(value: &mut Value, at: &[Index], by: &Value) {
    let places = places(value, "");
    let Some(which) = at.first() else { return };
    let target = value.pointer_mut(&places[which.index(places.len())]).unwrap();
    match (at.get(1).map_or(0, |i| i.index(3)), &mut *target) {
        (0, Value::Object(members)) => {
            members.insert("extra".to_owned(), by.clone());
        }
        (1, Value::Object(members)) if !members.is_empty() => {
            let key = members.keys().nth(which.index(members.len())).unwrap().clone();
            members.remove(&key);
        }
        (0, Value::Array(elements)) => elements.push(by.clone()),
        _ => *target = by.clone(),
    }
}

fn places(value: &Value, here: &str) -> Vec<String> {
    let below: Vec<String> = match value {
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .flat_map(|(at, e)| places(e, &format!("{here}/{at}")))
            .collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(k, m)| {
                places(m, &format!("{here}/{}", k.replace('~', "~0").replace('/', "~1")))
            })
            .collect(),
        _ => Vec::new(),
    };
    std::iter::once(here.to_owned()).chain(below).collect()
}

fn strict_implies_valid<T: DeserializeOwned + JsonSchema>(value: &Value) {
    let mut schema = schema_for!(T).to_value();
    assert!(is_enforced_by_type(&schema), "{schema}");
    close_objects(&mut schema);
    let schema = Schema::trusted(schema);
    let tape = Tape::from_value(value);
    if T::deserialize(tape.root()).is_ok() {
        assert!(
            schema.is_valid(tape.root()),
            "{value} is read as the type but refused by {schema:?}"
        );
    }
}

fn admits(schema: &Schema, value: &Value) -> bool {
    schema.is_valid(Tape::from_value(value).root())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tape_reads_values_as_serde_json_does(value in value()) {
        let written = value.to_string();
        let read: Value = serde_json::from_str(&written).unwrap();
        let tape = Tape::parse(&written, &InputLimits::default()).unwrap();
        prop_assert_eq!(tape.to_value(), read.clone());
        prop_assert_eq!(Value::deserialize(tape.root_lenient()).unwrap(), read.clone());
        prop_assert_eq!(Tape::from_value(&read).to_value(), read.clone());
        prop_assert_eq!(serde_json::from_str::<Value>(&canonical_json(&read)).unwrap(), read);
    }

    #[test]
    fn the_tape_accepts_what_serde_json_accepts(text in text()) {
        let theirs = serde_json::from_str::<Value>(&text);
        match Tape::parse(&text, &InputLimits::default()) {
            Ok(tape) => prop_assert_eq!(tape.to_value(), theirs.unwrap()),
            Err(ParseError::DuplicateKey { .. } | ParseError::ReservedKey { .. }) => {}
            Err(error) => prop_assert!(theirs.is_err(), "{}: {}", text, error),
        }
    }

    #[test]
    fn the_verdict_on_the_tape_is_the_verdict_on_the_value(value in value()) {
        for schema in schemas() {
            let theirs = jsonschema::options().offline().should_validate_formats(true).build(&schema).unwrap();
            let ours = Schema::check(schema).unwrap();
            prop_assert_eq!(admits(&ours, &value), theirs.is_valid(&value), "{} by {:?}", value, ours);
            prop_assert_eq!(ours.violations(&value).is_empty(), theirs.is_valid(&value), "{} by {:?}", value, ours);
        }
    }

    #[test]
    fn where_types_enforce_a_strict_read_means_a_valid_value(by in value(), at in vec(any::<Index>(), 2), again in vec(any::<Index>(), 2)) {
        let mut order = json!({"name": "x", "n": 1, "unit": "C", "tags": [{"n": -1, "next": {"n": null}}], "more": {"a": 1.5}});
        mutate(&mut order, &at, &by);
        mutate(&mut order, &again, &by);
        strict_implies_valid::<Order>(&order);
        strict_implies_valid::<Vec<Option<Order>>>(&json!([order, null]));
        let mut holds = json!({"one": {"n": 1}, "flat": {"name": "x", "n": 1}});
        mutate(&mut holds, &at, &by);
        strict_implies_valid::<Holds>(&holds);
    }

    #[test]
    fn a_repaired_text_parses_and_is_stable(text in text()) {
        if let Ok(repaired) = repair(&text, &InputLimits::default()) {
            let meant = Tape::parse(&repaired.text, &InputLimits::default()).unwrap().to_value();
            if let (Ok(tape), false) = (Tape::parse(&text, &InputLimits::default()), repaired.notes.contains(&"doubled encoding undone")) {
                prop_assert_eq!(tape.to_value(), meant);
            }
        }
    }

    #[test]
    fn tidy_text_repairs_to_itself(value in value()) {
        let tidy = value.to_string();
        let repaired = repair(&tidy, &InputLimits::default()).unwrap();
        let doubled = repaired.notes.contains(&"doubled encoding undone");
        prop_assert!(doubled || repaired.text == tidy);
    }

    #[test]
    fn a_proper_prefix_of_an_object_is_never_repaired(value in value(), cut in any::<Index>(), untidy in any::<bool>()) {
        let mut text = json!({"name": "it's", "more": value}).to_string();
        if untidy {
            text = text.replacen("\"more\"", "more", 1);
        }
        let prefix: String = text.chars().take(1 + cut.index(text.chars().count() - 1)).collect();
        prop_assert!(repair(&prefix, &InputLimits::default()).is_err(), "{}", prefix);
    }

    #[test]
    fn coercion_leaves_valid_values_and_is_done_at_once(value in value()) {
        for schema in schemas() {
            let schema = Schema::check(schema).unwrap();
            let mut coerced = value.clone();
            let notes = coerce(&mut coerced, &schema);
            prop_assert_eq!(notes.is_empty(), coerced == value);
            if admits(&schema, &value) {
                prop_assert!(cmp::equal(&coerced, &value), "{} became {}", value, coerced);
                prop_assert!(admits(&schema, &coerced));
            }
            let settled = coerced.clone();
            prop_assert!(coerce(&mut coerced, &schema).is_empty(), "{} went on from {}", coerced, settled);
        }
    }

    #[test]
    fn masking_is_done_at_once(text in text()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once);
    }
}

#[test]
fn prefixes_of_untidy_text_are_cut_off_too() {
    let text = "```json\n{'name': 'x', tags: ['a', None,], \"n\": \"{\\\"a\\\": 1}\",}\n```";
    assert!(repair(text, &InputLimits::default()).is_ok());
    for (end, _) in text.char_indices().skip(1) {
        assert!(repair(&text[..end], &InputLimits::default()).is_err(), "{}", &text[..end]);
    }
    assert_eq!(repair("{'a': 'b'", &InputLimits::default()), Err(RepairError::Truncated));
}
