//! Unions.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_pass, run_pass_with_marks};
use crate::{
    Dialect,
    lower::{
        LIFT_KEYWORD,
        pass::unions::{deduplicate_branches, isolate_any_of, wrap_described_refs},
    },
};

#[test]
fn what_stands_beside_a_union_moves_into_it() {
    assert_pass(
        isolate_any_of,
        Dialect::GEMINI_OPENAPI,
        json!({"properties": {"anyOf": {"description": "Size", "nullable": true, "anyOf": [{"type": "integer"}, {"type": "string", "description": "as text"}, {"type": "boolean", "description": " "}]}}}),
        json!({"properties": {"anyOf": {"anyOf": [
            {"type": "integer", "description": "Size", "nullable": true},
            {"type": "string", "description": "Size. as text"},
            {"type": "boolean", "description": "Size"},
        ]}}}),
        &[],
    );
}

#[test]
fn marks_stay_beside_it() {
    let (after, _) = run_pass_with_marks(
        isolate_any_of,
        Dialect::GEMINI_OPENAPI,
        json!({"description": "", "anyOf": [{"type": "integer"}, {"type": "string"}], (LIFT_KEYWORD): {"name": "a.b"}}),
    );
    assert_eq!(
        after,
        json!({"anyOf": [{"type": "integer"}, {"type": "string"}], (LIFT_KEYWORD): {"name": "a.b"}})
    );
}

#[test]
fn branches_with_equal_descriptions_are_merged() {
    assert_pass(
        isolate_any_of,
        Dialect::GEMINI_OPENAPI,
        json!({"description": "Size.", "nullable": true, "anyOf": [{"type": "integer", "description": "Size."}, {"type": "integer"}]}),
        json!({"type": "integer", "description": "Size.", "nullable": true}),
        &[],
    );
}

#[test]
fn a_union_that_stands_alone_is_left_alone() {
    let before = json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}]});
    assert_pass(isolate_any_of, Dialect::GEMINI_OPENAPI, before.clone(), before, &[]);
}

#[test]
fn a_described_reference_is_wrapped() {
    assert_pass(
        wrap_described_refs,
        Dialect::OPENAI_STRICT,
        json!({"properties": {"$ref": {"$ref": "#/$defs/A", "description": "The next."}, "b": {"$ref": "#/$defs/A"}}}),
        json!({"properties": {"$ref": {"description": "The next.", "anyOf": [{"$ref": "#/$defs/A"}]}, "b": {"$ref": "#/$defs/A"}}}),
        &[],
    );
}

#[test]
fn branches_that_became_the_same_are_one() {
    assert_pass(
        deduplicate_branches,
        Dialect::OLLAMA,
        json!({"properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "string"}], "description": "Name."},
            "b": {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]},
            "c": {"anyOf": [{"type": "string", "description": "one"}, {"type": "string", "description": "other"}]},
        }}),
        json!({"properties": {
            "a": {"description": "Name.", "type": "string"},
            "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "c": {"anyOf": [{"type": "string", "description": "one"}, {"type": "string", "description": "other"}]},
        }}),
        &[],
    );
}

/// Returns true if the values of two schemas in a union are ambiguous when they are lifted.
fn are_confused(one: Value, other: Value) -> bool {
    let (_, losses) = run_pass_with_marks(
        deduplicate_branches,
        Dialect::OPENAI_STRICT,
        json!({"anyOf": [one, other]}),
    );
    assert!(losses.is_empty() || losses == ["/: anyOf (narrower)"]);
    !losses.is_empty()
}

#[test]
fn values_that_would_be_read_by_the_wrong_branch_are_reported() {
    let json_text = || json!({"type": "string", (LIFT_KEYWORD): {"json": true}});
    let object = |required: Value, a: Value| json!({"type": "object", "properties": {"a": a, "kind": {"type": "string"}}, "required": required, "additionalProperties": false});

    assert!(are_confused(json!({"type": "string"}), json_text()));
    assert!(!are_confused(json!({"type": "integer"}), json_text()));
    assert!(are_confused(
        object(json!(["a"]), json!({"type": "string"})),
        object(json!(["a"]), json_text())
    ));
    assert!(!are_confused(object(json!(["a"]), json_text()), object(json!([]), json_text())));
    assert!(!are_confused(
        object(json!(["a"]), json!({"type": "integer"})),
        object(json!(["a"]), json_text())
    ));
    assert!(!are_confused(
        json!({"type": "object", "properties": {"b": json_text()}, "required": ["b"]}),
        object(json!(["a"]), json_text())
    ));
}

#[test]
fn a_discriminator_separates_branches() {
    let tagged = |tag: &str, value: Value| json!({"type": "object", "properties": {"kind": {"type": "string", "enum": [tag]}, "value": value}, "required": ["kind", "value"]});
    let json_text = json!({"type": "string", (LIFT_KEYWORD): {"json": true}});
    assert!(!are_confused(tagged("a", json_text.clone()), tagged("b", json!({"type": "string"}))));
    assert!(are_confused(tagged("a", json_text), tagged("a", json!({"type": "string"}))));
}

#[test]
fn leaving_out_is_read_the_same_in_every_branch() {
    let subschema = |absent: bool| match absent {
        true => json!({"type": ["string", "null"], (LIFT_KEYWORD): {"absent": true}}),
        false => json!({"type": "string"}),
    };
    let object = |a: bool, b: bool| json!({"type": "object", "properties": {"a": subschema(a), "b": subschema(b)}, "required": ["a", "b"]});
    assert!(!are_confused(object(true, false), object(false, true)));
}

#[test]
fn arrays_of_disjoint_items_are_disjoint() {
    let array = |items: Value| json!({"type": "array", "items": items});
    let json_text = json!({"type": "string", (LIFT_KEYWORD): {"json": true}});
    assert!(!are_confused(array(json_text.clone()), array(json!({"type": "integer"}))));
    assert!(are_confused(array(json_text), array(json!({"type": "string"}))));
}
