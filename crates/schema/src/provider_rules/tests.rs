//! For each dialect a table of what it accepts, and a table of what it refuses and why.

use serde_json::{Value, json};

use super::{Rejection, rules_of_dialect, validate_for};
use crate::Dialect;

mod any_input;
mod common_strict_rules;
mod cross_dialect_properties;
mod providers;
mod reported_issues;
mod tool_names;

#[test]
fn every_dialect_is_known() {
    for dialect in Dialect::ALL {
        assert!(rules_of_dialect(dialect.name()).is_some(), "{}", dialect.name());
        let schema = if dialect.name().ends_with("-strict") { closed_object } else { open_object };
        assert_accepts(dialect, [schema(json!({"type": "string"}))]);
    }
}

#[test]
fn a_refusal_reads_as_path_and_rule() {
    let refusal = |path: &str| Rejection {
        path: path.to_owned(),
        rule: "`oneOf` is not accepted".to_owned(),
    };
    assert_eq!(refusal("/properties/a").to_string(), "/properties/a: `oneOf` is not accepted");
    assert_eq!(refusal("").to_string(), "root: `oneOf` is not accepted");
    let written = serde_json::to_value(refusal("/items")).unwrap();
    assert_eq!(written, json!({"path": "/items", "rule": "`oneOf` is not accepted"}));
}

/// A closed object with the one property `a`, required.
fn closed_object(a: Value) -> Value {
    json!({"type": "object", "properties": {"a": a}, "required": ["a"], "additionalProperties": false})
}

/// An object with the one property `a` and no other keywords.
fn open_object(a: Value) -> Value {
    json!({"type": "object", "properties": {"a": a}})
}

/// The same with definitions.
fn with_definitions(mut schema: Value, definitions: Value) -> Value {
    schema["$defs"] = definitions;
    schema
}

/// So many schemas, one inside the other, the innermost a string.
fn nested(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(json!({"type": "string"}), |inner, _| wrap(inner))
}

/// So many properties, all of the same schema.
fn many_properties(count: usize, schema: &Value) -> Value {
    (0..count)
        .map(|number| (format!("p{number}"), schema.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[track_caller]
fn assert_accepts(dialect: Dialect, rows: impl IntoIterator<Item = Value>) {
    for schema in rows {
        let refusals = validate_for(dialect, &schema);
        assert!(refusals.is_empty(), "{} refuses {schema}\n{refusals:#?}", dialect.name());
    }
}

/// Each schema is refused at this path, for a rule that contains these words, and for nothing else.
#[track_caller]
fn assert_rejects<'w>(dialect: Dialect, rows: impl IntoIterator<Item = (Value, &'w str, &'w str)>) {
    for (schema, path, words) in rows {
        let refusals = validate_for(dialect, &schema);
        let [refusal] = refusals.as_slice() else {
            panic!("{} finds {} faults in {schema}\n{refusals:#?}", dialect.name(), refusals.len());
        };
        assert_eq!(refusal.path, path, "{refusal} in {schema}");
        assert!(refusal.rule.contains(words), "{} reports {refusal} for {schema}", dialect.name());
    }
}
