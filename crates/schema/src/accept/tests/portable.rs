//! What all providers have in common.

use serde_json::json;

use super::*;

#[test]
fn takes_the_common_part() {
    let kinds = ["string", "integer", "number", "boolean"];
    assert_accepts(
        Dialect::PORTABLE,
        kinds.map(|kind| open(json!({"type": kind, "description": "d"}))),
    );
    assert_accepts(
        Dialect::PORTABLE,
        [
            json!({"type": "object", "properties": {}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            open(open(json!({"type": "string", "enum": ["a", "b"]}))),
            open(
                json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}),
            ),
            open(
                json!({"anyOf": [{"type": "string", "description": "d"}, open(json!({"type": "string"}))]}),
            ),
        ],
    );
}

#[test]
fn refuses_the_rest() {
    assert_refuses(
        Dialect::PORTABLE,
        [
            (json!({"type": "object"}), "", "must have `properties`"),
            (
                json!({"properties": {}}),
                "",
                "must have `type: \"object\"`",
            ),
            (
                json!({"type": "object", "properties": {}, "anyOf": [{"type": "string"}]}),
                "",
                "not accepted at the root",
            ),
            (open(json!({})), "/properties/a", "untyped"),
            (open(json!(true)), "/properties/a", "must be a JSON object"),
            (
                open(json!({"type": "null"})),
                "/properties/a",
                "the type `null` is not accepted",
            ),
            (
                open(json!({"type": ["string"]})),
                "/properties/a",
                "must be a single type",
            ),
            (
                open(json!({"type": "string", "enum": [""]})),
                "/properties/a",
                "not empty",
            ),
            (
                open(json!({"type": "integer", "enum": ["1"]})),
                "/properties/a",
                "only on strings",
            ),
            (
                open(json!({"type": "array"})),
                "/properties/a",
                "must have `items`",
            ),
            (
                open(json!({"type": "object"})),
                "/properties/a",
                "at least one property",
            ),
            (
                open(json!({"anyOf": [{"type": "string"}], "description": "d"})),
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
        let schema = open(json!({"type": "string", keyword: value}));
        assert_refuses(
            Dialect::PORTABLE,
            [(schema, "/properties/a", words.as_str())],
        );
    }
}
