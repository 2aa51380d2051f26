//! Gemini's `parametersJsonSchema`.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn takes_its_part() {
    let node = json!({"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}});
    assert_accepts(
        Dialect::GEMINI,
        [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}, "title": "t", "description": "d"}),
            open_object(json!({})),
            open_object(json!({"type": ["string", "null"], "enum": ["a", null]})),
            open_object(json!({"type": "integer", "enum": [1, 2], "minimum": 1, "maximum": 2})),
            open_object(
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "d"}),
            ),
            open_object(
                json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 960}),
            ),
            open_object(json!({"type": "array", "prefixItems": [{"type": "string"}]})),
            open_object(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            open_object(json!({"type": "object", "additionalProperties": false})),
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "propertyOrdering": ["b", "a"]}),
            with_definitions(open_object(json!({"$ref": "#/$defs/n"})), node),
        ],
    );
}

#[test]
fn refuses_other_keywords() {
    let rows = [
        ("$schema", json!("https://json-schema.org/draft/2020-12/schema")),
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
        let schema = open_object(json!({"type": "string", keyword: value}));
        assert_rejects(Dialect::GEMINI, [(schema, "/properties/a", words.as_str())]);
    }
}

#[test]
fn keeps_a_budget_and_names() {
    let long = "n".repeat(65);
    let list = json!({"type": "array", "items": {}, "maxItems": 481});
    assert_rejects(
        Dialect::GEMINI,
        [
            (json!({}), "", "must have `type: \"object\"`"),
            (json!({"type": "object", "anyOf": [{}]}), "", "`anyOf` is not accepted at the root"),
            (open_object(json!(true)), "/properties/a", "must be a JSON object"),
            (
                open_object(json!({"type": ["string", "integer"]})),
                "/properties/a",
                "one type and `null`",
            ),
            (open_object(json!({"type": "string", "enum": [1]})), "/properties/a", "does not fit"),
            (open_object(json!({"$ref": "#/$defs/n"})), "/properties/a", "finds no schema"),
            (
                open_object(json!({"$ref": "https://example.com"})),
                "/properties/a",
                "leaves the schema",
            ),
            (
                open_object(json!({"type": "array", "maxItems": 961})),
                "",
                "add up to 961, and at most 960",
            ),
            (json!({"type": "object", "properties": {"a": list, "b": list}}), "", "add up to 962"),
            (json!({"type": "object", "properties": {"a-b": {}}}), "", "the parameter name `a-b`"),
            (json!({"type": "object", "properties": {"1a": {}}}), "", "the parameter name `1a`"),
            (json!({"type": "object", "properties": {"": {}}}), "", "the parameter name ``"),
            (
                open_object(json!({"type": "object", "properties": {"é": {}}})),
                "/properties/a",
                "the parameter name `é`",
            ),
            (json!({"type": "object", "properties": {long: {}}}), "", "the parameter name"),
            (
                open_object(json!({"propertyOrdering": ["b"]})),
                "/properties/a",
                "must be a list of properties",
            ),
        ],
    );
}
