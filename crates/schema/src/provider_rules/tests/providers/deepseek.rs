//! DeepSeek with strict mode.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn takes_its_subset() {
    let formats = ["email", "hostname", "ipv4", "ipv6", "uuid"];
    assert_accepts(
        Dialect::DEEPSEEK_STRICT,
        formats.map(|format| closed_object(json!({"type": "string", "format": format}))),
    );
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/n"}});
    assert_accepts(
        Dialect::DEEPSEEK_STRICT,
        [
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            closed_object(json!({"type": ["string", "integer", "null"]})),
            closed_object(
                json!({"type": "number", "minimum": 1, "exclusiveMaximum": 2, "multipleOf": 1}),
            ),
            closed_object(
                json!({"type": "string", "enum": ["a"], "pattern": "a", "description": "d"}),
            ),
            closed_object(
                json!({"anyOf": [{"type": "string"}, closed_object(json!({"type": "null"}))]}),
            ),
            closed_object(json!({"allOf": [{"type": "string"}]})),
            closed_object(json!({"type": "number", "exclusiveMinimum": 1, "maximum": 2})),
            closed_object(json!({"type": "string", "const": "a"})),
            with_definitions(closed_object(list.clone()), json!({"n": closed_object(list)})),
            with_definitions(
                closed_object(json!({"$ref": "#/$defs/n", "description": "d"})),
                json!({"n": {"type": "string"}}),
            ),
        ],
    );
}

#[test]
fn refuses_the_rest() {
    let text = || json!({"n": {"type": "string"}});
    let choice = |branch: Value| closed_object(json!({"anyOf": [{"type": "null"}, branch]}));
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/n"}});
    let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let map = json!({"type": "object", "properties": {"b": {"type": "null"}}, "required": ["b"],
        "additionalProperties": {"type": "string"}});
    let optional = json!({"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": false});
    let with =
        |keyword: &str, value: Value| closed_object(json!({"type": "string", keyword: value}));
    let items = |keyword: &str| {
        closed_object(json!({"type": "array", "items": {"type": "null"}, keyword: 1}))
    };
    let either = json!({"allOf": [{"type": "string"}, {"type": "string"}]});
    assert_rejects(
        Dialect::DEEPSEEK_STRICT,
        [
            (
                with_definitions(choice(json!({"$ref": "#/$defs/n"})), text()),
                "/properties/a/anyOf/1",
                "inside `anyOf`",
            ),
            (
                with_definitions(choice(list), text()),
                "/properties/a/anyOf/1/items",
                "inside `anyOf`",
            ),
            (closed_object(either), "/properties/a", "more than one schema"),
            (
                closed_object(json!({"type": ["array", "null"], "items": {"type": "null"}})),
                "/properties/a",
                "a list of types",
            ),
            (closed_object(map), "/properties/a", "`additionalProperties: false`"),
            (closed_object(json!({})), "/properties/a", "untyped"),
            (closed_object(json!({"type": "array"})), "/properties/a", "must have `items`"),
            (closed_object(empty), "/properties/a", "at least one property"),
            (optional, "", "`a` is missing"),
            (json!({"type": "object", "properties": {}}), "", "`additionalProperties: false`"),
            (with("format", json!("uri")), "/properties/a", "format `uri`"),
            (with("format", json!("date-time")), "/properties/a", "format `date-time`"),
            (with("minLength", json!(1)), "/properties/a", "`minLength` is not accepted"),
            (with("maxLength", json!(1)), "/properties/a", "`maxLength` is not accepted"),
            (items("minItems"), "/properties/a", "`minItems` is not accepted"),
            (items("maxItems"), "/properties/a", "`maxItems` is not accepted"),
            (with("oneOf", json!([{}])), "/properties/a", "`oneOf` is not accepted"),
            (with("default", json!("a")), "/properties/a", "`default` is not accepted"),
            (with("pattern", json!("(?!a)")), "/properties/a", "look-around"),
            (with("enum", json!([1])), "/properties/a", "does not fit"),
            (closed_object(json!({"$ref": "#/$defs/n"})), "/properties/a", "finds no schema"),
        ],
    );
}

#[test]
fn splits_lists_with_objects() {
    let mut object = closed_object(json!({"type": "null"}));
    object["type"] = json!(["object", "null"]);
    assert_rejects(
        Dialect::DEEPSEEK_STRICT,
        [(closed_object(object), "/properties/a", "`object` or `array`")],
    );
}
