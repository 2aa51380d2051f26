//! What all providers have in common.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn takes_the_common_part() {
    let kinds = ["string", "integer", "number", "boolean"];
    assert_accepts(
        Dialect::PORTABLE,
        kinds.map(|kind| open_object(json!({"type": kind, "description": "d"}))),
    );
    assert_accepts(
        Dialect::PORTABLE,
        [
            json!({"type": "object", "properties": {}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            open_object(open_object(json!({"type": "string", "enum": ["a", "b"]}))),
            open_object(
                json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}),
            ),
            open_object(
                json!({"anyOf": [{"type": "string", "description": "d"}, open_object(json!({"type": "string"}))]}),
            ),
        ],
    );
}

#[test]
fn refuses_the_rest() {
    assert_rejects(
        Dialect::PORTABLE,
        [
            (json!({"type": "object"}), "", "must have `properties`"),
            (json!({"properties": {}}), "", "must have `type: \"object\"`"),
            (
                json!({"type": "object", "properties": {}, "anyOf": [{"type": "string"}]}),
                "",
                "not accepted at the root",
            ),
            (open_object(json!({})), "/properties/a", "untyped"),
            (open_object(json!(true)), "/properties/a", "must be a JSON object"),
            (
                open_object(json!({"type": "null"})),
                "/properties/a",
                "the type `null` is not accepted",
            ),
            (open_object(json!({"type": ["string"]})), "/properties/a", "must be a single type"),
            (open_object(json!({"type": "string", "enum": [""]})), "/properties/a", "not empty"),
            (
                open_object(json!({"type": "integer", "enum": ["1"]})),
                "/properties/a",
                "only on strings",
            ),
            (open_object(json!({"type": "array"})), "/properties/a", "must have `items`"),
            (open_object(json!({"type": "object"})), "/properties/a", "at least one property"),
            (
                open_object(json!({"anyOf": [{"type": "string"}], "description": "d"})),
                "/properties/a",
                "beside `anyOf`",
            ),
            (
                json!({"type": "object", "properties": {"a-b": {"type": "string"}}}),
                "",
                "the parameter name `a-b`",
            ),
            (
                json!({"type": "object", "properties": {}, "required": ["a"]}),
                "",
                "which is no property",
            ),
        ],
    );
    let rows = [
        ("additionalProperties", json!(false)),
        ("format", json!("date-time")),
        ("title", json!("t")),
        ("default", json!("a")),
        ("minimum", json!(1)),
        ("pattern", json!("a")),
        ("nullable", json!(true)),
        ("const", json!("a")),
        ("oneOf", json!([{}])),
        ("$ref", json!("#")),
    ];
    for (keyword, value) in rows {
        let words = format!("`{keyword}` is not accepted");
        let schema = open_object(json!({"type": "string", keyword: value}));
        assert_rejects(Dialect::PORTABLE, [(schema, "/properties/a", words.as_str())]);
    }
}
