//! Ollama.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn takes_the_fields_of_its_structs() {
    assert_accepts(
        Dialect::OLLAMA,
        [
            json!({"type": "object"}),
            json!({"type": "object", "items": {"type": "string"}}),
            json!({"type": "object", "properties": {}, "required": []}),
            with_definitions(
                open_object(json!({"type": "string"})),
                json!({"n": {"$ref": "#/$defs/n", "minimum": 1}}),
            ),
            open_object(json!({"description": "d"})),
            open_object(json!({"type": ["string", "integer", "null"], "enum": ["a", 1, null]})),
            open_object(
                json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"b": {}}, "required": ["b"]}]}),
            ),
            open_object(
                json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
            ),
        ],
    );
}

#[test]
fn drops_everything_else() {
    let root =
        |keyword: &str, value: Value| json!({"type": "object", "properties": {}, keyword: value});
    assert_rejects(
        Dialect::OLLAMA,
        [
            (json!({}), "", "must have `type: \"object\"`"),
            (root("description", json!("d")), "", "`description` is not accepted"),
            (
                root("additionalProperties", json!(false)),
                "",
                "`additionalProperties` is not accepted",
            ),
            (
                root("$schema", json!("https://json-schema.org/draft/2020-12/schema")),
                "",
                "`$schema` is not accepted",
            ),
            (root("anyOf", json!([{"type": "object"}])), "", "`anyOf` is not accepted"),
            (root("$ref", json!("#")), "", "`$ref` is not accepted"),
            (open_object(json!({"$ref": "#"})), "/properties/a", "`$ref` is not accepted"),
            (
                open_object(json!({"type": "string", "format": "uuid"})),
                "/properties/a",
                "`format` is not accepted",
            ),
            (
                open_object(json!({"type": "string", "default": "a"})),
                "/properties/a",
                "`default` is not accepted",
            ),
            (
                open_object(json!({"type": "integer", "minimum": 1})),
                "/properties/a",
                "`minimum` is not accepted",
            ),
            (
                open_object(json!({"oneOf": [{"minimum": 1}]})),
                "/properties/a",
                "`oneOf` is not accepted",
            ),
            (
                open_object(json!({"anyOf": [{"const": 1}]})),
                "/properties/a/anyOf/0",
                "`const` is not accepted",
            ),
            (
                open_object(json!({"items": {"const": 1}})),
                "/properties/a/items",
                "`const` is not accepted",
            ),
            (
                open_object(json!({"items": {"$ref": "#"}})),
                "/properties/a/items",
                "`$ref` is not accepted",
            ),
            (open_object(json!({"$defs": {}})), "/properties/a", "`$defs` is not accepted"),
            (open_object(json!(true)), "/properties/a", "must be a JSON object"),
        ],
    );
}
