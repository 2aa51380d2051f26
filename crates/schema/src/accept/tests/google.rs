//! Gemini's `parametersJsonSchema`.

use serde_json::json;

use super::*;

#[test]
fn takes_its_part() {
    let node = json!({"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}});
    assert_accepts(
        Dialect::GEMINI,
        [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}, "title": "t", "description": "d"}),
            open(json!({})),
            open(json!({"type": ["string", "null"], "enum": ["a", null]})),
            open(json!({"type": "integer", "enum": [1, 2], "minimum": 1, "maximum": 2})),
            open(json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "d"})),
            open(
                json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 960}),
            ),
            open(json!({"type": "array", "prefixItems": [{"type": "string"}]})),
            open(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            open(json!({"type": "object", "additionalProperties": false})),
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "propertyOrdering": ["b", "a"]}),
            defining(open(json!({"$ref": "#/$defs/n"})), node),
        ],
    );
}

#[test]
fn refuses_other_keywords() {
    let rows = [
        (
            "$schema",
            json!("https://json-schema.org/draft/2020-12/schema"),
        ),
        ("const", json!("a")),
        ("discriminator", json!({})),
        ("examples", json!([])),
        ("format", json!("date-time")),
        ("exclusiveMinimum", json!(1)),
        ("exclusiveMaximum", json!(1)),
        ("oneOf", json!([{}])),
        ("allOf", json!([{}])),
        ("not", json!({})),
        ("pattern", json!("a")),
        ("minLength", json!(1)),
        ("default", json!("a")),
        ("uniqueItems", json!(true)),
    ];
    for (keyword, value) in rows {
        let words = format!("`{keyword}` is not accepted");
        let schema = open(json!({"type": "string", keyword: value}));
        assert_refuses(Dialect::GEMINI, [(schema, "/properties/a", words.as_str())]);
    }
}

#[test]
fn keeps_a_budget_and_names() {
    let long = "n".repeat(65);
    let list = json!({"type": "array", "items": {}, "maxItems": 481});
    assert_refuses(
        Dialect::GEMINI,
        [
            (json!({}), "", "must have `type: \"object\"`"),
            (
                json!({"type": "object", "anyOf": [{}]}),
                "",
                "`anyOf` is not accepted at the root",
            ),
            (open(json!(true)), "/properties/a", "must be a JSON object"),
            (
                open(json!({"type": ["string", "integer"]})),
                "/properties/a",
                "one type and `null`",
            ),
            (
                open(json!({"type": "string", "enum": [1]})),
                "/properties/a",
                "does not fit",
            ),
            (
                open(json!({"$ref": "#/$defs/n"})),
                "/properties/a",
                "finds no schema",
            ),
            (
                open(json!({"$ref": "https://example.com"})),
                "/properties/a",
                "leaves the schema",
            ),
            (
                open(json!({"type": "array", "maxItems": 961})),
                "",
                "add up to 961, and at most 960",
            ),
            (
                json!({"type": "object", "properties": {"a": list, "b": list}}),
                "",
                "add up to 962",
            ),
            (
                json!({"type": "object", "properties": {"a-b": {}}}),
                "",
                "the parameter name `a-b`",
            ),
            (
                json!({"type": "object", "properties": {"1a": {}}}),
                "",
                "the parameter name `1a`",
            ),
            (
                json!({"type": "object", "properties": {"": {}}}),
                "",
                "the parameter name ``",
            ),
            (
                open(json!({"type": "object", "properties": {"é": {}}})),
                "/properties/a",
                "the parameter name `é`",
            ),
            (
                json!({"type": "object", "properties": {long: {}}}),
                "",
                "the parameter name",
            ),
            (
                open(json!({"propertyOrdering": ["b"]})),
                "/properties/a",
                "must be a list of properties",
            ),
        ],
    );
}
