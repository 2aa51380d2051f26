//! Schemas that would take too long are rejected with a reason.

use serde_json::{Map, Value, json};

use crate::{Dialect, Schema, validate_for};

const TOO_LARGE: &str = "the schema, its references written out, has more than 20000 parts";
const TOO_DEEP: &str = "the schema, its references written out, is more than 128 levels deep";

/// Dialects that take references as they are.
const TAKE_REFERENCES: [Dialect; 5] =
    [Dialect::OPENAI, Dialect::ANTHROPIC, Dialect::GROQ, Dialect::DEEPSEEK, Dialect::MCP];

/// Calls `check` with the result of every dialect.
fn for_each_dialect(schema: &Schema, check: impl Fn(Dialect, Result<&Value, String>)) {
    for dialect in Dialect::ALL {
        let lowered = schema.lower(dialect);
        let lowered = lowered.map(crate::Lowered::schema).map_err(|error| error.to_string());
        if let Ok(schema) = lowered {
            let refusals = validate_for(dialect, schema);
            assert!(refusals.is_empty(), "{dialect}: {refusals:?}");
        }
        check(dialect, lowered);
    }
}

/// Definitions `d0`, `d1` and so on, and a property that refers to the first.
fn defined(count: usize, definition: impl Fn(usize) -> Value) -> Value {
    let all: Map<String, Value> =
        (0..count).map(|number| (format!("d{number}"), definition(number))).collect();
    json!({"type": "object", "properties": {"start": {"$ref": "#/$defs/d0"}}, "$defs": all})
}

fn to(number: usize) -> Value {
    json!({"$ref": format!("#/$defs/d{number}")})
}

#[test]
fn a_megabyte_is_not_read() {
    let schema = json!({"type": "object", "description": "x".repeat(1 << 20)});
    let expected = "bytes of JSON where at most 1048576 are read";
    let error = Schema::parse(&schema.to_string()).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    let error = Schema::check(schema).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_hundred_thousand_parts_are_too_many() {
    let values: Vec<u32> = (0..100_000).collect();
    let flat = json!({"type": "object", "properties": {"n": {"enum": values}}});
    let properties: Map<String, Value> =
        (0..100_000).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    let wide = json!({"type": "object", "properties": properties});
    for schema in [flat, wide] {
        for_each_dialect(&Schema::trusted(schema), |dialect, lowered| {
            assert_eq!(lowered, Err(TOO_LARGE.to_owned()), "{dialect}");
        });
    }
}

#[test]
fn references_that_double_forty_times_are_not_written_out() {
    let bomb = defined(41, |level| match level {
        40 => json!({"type": "string"}),
        _ => json!({"type": "object", "properties": {"a": to(level + 1), "b": to(level + 1)}}),
    });
    let schema = Schema::check(bomb).unwrap();
    for_each_dialect(&schema, |dialect, lowered| match TAKE_REFERENCES.contains(&dialect) {
        true => assert_eq!(lowered, Ok(schema.as_value()), "{dialect}"),
        false => assert_eq!(lowered, Err(TOO_LARGE.to_owned()), "{dialect}"),
    });
}

#[test]
fn a_chain_of_references_is_not_followed_for_ever() {
    let links: [fn(Value) -> Value; 3] = [
        |next| next,
        |next| json!({"type": "array", "items": next}),
        |next| json!({"allOf": [next, {"title": "Link"}]}),
    ];
    for link in links {
        let chain = defined(5_000, |level| match level {
            4_999 => json!({"type": "string"}),
            _ => link(to(level + 1)),
        });
        for_each_dialect(&Schema::trusted(chain), |dialect, lowered| {
            if !TAKE_REFERENCES.contains(&dialect) {
                assert_eq!(lowered.err().as_deref(), Some(TOO_LARGE), "{dialect}");
            }
        });
    }
}

/// A schema within itself, built without ever walking down.
fn wrapped(levels: usize, keyword: &str, name: Option<&str>) -> Value {
    let object = |key: &str, value: Value| Value::Object(Map::from_iter([(key.to_owned(), value)]));
    (0..levels).fold(json!({"type": "object"}), |inner, _| {
        let held = match name {
            Some(name) => object(name, inner),
            None => Value::Array(vec![inner]),
        };
        object(keyword, held)
    })
}

#[test]
fn ten_thousand_levels_are_too_deep() {
    for (keyword, name) in [
        ("allOf", None),
        ("anyOf", None),
        ("oneOf", None),
        ("const", None),
        ("properties", Some("in")),
        ("not", Some("not")),
    ] {
        let schema = Schema::trusted(wrapped(10_000, keyword, name));
        for_each_dialect(&schema, |dialect, lowered| {
            assert_eq!(lowered, Err(TOO_DEEP.to_owned()), "{dialect}");
        });
        // Letting go of such a value already takes more stack than there is; no parser makes one.
        std::mem::forget(schema);
        let error = Schema::check(wrapped(500, keyword, name)).unwrap_err();
        assert!(error.to_string().contains("deep"), "{error}");
    }
}

#[test]
fn sixty_schemas_that_all_contain_each_other_are_lowered() {
    let all: Map<String, Value> =
        (0..60).map(|number| (format!("p{number}"), to(number))).collect();
    let dense = defined(60, |_| json!({"type": "object", "properties": all}));
    let schema = Schema::trusted(dense);
    for_each_dialect(&schema, |dialect, lowered| match dialect.name() {
        // So many optional parameters are more than all strict tools may have.
        "anthropic-strict" => drop(lowered),
        _ => assert!(lowered.unwrap().to_string().len() < 1 << 20, "{dialect}"),
    });
}

#[test]
fn a_circle_of_references_admits_anything() {
    let schema = Schema::trusted(defined(3, |number| to((number + 1) % 3)));
    for_each_dialect(&schema, |dialect, lowered| {
        let lowered = lowered.unwrap();
        assert!(lowered["properties"].get("start").is_some(), "{dialect}");
    });
}
