//! DeepSeek with strict mode.

use serde_json::json;

use super::*;

#[test]
fn takes_its_subset() {
    let formats = ["email", "hostname", "ipv4", "ipv6", "uuid"];
    assert_accepts(
        Dialect::DEEPSEEK_STRICT,
        formats.map(|format| closed(json!({"type": "string", "format": format}))),
    );
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/n"}});
    assert_accepts(
        Dialect::DEEPSEEK_STRICT,
        [
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            closed(json!({"type": ["string", "integer", "null"]})),
            closed(json!({"type": "number", "minimum": 1, "exclusiveMaximum": 2, "multipleOf": 1})),
            closed(json!({"type": "string", "enum": ["a"], "pattern": "a", "description": "d"})),
            closed(json!({"anyOf": [{"type": "string"}, closed(json!({"type": "null"}))]})),
            closed(json!({"allOf": [{"type": "string"}]})),
            closed(json!({"type": "number", "exclusiveMinimum": 1, "maximum": 2})),
            closed(json!({"type": "string", "const": "a"})),
            defining(closed(list.clone()), json!({"n": closed(list)})),
            defining(
                closed(json!({"$ref": "#/$defs/n", "description": "d"})),
                json!({"n": {"type": "string"}}),
            ),
        ],
    );
}

#[test]
fn refuses_the_rest() {
    let text = || json!({"n": {"type": "string"}});
    let choice = |branch: Value| closed(json!({"anyOf": [{"type": "null"}, branch]}));
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/n"}});
    let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let map = json!({"type": "object", "properties": {"b": {"type": "null"}}, "required": ["b"],
        "additionalProperties": {"type": "string"}});
    let optional = json!({"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": false});
    let with = |keyword: &str, value: Value| closed(json!({"type": "string", keyword: value}));
    let items =
        |keyword: &str| closed(json!({"type": "array", "items": {"type": "null"}, keyword: 1}));
    let either = json!({"allOf": [{"type": "string"}, {"type": "string"}]});
    assert_refuses(
        Dialect::DEEPSEEK_STRICT,
        [
            (
                defining(choice(json!({"$ref": "#/$defs/n"})), text()),
                "/properties/a/anyOf/1",
                "inside `anyOf`",
            ),
            (
                defining(choice(list), text()),
                "/properties/a/anyOf/1/items",
                "inside `anyOf`",
            ),
            (closed(either), "/properties/a", "more than one schema"),
            (
                closed(json!({"type": ["array", "null"], "items": {"type": "null"}})),
                "/properties/a",
                "a list of types",
            ),
            (
                closed(map),
                "/properties/a",
                "`additionalProperties: false`",
            ),
            (closed(json!({})), "/properties/a", "untyped"),
            (
                closed(json!({"type": "array"})),
                "/properties/a",
                "must have `items`",
            ),
            (closed(empty), "/properties/a", "at least one property"),
            (optional, "", "`a` is missing"),
            (
                json!({"type": "object", "properties": {}}),
                "",
                "`additionalProperties: false`",
            ),
            (
                with("format", json!("uri")),
                "/properties/a",
                "format `uri`",
            ),
            (
                with("format", json!("date-time")),
                "/properties/a",
                "format `date-time`",
            ),
            (
                with("minLength", json!(1)),
                "/properties/a",
                "`minLength` is not accepted",
            ),
            (
                with("maxLength", json!(1)),
                "/properties/a",
                "`maxLength` is not accepted",
            ),
            (
                items("minItems"),
                "/properties/a",
                "`minItems` is not accepted",
            ),
            (
                items("maxItems"),
                "/properties/a",
                "`maxItems` is not accepted",
            ),
            (
                with("oneOf", json!([{}])),
                "/properties/a",
                "`oneOf` is not accepted",
            ),
            (
                with("default", json!("a")),
                "/properties/a",
                "`default` is not accepted",
            ),
            (
                with("pattern", json!("(?!a)")),
                "/properties/a",
                "look-around",
            ),
            (with("enum", json!([1])), "/properties/a", "does not fit"),
            (
                closed(json!({"$ref": "#/$defs/n"})),
                "/properties/a",
                "finds no schema",
            ),
        ],
    );
}

#[test]
fn splits_lists_with_objects() {
    let mut object = closed(json!({"type": "null"}));
    object["type"] = json!(["object", "null"]);
    assert_refuses(
        Dialect::DEEPSEEK_STRICT,
        [(closed(object), "/properties/a", "`object` or `array`")],
    );
}
