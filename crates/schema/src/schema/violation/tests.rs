//! One sentence per mistake, in words a model can act on.

use serde_json::{Value, json};

use crate::Schema;

fn messages(schema: Value, value: Value) -> Vec<String> {
    Schema::check(schema).unwrap().violations(&value).iter().map(ToString::to_string).collect()
}

fn assert_messages(schema: Value, value: Value, sentences: &[&str]) {
    assert_eq!(messages(schema, value), sentences);
}

fn property_message(property: Value, value: Value) -> String {
    messages(json!({"properties": {"a": property}}), json!({"a": value})).join("\n")
}

#[test]
fn a_valid_value_has_no_violations() {
    assert_messages(json!({"type": "string"}), json!("a"), &[]);
}

#[test]
fn a_wrong_type_is_reported_with_what_was_sent() {
    assert_eq!(
        property_message(json!({"type": "number"}), json!("abc")),
        "/a: expected a number, got \"abc\""
    );
    assert_eq!(
        property_message(json!({"type": ["integer", "null"]}), json!(1.5)),
        "/a: expected an integer or null, got 1.5"
    );
    assert_eq!(
        property_message(json!({"type": "string"}), json!({"b": 1})),
        "/a: expected a string, got an object"
    );
    assert_eq!(
        property_message(json!({"type": "string"}), json!([1])),
        "/a: expected a string, got an array"
    );
    assert_messages(json!({"type": "object"}), json!(5), &["expected an object, got 5"]);
}

#[test]
fn long_values_are_cut() {
    let message = property_message(json!({"type": "number"}), json!("ä".repeat(500)));
    assert_eq!(message, format!("/a: expected a number, got \"{}…\"", "ä".repeat(40)));
}

#[test]
fn a_missing_property_is_described() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where to look.\nMore."},
            "unit": {"$ref": "#/$defs/Unit"}
        },
        "required": ["city", "unit"],
        "$defs": {"Unit": {"enum": ["C", "F"]}}
    });
    assert_messages(
        schema,
        json!({}),
        &[
            "/city: missing; expected a string (Where to look.)",
            "/unit: missing; expected one of \"C\", \"F\"",
        ],
    );
}

#[test]
fn an_unknown_property_finds_the_nearest_known_one() {
    let schema = json!({"properties": {"city": {}, "unit": {}}, "additionalProperties": false});
    assert_messages(
        schema,
        json!({"citty": 1, "zzz": 2}),
        &["/citty: unknown argument; did you mean `city`?", "/zzz: unknown argument"],
    );
}

#[test]
fn a_name_already_sent_is_not_suggested() {
    let schema = json!({"properties": {"city": {}}, "additionalProperties": false});
    assert_messages(schema, json!({"city": 1, "citty": 2}), &["/citty: unknown argument"]);
}

#[test]
fn options_are_listed_with_the_nearest() {
    assert_eq!(
        property_message(json!({"enum": ["C", "F"]}), json!("K")),
        "/a: expected one of \"C\", \"F\", got \"K\""
    );
    assert_eq!(
        property_message(json!({"enum": ["celsius", "fahrenheit"]}), json!("celcius")),
        "/a: expected one of \"celsius\", \"fahrenheit\", got \"celcius\"; did you mean \"celsius\"?"
    );
    assert_eq!(property_message(json!({"const": 1}), json!(2)), "/a: expected 1, got 2");
    assert_eq!(
        property_message(json!({"type": "string", "enum": ["C"]}), json!(3)),
        "/a: expected \"C\", got 3"
    );
}

