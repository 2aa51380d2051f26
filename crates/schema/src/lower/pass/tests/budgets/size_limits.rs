//! Schemas that are too large.

use serde_json::{Map, Value, json};

use crate::lower::pass::tests::{assert_pass, pass_error, run_pass, run_pass_with_marks};
use crate::{
    Dialect,
    lower::{LIFT_KEYWORD, pass::size_limits::run},
};

/// As many objects within each other.
fn nested(levels: usize) -> Value {
    (1..levels).fold(
        json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {}}}),
        |inner, _| json!({"type": "object", "properties": {"in": inner}}),
    )
}

fn strings(count: usize, length: usize) -> Value {
    (0..count).map(|number| format!("{number:0length$}")).collect()
}

#[test]
fn ten_levels_fit_and_the_eleventh_is_text() {
    let ten = nested(10);
    assert_pass(run, Dialect::OPENAI_STRICT, ten.clone(), ten, &[]);

    let (after, losses) = run_pass(run, Dialect::OPENAI_STRICT, nested(11));
    let deepest = "/properties/in".repeat(10);
    assert_eq!(
        after.pointer(&deepest),
        Some(
            &json!({"type": "string", "description": "An object with `x` and `y`, as JSON text", (LIFT_KEYWORD): {"json": true}})
        )
    );
    assert_eq!(
        losses,
        [format!(
            "{deepest}: type (wider), described as \"an object with `x` and `y`, as JSON text\""
        )]
    );
}

#[test]
fn arrays_count_and_unions_do_not() {
    let deep = |inner: Value| {
        (0..8).fold(
            inner,
            |inner, _| json!({"anyOf": [{"type": "array", "items": inner}, {"type": "null"}]}),
        )
    };
    let fits = json!({"type": "object", "properties": {"a": deep(json!({"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]}))}});
    assert_pass(run, Dialect::OPENAI_STRICT, fits.clone(), fits, &[]);
}

#[test]
fn definitions_are_counted_for_themselves() {
    let fits = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": nested(10)}});
    assert_pass(run, Dialect::OPENAI_STRICT, fits.clone(), fits, &[]);
}

#[test]
fn what_is_text_now_is_one_with_other_text_and_keeps_the_marks_of_its_property() {
    let subschema = json!({
        "anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}, {"type": "null"}],
        "description": "Deep.",
        (LIFT_KEYWORD): {"absent": true},
    });
    let whole =
        (0..10).fold(subschema, |inner, _| json!({"type": "object", "properties": {"in": inner}}));
    let (after, _) = run_pass_with_marks(run, Dialect::OPENAI_STRICT, whole);
    assert_eq!(
        after.pointer(&"/properties/in".repeat(10)),
        Some(&json!({
            "anyOf": [
                {"type": "null"},
                {
                    "description": "An array, each item is an integer, as JSON text (a string is written in JSON's quotes)",
                    "type": "string",
                    (LIFT_KEYWORD): {"json": true},
                },
            ],
            "description": "Deep.",
            (LIFT_KEYWORD): {"absent": true},
        }))
    );
}

#[test]
fn a_long_enum_of_long_strings_is_described() {
    let (after, losses) = run_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"properties": {
            "a": {"type": "string", "enum": strings(251, 60)},
            "b": {"type": "string", "enum": strings(250, 61)},
            "enum": {"type": "string", "enum": strings(251, 50)},
        }}),
    );
    assert!(after.pointer("/properties/a/enum").is_none());
    assert!(after.pointer("/properties/b/enum").is_some());
    assert!(after.pointer("/properties/enum/enum").is_some());
    assert_eq!(losses.len(), 1);
    assert!(
        losses[0].starts_with("/properties/a: enum (wider), described as \"one of \"0000"),
        "{losses:?}"
    );
}

#[test]
fn the_largest_enums_go_until_the_rest_fits() {
    let (after, losses) = run_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"properties": {
            "a": {"type": "string", "enum": strings(600, 4)},
            "b": {"type": "string", "enum": strings(400, 4)},
            "c": {"type": "string", "enum": strings(500, 4)},
        }}),
    );
    assert!(after.pointer("/properties/a/enum").is_none());
    assert!(after.pointer("/properties/b/enum").is_some());
    assert!(after.pointer("/properties/c/enum").is_some());
    assert_eq!(losses.len(), 1);
}

#[test]
fn too_many_properties_or_characters_are_too_many() {
    let many: Map<String, Value> =
        (0..5_001).map(|number| (number.to_string(), json!({}))).collect();
    let error =
        pass_error(run, Dialect::OPENAI_STRICT, json!({"type": "object", "properties": many}));
    assert_eq!(error.to_string(), "it has 5001 properties, of which 5000 are allowed");

    let long = json!({"x".repeat(120_001): {}});
    let error =
        pass_error(run, Dialect::OPENAI_STRICT, json!({"type": "object", "properties": long}));
    assert_eq!(
        error.to_string(),
        "it has 120001 characters in its names and enum values, of which 120000 are allowed"
    );
}

#[test]
fn where_nothing_is_limited_nothing_changes() {
    let deep = nested(30);
    assert_pass(run, Dialect::DEEPSEEK_STRICT, deep.clone(), deep, &[]);
}
