//! What a whole dialect promises, held against a validator.

use serde_json::{Value, json};

use crate::{Dialect, Schema, Severity, Tape};

/// A lowered schema as JSON Schema: only Gemini's `nullable` means something else there.
fn as_json_schema(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(as_json_schema),
        Value::Object(members) => {
            members.values_mut().for_each(as_json_schema);
            if members.shift_remove("nullable").is_some() {
                let inner = std::mem::take(members);
                members.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
            }
        }
        _ => {}
    }
}

fn admits(schema: &Schema, value: &Value) -> bool {
    schema.is_valid(Tape::from_value(value).root())
}

/// Sends canonical values there and back, and foreign ones back only; returns whether nothing at all was lost.
fn assert_round_trip(
    dialect: Dialect,
    subschema: &Value,
    values: &[Value],
    sent: &[Value],
) -> bool {
    let schema = json!({"type": "object", "properties": {"v": subschema}, "required": ["v"], "additionalProperties": false});
    let canonical = Schema::check(schema).unwrap();
    let lowered = canonical.lower(dialect).unwrap();
    let reported = |severity| lowered.losses().iter().any(|loss| loss.severity == severity);
    let (wider, narrower) = (reported(Severity::Wider), reported(Severity::Narrower));
    let mut meaning = lowered.schema().clone();
    as_json_schema(&mut meaning);
    let meaning = Schema::check(meaning).unwrap();
    let story = || format!("{dialect}: {subschema}\n→ {}\n{:?}", lowered.text(), lowered.losses());

    for value in values {
        let value = json!({"v": value});
        assert!(admits(&canonical, &value), "{value}");
        let mut wire = value.clone();
        lowered.lower_arguments(&mut wire);
        assert!(narrower || admits(&meaning, &wire), "{value} as {wire} in {}", story());
        let mut back = wire;
        lowered.lift_arguments(&mut back);
        assert!(narrower || wider || back == value, "{value} came back as {back} in {}", story());
    }
    for wire in sent {
        let wire = json!({"v": wire});
        let mut back = wire.clone();
        lowered.lift_arguments(&mut back);
        // An object that could not be closed accepts more, which is only a note.
        let is_open = !lowered.is_closed() && has_undeclared_property(&wire["v"]);
        if admits(&meaning, &wire) && !is_open {
            assert!(
                wider || admits(&canonical, &back),
                "{wire} came back as {back} in {}",
                story()
            );
        }
    }
    !wider && !narrower
}

/// Whether an object has a property that none of the closed ones declares.
fn has_undeclared_property(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_undeclared_property),
        Value::Object(members) => members.keys().any(|name| name != "a"),
        _ => false,
    }
}

#[test]
fn what_is_reported_lossless_is() {
    let sent = [
        json!(null),
        json!(true),
        json!(1),
        json!(1.5),
        json!(3),
        json!("1"),
        json!("a"),
        json!("null"),
        json!("{}"),
        json!("[1]"),
        json!({}),
        json!({"a": 1}),
        json!({"a": null}),
        json!({"a": "1"}),
        json!([]),
        json!([1]),
        json!([{"key": "k", "value": 1}]),
        json!([{"key": "k", "value": "1"}]),
        json!([{"key": "k"}]),
    ];
    let closed = |subschema: Value| json!({"type": "object", "properties": {"a": subschema}, "additionalProperties": false});
    let rows = [
        (json!({}), vec![json!(null), json!("a"), json!("1"), json!([1, {"b": 2}])]),
        (json!({"type": "integer", "enum": [1, 2]}), vec![json!(1), json!(2)]),
        (json!({"type": ["boolean", "null"]}), vec![json!(null), json!(true)]),
        (
            json!({"type": "integer", "exclusiveMinimum": 0.5, "exclusiveMaximum": 3}),
            vec![json!(1), json!(2)],
        ),
        (
            json!({"anyOf": [{"type": "integer", "enum": [1]}, {"type": "string", "enum": ["a"]}]}),
            vec![json!(1), json!("a")],
        ),
        (closed(json!({"type": "integer"})), vec![json!({}), json!({"a": 1})]),
        (
            closed(json!({})),
            vec![json!({}), json!({"a": 1}), json!({"a": "1"}), json!({"a": [null]})],
        ),
        (
            json!({"type": "array", "items": closed(json!({"type": "integer", "enum": [1]}))}),
            vec![json!([]), json!([{}, {"a": 1}])],
        ),
        (
            json!({"anyOf": [closed(json!({"type": "string"})), {"type": "null"}]}),
            vec![json!(null), json!({"a": "1"})],
        ),
    ];
    for (subschema, values) in &rows {
        for dialect in [Dialect::OPENAI_STRICT, Dialect::DEEPSEEK_STRICT] {
            assert!(assert_round_trip(dialect, subschema, values, &sent), "{dialect}: {subschema}");
        }
        for dialect in Dialect::ALL {
            assert_round_trip(dialect, subschema, values, &sent);
        }
    }
}

#[test]
fn what_is_reported_wider_loses_no_value() {
    let rows = [
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            vec![json!({}), json!({"k": 1, "l": 2})],
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer", "enum": [1]}}),
            vec![json!({"k": 1})],
        ),
        (json!({"type": "object"}), vec![json!({}), json!({"a": [1]})]),
        (
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": true}),
            vec![json!([1, 2])],
        ),
        (
            json!({"anyOf": [{"type": "object"}, {"type": "string"}]}),
            vec![json!("12"), json!("{}"), json!({"a": 1})],
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer", "enum": [1]}]}),
            vec![json!(1), json!("1")],
        ),
        (
            json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "object", "additionalProperties": {"type": "integer"}}]}),
            vec![json!([]), json!({}), json!({"k": 1})],
        ),
        (json!({"type": "string", "enum": ["", "a"]}), vec![json!(""), json!("a")]),
        (
            json!({"type": "string", "format": "uri", "pattern": "^(?=h)"}),
            vec![json!("https://example.com/")],
        ),
        (json!({"type": "object", "enum": [{"a": 1}]}), vec![json!({"a": 1})]),
    ];
    for (subschema, values) in &rows {
        for dialect in Dialect::ALL {
            assert_round_trip(dialect, subschema, values, &[]);
            let canonical = Schema::check(json!({"properties": {"v": subschema}})).unwrap();
            for value in values {
                let lowered = canonical.lower(dialect).unwrap();
                let mut there = json!({"v": value});
                lowered.lower_arguments(&mut there);
                lowered.lift_arguments(&mut there);
                assert_eq!(there, json!({"v": value}), "{dialect}: {subschema}");
            }
        }
    }
}
