//! Mistral, Groq, DeepSeek without strict mode, xAI and Bedrock.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn mistral_takes_draft_7() {
    assert_accepts(
        Dialect::MISTRAL,
        [
            json!({"type": "object"}),
            open_object(json!({"items": [{"type": "string"}], "additionalItems": false})),
            open_object(
                json!({"if": {"const": 1}, "then": {"minimum": 1}, "dependencies": {"a": ["b"], "c": {}}}),
            ),
            open_object(json!({"type": "string", "format": "uri", "minLength": 1, "default": "a"})),
            with_definitions(
                open_object(json!({"$ref": "#/$defs/n"})),
                json!({"n": {"type": "string"}}),
            ),
            json!({"type": "object", "properties": {"a": {"$ref": "#/definitions/n"}}, "definitions": {"n": true}}),
            // Not the keywords, but parameters of the same name.
            open_object(json!({"type": "object", "properties": {"prefixItems": {}, "$ref": {}}})),
        ],
    );
}

#[test]
fn mistral_refuses_what_draft_7_does_not_know() {
    let rows = [
        ("prefixItems", json!([{}])),
        ("dependentRequired", json!({})),
        ("dependentSchemas", json!({})),
        ("unevaluatedItems", json!(false)),
        ("unevaluatedProperties", json!(false)),
        ("minContains", json!(1)),
        ("maxContains", json!(1)),
        ("$anchor", json!("a")),
        ("$dynamicAnchor", json!("a")),
        ("$dynamicRef", json!("#")),
        ("contentSchema", json!({})),
        ("$recursiveAnchor", json!(true)),
        ("$recursiveRef", json!("#")),
    ];
    for (keyword, value) in rows {
        let words = format!("`{keyword}` is not accepted");
        let schema = open_object(json!({keyword: value}));
        assert_rejects(Dialect::MISTRAL, [(schema, "/properties/a", words.as_str())]);
    }
    let text = || json!({"n": {"type": "string"}});
    let described = open_object(json!({"$ref": "#/$defs/n", "description": "d"}));
    assert_rejects(
        Dialect::MISTRAL,
        [
            (json!({"properties": {}}), "", "must have `type: \"object\"`"),
            (json!({"type": "object", "oneOf": [{}]}), "", "`oneOf` is not accepted at the root"),
            (
                open_object(json!({"type": "text"})),
                "/properties/a/type",
                "not valid JSON Schema Draft 7",
            ),
            (
                open_object(json!({"exclusiveMinimum": true})),
                "/properties/a/exclusiveMinimum",
                "not valid",
            ),
            (open_object(json!({"description": 1})), "/properties/a/description", "not valid"),
            (open_object(json!({"items": []})), "/properties/a/items", "not valid"),
            (
                with_definitions(described, text()),
                "/properties/a",
                "`description` is not accepted beside `$ref`",
            ),
            (open_object(json!({"$ref": "#/$defs/n"})), "/properties/a", "finds no schema"),
            (
                with_definitions(open_object(json!({})), json!({"n": {"type": "text"}})),
                "/$defs/n/type",
                "not valid",
            ),
        ],
    );
}

#[test]
fn groq_and_deepseek_are_as_openai() {
    for dialect in [Dialect::GROQ, Dialect::DEEPSEEK] {
        assert_accepts(
            dialect,
            [
                open_object(json!({})),
                open_object(json!({"oneOf": [{"minLength": 1}], "default": 1})),
                with_definitions(open_object(json!({"$ref": "#/$defs/n"})), json!({"n": {}})),
            ],
        );
        assert_rejects(
            dialect,
            [
                (json!({"type": "object"}), "", "must have `properties`"),
                (
                    json!({"type": "object", "properties": {}, "allOf": [{}]}),
                    "",
                    "`allOf` is not accepted at the root",
                ),
                (
                    open_object(json!({"type": "text"})),
                    "/properties/a/type",
                    "not valid JSON Schema 2020-12",
                ),
                (open_object(json!({"$ref": "#/$defs/n"})), "/properties/a", "finds no schema"),
            ],
        );
    }
}

#[test]
fn xai_refuses_bounds_on_length() {
    assert_accepts(Dialect::XAI, [open_object(json!({"oneOf": [{"minimum": 1, "pattern": "a"}]}))]);
    let rows = [
        ("minLength", json!(1)),
        ("maxLength", json!(1)),
        ("minItems", json!(1)),
        ("maxItems", json!(1)),
        ("allOf", json!([{}])),
    ];
    for (keyword, value) in rows {
        let words = format!("`{keyword}` is not accepted");
        let schema = open_object(json!({"not": {keyword: value}}));
        assert_rejects(Dialect::XAI, [(schema, "/properties/a/not", words.as_str())]);
    }
    assert_rejects(
        Dialect::XAI,
        [
            (json!({"type": "object"}), "", "must have `properties`"),
            (
                json!({"type": "object", "properties": {}, "anyOf": [{}]}),
                "",
                "`anyOf` is not accepted at the root",
            ),
        ],
    );
}

#[test]
fn bedrock_wants_no_definitions() {
    assert_accepts(
        Dialect::BEDROCK,
        [
            json!({"type": "object"}),
            open_object(json!({"oneOf": [{"type": "string", "minLength": 1}]})),
            open_object(json!({"type": "object", "properties": {"$ref": {}, "$defs": {}}})),
        ],
    );
    assert_rejects(
        Dialect::BEDROCK,
        [
            (json!({"properties": {}}), "", "must have `type: \"object\"`"),
            (json!({"type": "object", "anyOf": [{}]}), "", "`anyOf` is not accepted at the root"),
            (open_object(json!({"$ref": "#"})), "/properties/a", "`$ref` is not accepted"),
            (with_definitions(open_object(json!({})), json!({})), "", "`$defs` is not accepted"),
            (
                open_object(json!({"definitions": {}})),
                "/properties/a",
                "`definitions` is not accepted",
            ),
            (
                open_object(json!({"type": "text"})),
                "/properties/a/type",
                "not valid JSON Schema 2020-12",
            ),
        ],
    );
}