#[test]
fn bounds_are_described_plainly() {
    for (schema, value, message) in [
        (json!({"minimum": 1}), json!(0), "expected at least 1, got 0"),
        (json!({"maximum": 1}), json!(2), "expected at most 1, got 2"),
        (json!({"exclusiveMinimum": 1}), json!(1), "expected more than 1, got 1"),
        (json!({"exclusiveMaximum": 1}), json!(1), "expected less than 1, got 1"),
        (json!({"multipleOf": 5}), json!(7), "expected a multiple of 5, got 7"),
        (json!({"minLength": 1}), json!(""), "expected at least 1 character, got 0"),
        (json!({"maxLength": 2}), json!("abc"), "expected at most 2 characters, got 3"),
        (json!({"minItems": 2}), json!([1]), "expected at least 2 items, got 1"),
        (json!({"maxItems": 1}), json!([1, 2]), "expected at most 1 item, got 2"),
        (json!({"minProperties": 2}), json!({}), "expected at least 2 properties, got 0"),
        (json!({"uniqueItems": true}), json!([1, 1]), "expected no two equal items"),
        (json!({"pattern": "^a$"}), json!("b"), "expected text that matches `^a$`, got \"b\""),
        (json!({"format": "date"}), json!("b"), "expected a date like 2025-01-31, got \"b\""),
        (json!({"not": {"type": "string"}}), json!("b"), "this value is not allowed"),
        (json!(false), json!("b"), "not allowed here"),
    ] {
        assert_eq!(property_message(schema, value), format!("/a: {message}"));
    }
    assert_eq!(
        property_message(json!({"propertyNames": {"maxLength": 1}}), json!({"bc": 1})),
        "/a/bc: not an allowed name: expected at most 1 character, got 2"
    );
}

#[test]
fn an_option_speaks_of_what_is_inside() {
    let schema = json!({"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"type": "null"}]});
    assert_eq!(
        property_message(schema.clone(), json!({"n": "x"})),
        "/a/n: expected an integer, got \"x\""
    );
    assert_eq!(property_message(schema.clone(), json!({})), "/a/n: missing; expected an integer");
    assert_eq!(property_message(schema, json!(5)), "/a: expected an object or null, got 5");
}

#[test]
fn a_tagged_union_speaks_of_the_tagged_branch() {
    let branch = |kind: &str, field: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, field: {"type": "number"}}, "required": ["kind", field], "additionalProperties": false});
    let schema = json!({"oneOf": [branch("circle", "radius"), branch("square", "side")]});
    assert_eq!(
        property_message(schema, json!({"kind": "square", "side": "x"})),
        "/a/side: expected a number, got \"x\""
    );
}

#[test]
fn described_constants_read_as_one_list() {
    let schema = json!({"oneOf": [{"const": "C", "type": "string"}, {"const": "F", "type": "string"}, {"type": "object"}]});
    assert_eq!(
        property_message(schema.clone(), json!("f")),
        "/a: expected one of \"C\", \"F\", got \"f\"; did you mean \"F\"?"
    );
    assert_eq!(
        property_message(schema, json!(3)),
        "/a: expected one of \"C\", \"F\" or an object, got 3"
    );
}

#[test]
fn a_failed_branch_does_not_make_its_properties_unknown() {
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "oneOf": [{"properties": {"kind": {"const": "a"}, "size": {"type": "integer"}}, "required": ["kind", "size"]}],
        "unevaluatedProperties": false
    });
    assert_messages(
        schema.clone(),
        json!({"kind": "a", "size": "x"}),
        &["/size: expected an integer, got \"x\""],
    );
    assert_messages(
        schema,
        json!({"kind": "a", "size": "x", "extra": 1}),
        &["/size: expected an integer, got \"x\"", "/extra: unknown argument"],
    );
}

#[test]
fn secrets_are_not_repeated() {
    let schema = json!({"properties": {"password": {"type": "integer"}, "note": {"type": "integer"}, "cfg": {"properties": {"token": {"maximum": 1}}}}});
    assert_messages(
        schema,
        json!({"password": "hunter2", "note": "sk-abcdefgh12345678", "cfg": {"token": 12345}}),
        &[
            "/password: expected an integer, got \"***\"",
            "/note: expected an integer, got \"***\"",
            "/cfg/token: expected at most 1, got \"***\"",
        ],
    );
    let closed = json!({"properties": {}, "additionalProperties": false});
    assert_messages(closed, json!({"sk-abcdefgh12345678": 1}), &["/***: unknown argument"]);
}

#[test]
fn many_mistakes_are_counted_not_listed() {
    let wrong: Vec<Value> = (0..50).map(|n| json!(n.to_string())).collect();
    let listed = messages(json!({"items": {"type": "integer"}}), Value::Array(wrong));
    assert_eq!(listed.len(), 21);
    assert_eq!(listed[20], "… and 30 more");
    let keys: serde_json::Map<_, _> = (0..100_000).map(|n| (format!("k{n}"), json!(1))).collect();
    let listed = self::messages(
        json!({"properties": {"known": {}}, "additionalProperties": false}),
        Value::Object(keys),
    );
    assert_eq!(listed[20], "… and 99980 more");
}
