//! Text in, nothing out: every promise the argument path makes, asserted.
//!
//! Shared by the fuzz target and by the test that replays its corpus.

#![allow(clippy::expect_used, reason = "a broken promise must stop the run")]

use std::sync::LazyLock;

use serde_json::{Value, json};
use toolwright_schema::{InputLimits, Schema, Tape, canonical_json, coerce, redact, repair};

/// Small limits let short inputs reach them.
const LIMITS: InputLimits = InputLimits { bytes: 4096, depth: 16 };

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    Schema::check(json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 14},
            "unit": {"enum": ["C", "F"]},
            "exact": {"type": "boolean"},
            "on": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
            "near": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
            "shape": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
                {"type": "object", "properties": {"kind": {"const": "box"}, "sides": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": false}}, "required": ["kind"]}
            ]},
            "password": {"type": "string", "pattern": "^[a-z]+$"}
        },
        "required": ["city"],
        "additionalProperties": false
    }))
    .expect("a schema")
});

/// Parses, repairs, coerces and validates one text, asserting what must always hold.
pub(crate) fn exercise(text: &str) {
    let parsed = Tape::parse(text, &LIMITS).map(|tape| tape.to_value());
    let repaired = repair(text, &LIMITS);
    if let Ok(value) = &parsed {
        agree(value);
        assert_eq!(serde_json::from_str::<Value>(text).expect("serde_json reads it too"), *value);
    }
    if let Ok(repaired) = &repaired {
        let mended =
            Tape::parse(&repaired.text, &LIMITS).expect("a repaired text parses").to_value();
        if let Ok(value) = &parsed
            && !value.is_string()
        {
            assert_eq!(mended, *value, "repair changed a tidy text");
        }
        agree(&mended);
    } else {
        assert!(parsed.is_err(), "repair refused a tidy text");
    }
    let masked = redact(text);
    assert_eq!(redact(&masked), masked, "masking twice masks more");
}

fn agree(value: &Value) {
    if LIMITS.admit(value) {
        assert!(Tape::parse(&value.to_string(), &LIMITS).is_ok(), "admitted, but not parsed");
    }
    let tape = Tape::from_value(value);
    assert_eq!(tape.to_value(), *value);
    assert_eq!(
        serde_json::from_str::<Value>(&canonical_json(value)).expect("canonical text is JSON"),
        *value
    );
    let valid = SCHEMA.is_valid(tape.root());
    assert_eq!(SCHEMA.violations(value).is_empty(), valid, "verdict and explanation disagree");

    let mut coerced = value.clone();
    let notes = coerce(&mut coerced, &SCHEMA);
    assert_eq!(
        notes.is_empty(),
        coerced == *value,
        "a change without a note, or a note without a change"
    );
    if valid {
        assert!(SCHEMA.is_valid(Tape::from_value(&coerced).root()), "coercion broke a valid value");
    }
    assert!(coerce(&mut coerced, &SCHEMA).is_empty(), "coercion was not done at once");
}
