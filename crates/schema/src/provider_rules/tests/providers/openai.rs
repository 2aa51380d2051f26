//! OpenAI without strict mode.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn takes_any_json_schema_of_an_object() {
    assert_accepts(
        Dialect::OPENAI,
        [
            json!({"type": "object", "properties": {}}),
            open_object(json!({})),
            open_object(json!(true)),
            open_object(json!({"oneOf": [{"type": "string"}, {"not": {"minLength": 3}}]})),
            open_object(json!({"type": "string", "format": "uri", "minLength": 1, "default": "a"})),
            open_object(json!({"type": ["string", "integer", "null"]})),
            open_object(json!({"type": "array", "prefixItems": [{"type": "string"}]})),
            with_definitions(
                open_object(json!({"$ref": "#/$defs/n", "description": "d"})),
                json!({"n": {}}),
            ),
            with_definitions(open_object(json!({"$ref": "#/$defs/a%20b"})), json!({"a b": {}})),
            json!({"type": "object", "properties": {"a": {"$ref": "#/properties/b~1c"}, "b/c": {}}}),
            open_object(json!({"type": "array", "items": {"$ref": "#"}})),
            with_definitions(
                open_object(json!({"$ref": "#here"})),
                json!({"n": {"$anchor": "here"}}),
            ),
            with_definitions(
                open_object(json!({"$ref": "#/$defs/n"})),
                json!({"n": {"$id": "inner", "$ref": "#/$defs/m", "$defs": {"m": {}}}}),
            ),
        ],
    );
}

#[test]
fn wants_a_plain_root() {
    let with = |keyword: &str, value: Value| {
        let mut schema = open_object(json!({"type": "string"}));
        schema[keyword] = value;
        schema
    };
    let no_type = json!({"properties": {}});
    assert_rejects(
        Dialect::OPENAI,
        [
            (with("anyOf", json!([{}])), "", "`anyOf` is not accepted at the root"),
            (with("oneOf", json!([{}])), "", "`oneOf` is not accepted at the root"),
            (with("allOf", json!([{}])), "", "`allOf` is not accepted at the root"),
            (with("$ref", json!("#/properties/a")), "", "`$ref` is not accepted at the root"),
            (with("not", json!({})), "", "`not` is not accepted at the root"),
            (with("enum", json!([{}])), "", "`enum` is not accepted at the root"),
            (with("type", json!(["object", "null"])), "", "must have `type: \"object\"`"),
            (with("type", json!("array")), "", "must have `type: \"object\"`"),
            (no_type, "", "must have `type: \"object\"`"),
            (json!({"type": "object"}), "", "must have `properties`"),
        ],
    );
}

#[test]
fn wants_json_schema() {
    assert_rejects(
        Dialect::OPENAI,
        [
            (
                open_object(json!({"type": "text"})),
                "/properties/a/type",
                "not valid JSON Schema 2020-12",
            ),
            (open_object(json!(5)), "/properties/a", "not valid JSON Schema 2020-12"),
            (open_object(json!({"description": 5})), "/properties/a/description", "not valid"),
            (
                open_object(json!({"minimum": 0, "exclusiveMinimum": true})),
                "/properties/a/exclusiveMinimum",
                "not valid",
            ),
            (open_object(json!({"items": [{}]})), "/properties/a/items", "not valid"),
            (open_object(json!({"required": "b"})), "/properties/a/required", "not valid"),
            (
                open_object(json!({"$ref": "#/$defs/n"})),
                "/properties/a",
                "finds no schema at `#/$defs/n`",
            ),
            (open_object(json!({"$ref": "#nowhere"})), "/properties/a", "finds no schema"),
            (open_object(json!({"$ref": "#/type"})), "/properties/a", "finds no schema"),
            (open_object(json!({"$ref": "#/%zz"})), "/properties/a", "finds no schema"),
            (
                open_object(json!({"$ref": "https://example.com/a.json"})),
                "/properties/a",
                "leaves the schema",
            ),
            (open_object(json!({"$ref": "other.json#/a"})), "/properties/a", "leaves the schema"),
            (
                open_object(json!({"$dynamicRef": "#nowhere"})),
                "/properties/a",
                "`$dynamicRef` finds no schema",
            ),
        ],
    );
}
