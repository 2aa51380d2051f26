//! What is too large, too deep, or leads nowhere.

use serde_json::{Value, json};

use super::{normalise, refusal};
use crate::Schema;

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({"type": "str"}), |inner, _| json!({"not": inner}))
}

#[test]
fn a_schema_that_is_too_deep_is_refused_before_it_is_walked() {
    assert_eq!(refusal(nested(100)), "JSON nested deeper than 64 levels");
    assert!(normalise(&mut nested(60)).is_ok());
}

#[test]
fn a_schema_that_is_too_large_is_refused() {
    assert_eq!(
        refusal(json!({"enum": vec![1; 100_001]})),
        "more than 100000 values: no schema of that size is read"
    );
    assert_eq!(
        refusal(json!({"description": "a".repeat(1 << 20)})),
        "more than 1048576 bytes: no schema of that size is read"
    );
}

#[test]
fn text_in_the_place_of_a_schema_must_hold_one() {
    assert!(refusal(json!("{\"type\": ")).starts_with("a schema as text: not JSON"));
    assert!(refusal(json!("{\"a\":1,\"a\":1}")).contains("named twice"));
    assert_eq!(refusal(json!("No parameters.")), "\"No parameters.\" is no type");
    assert_eq!(refusal(json!(5)), "a schema is an object or a boolean, not 5");
}

#[test]
fn references_are_never_followed() {
    let mut schema = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/nowhere"}], "$defs": {"A": {"$ref": "#/$defs/A"}}});
    let before = schema.clone();
    assert_eq!(normalise(&mut schema), Ok(Vec::new()));
    assert_eq!(schema, before);
    assert!(Schema::check(schema).is_err());
}

#[test]
fn secrets_are_not_shown() {
    let mut schema = json!({"properties": {"api_key": {"type": "integer", "default": "sk-abcdefghijklmnopqrstuvwxyz"}}});
    let notes = normalise(&mut schema).unwrap();
    assert!(notes.iter().all(|note| !note.message.contains("abcdef")), "{notes:?}");
}
