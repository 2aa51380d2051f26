//! Schemas as their dialects mean them, and their verdicts.

use serde_json::{Value, json};
use toolwright_schema::{Dialect, Limits, Schema, Tape};

/// Whether a schema admits a value.
pub(crate) fn admits(schema: &Schema, value: &Value) -> bool {
    let text = value.to_string();
    let limits = Limits {
        depth: 120,
        ..Limits::default()
    };
    Tape::parse(&text, &limits).is_ok_and(|tape| schema.is_valid(tape.root()))
}

/// A lowered schema as its dialect means it: Gemini has a flag for null, Mistral reads Draft 7.
pub(crate) fn meant(schema: &Value, dialect: Dialect) -> Schema {
    let mut schema = schema.clone();
    null_flags(&mut schema);
    if let Value::Object(members) = &mut schema
        && dialect == Dialect::MISTRAL
    {
        members.insert(
            "$schema".to_owned(),
            json!("http://json-schema.org/draft-07/schema#"),
        );
    }
    Schema::trusted(schema)
}

fn null_flags(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(null_flags),
        Value::Object(members) => {
            members.values_mut().for_each(null_flags);
            if members.get("nullable") == Some(&json!(true)) {
                members.shift_remove("nullable");
                let inner = Value::Object(std::mem::take(members));
                members.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
            }
        }
        _ => {}
    }
}
