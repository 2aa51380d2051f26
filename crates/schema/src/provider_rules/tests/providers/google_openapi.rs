//! Gemini's `parameters`.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn takes_its_fields() {
    let text = json!({"type": "string"});
    assert_accepts(
        Dialect::GEMINI_OPENAPI,
        [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}}),
            json!({"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": true}}}),
            open_object(
                json!({"type": "string", "nullable": true, "title": "t", "description": "d"}),
            ),
            open_object(json!({"type": "string", "enum": ["a", "b"], "format": "enum"})),
            open_object(
                json!({"type": "string", "format": "date-time", "pattern": "a", "minLength": 1, "maxLength": 2}),
            ),
            open_object(json!({"type": "integer", "format": "int32", "minimum": 1, "maximum": 2})),
            open_object(json!({"type": "integer", "format": "int64", "default": 1, "example": 2})),
            open_object(json!({"type": "array", "items": text, "minItems": 1, "maxItems": 2})),
            open_object(
                json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}),
            ),
            open_object(json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})),
            open_object(
                json!({"type": "object", "properties": {"b": text}, "minProperties": 1, "maxProperties": 2}),
            ),
            json!({"type": "object", "properties": {"a": text}, "required": ["a"], "propertyOrdering": ["a"]}),
        ],
    );
}

#[test]
fn refuses_unknown_names() {
    let rows = [
        ("$schema", json!("https://json-schema.org/draft/2020-12/schema")),
        ("$ref", json!("#/$defs/n")),
        ("$defs", json!({})),
        ("additionalProperties", json!(false)),
        ("const", json!("a")),
        ("oneOf", json!([{}])),
        ("allOf", json!([{}])),
        ("not", json!({})),
        ("exclusiveMinimum", json!(1)),
        ("exclusiveMaximum", json!(1)),
        ("uniqueItems", json!(true)),
        ("propertyNames", json!({})),
        ("examples", json!([])),
        ("$comment", json!("c")),
        ("prefixItems", json!([{}])),
        ("multipleOf", json!(1)),
        ("defs", json!({})),
        ("ref", json!("n")),
    ];
    for (keyword, value) in rows {
        let words = format!("`{keyword}` is not accepted");
        let schema = open_object(json!({"type": "string", keyword: value}));
        assert_rejects(Dialect::GEMINI_OPENAPI, [(schema, "/properties/a", words.as_str())]);
    }
}

#[test]
fn refuses_values_of_the_wrong_kind() {
    let rows = [
        ("description", json!(1), "must be text"),
        ("title", json!(null), "must be text"),
        ("pattern", json!([]), "must be text"),
        ("nullable", json!("yes"), "must be `true` or `false`"),
        ("minimum", json!("1"), "must be a number"),
        ("minLength", json!(-1), "must be a whole number"),
        ("maxLength", json!(1.5), "must be a whole number"),
        ("items", json!([{}]), "must be an object"),
        ("properties", json!([]), "must be an object"),
        ("required", json!("a"), "must be a list of strings"),
    ];
    for (keyword, value, words) in rows {
        let schema = open_object(json!({"type": "string", keyword: value}));
        let refusals = validate_for(Dialect::GEMINI_OPENAPI, &schema);
        let words = format!("`{keyword}` {words}");
        assert!(refusals.iter().any(|refusal| refusal.rule == words), "{schema}\n{refusals:#?}");
    }
    let empty = open_object(json!({"anyOf": []}));
    assert_rejects(
        Dialect::GEMINI_OPENAPI,
        [(empty, "/properties/a", "`anyOf` must be a list that is not empty")],
    );
}

#[test]
fn wants_one_type() {
    assert_rejects(
        Dialect::GEMINI_OPENAPI,
        [
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "",
                "must have `type: \"object\"`",
            ),
            (
                open_object(json!({"type": ["string", "null"]})),
                "/properties/a",
                "`type` must be text",
            ),
            (open_object(json!({})), "/properties/a", "untyped"),
            (open_object(json!(true)), "/properties/a", "must be a JSON object"),
            (
                open_object(json!({"type": "text"})),
                "/properties/a",
                "the type `text` is not accepted",
            ),
            (open_object(json!({"type": "STRING"})), "/properties/a", "not in the same case"),
            (open_object(json!({"type": "String"})), "/properties/a", "not in the same case"),
            (
                json!({"type": "OBJECT", "properties": {"a": {"type": "string"}}}),
                "/properties/a",
                "the same case",
            ),
        ],
    );
}

#[test]
fn has_rules_between_fields() {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    assert_rejects(
        Dialect::GEMINI_OPENAPI,
        [
            (
                open_object(json!({"type": "string", "enum": []})),
                "/properties/a",
                "an empty `enum`",
            ),
            (
                open_object(json!({"type": "string", "enum": [""]})),
                "/properties/a",
                "only strings that are not empty",
            ),
            (
                open_object(json!({"type": "integer", "enum": ["1"]})),
                "/properties/a",
                "only on strings",
            ),
            (
                open_object(json!({"anyOf": [{"type": "string"}], "description": "d"})),
                "/properties/a",
                "`description` is not",
            ),
            (
                open_object(json!({"anyOf": [{"type": "string"}], "nullable": true})),
                "/properties/a",
                "beside `anyOf`",
            ),
            (
                open_object(json!({"anyOf": [{"type": "string"}], "type": "string"})),
                "/properties/a",
                "beside `anyOf`",
            ),
            (
                json!({"type": "object", "anyOf": [{"type": "string"}]}),
                "",
                "`anyOf` is not accepted at the root",
            ),
            (open_object(json!({"type": "object"})), "/properties/a", "at least one property"),
            (open_object(object(json!({}))), "/properties/a", "at least one property"),
            (
                open_object(json!({"type": "array", "items": object(json!({}))})),
                "/properties/a/items",
                "at least one",
            ),
            (json!({"type": "object", "required": ["b"]}), "", "names `b`, which is no property"),
            (open_object(json!({"type": "array"})), "/properties/a", "must have `items`"),
            (object(json!({"a.b": {"type": "string"}})), "", "the parameter name `a.b`"),
            (
                json!({"type": "object", "propertyOrdering": ["b"]}),
                "",
                "must be a list of properties",
            ),
            (
                open_object(json!({"type": "string", "format": "uuid"})),
                "/properties/a",
                "format `uuid`",
            ),
            (
                open_object(json!({"type": "string", "format": "int32"})),
                "/properties/a",
                "format `int32`",
            ),
            (
                open_object(json!({"type": "integer", "format": "date-time"})),
                "/properties/a",
                "format `date-time`",
            ),
            (
                open_object(json!({"type": "boolean", "format": "enum"})),
                "/properties/a",
                "format `enum`",
            ),
        ],
    );
}
