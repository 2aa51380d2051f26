//! Anthropic.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn plain_takes_any_2020_12_schema_of_an_object() {
    assert_accepts(
        Dialect::ANTHROPIC,
        [
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            open_object(json!({"oneOf": [{"minimum": 1}, {"type": "string", "pattern": "(?=a)"}]})),
            open_object(json!({"type": "array", "prefixItems": [{}], "uniqueItems": true})),
            with_definitions(
                open_object(json!({"$ref": "#/$defs/n", "title": "t"})),
                json!({"n": {"$ref": "#"}}),
            ),
        ],
    );
    let with = |keyword: &str, value: Value| json!({"type": "object", keyword: value});
    assert_rejects(
        Dialect::ANTHROPIC,
        [
            (json!({}), "", "must have `type: \"object\"`"),
            (with("$ref", json!("#")), "", "`$ref` is not accepted at the root"),
            (with("allOf", json!([{}])), "", "`allOf` is not accepted at the root"),
            (with("anyOf", json!([{}])), "", "`anyOf` is not accepted at the root"),
            (with("oneOf", json!([{}])), "", "`oneOf` is not accepted at the root"),
            (
                open_object(json!({"items": [{}]})),
                "/properties/a/items",
                "not valid JSON Schema 2020-12",
            ),
            (open_object(json!({"$ref": "#/$defs/n"})), "/properties/a", "finds no schema"),
        ],
    );
}

#[test]
fn strict_takes_its_subset() {
    let formats = [
        "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri",
    ];
    assert_accepts(
        Dialect::ANTHROPIC_STRICT,
        formats.map(|format| closed_object(json!({"type": "string", "format": format}))),
    );
    assert_accepts(
        Dialect::ANTHROPIC_STRICT,
        [
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
            closed_object(json!({"type": "string", "enum": ["a", "b"], "description": "d"})),
            closed_object(json!({"type": "integer", "enum": [1, 2]})),
            closed_object(json!({"type": ["boolean", "null"], "const": null})),
            closed_object(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
            closed_object(json!({"type": "array", "items": {"type": "string"}, "minItems": 0})),
            closed_object(json!({"type": "array", "items": {"type": "string"}, "minItems": 1})),
            closed_object(
                json!({"allOf": [{"type": "string"}, {"type": "string", "enum": ["a"]}]}),
            ),
            with_definitions(
                closed_object(json!({"$ref": "#/$defs/n"})),
                json!({"n": closed_object(json!({"$ref": "#/$defs/m"})), "m": {"type": "string"}}),
            ),
        ],
    );
}

#[test]
fn strict_refuses_other_keywords() {
    let rows = [
        ("minimum", json!(1)),
        ("maximum", json!(1)),
        ("exclusiveMinimum", json!(1)),
        ("exclusiveMaximum", json!(1)),
        ("multipleOf", json!(1)),
        ("minLength", json!(1)),
        ("maxLength", json!(1)),
        ("maxItems", json!(1)),
        ("oneOf", json!([{}])),
        ("pattern", json!("a")),
        ("default", json!("a")),
        ("title", json!("t")),
        ("uniqueItems", json!(true)),
        ("prefixItems", json!([{}])),
    ];
    for (keyword, value) in rows {
        let words = format!("`{keyword}` is not accepted");
        let schema = closed_object(json!({"type": "string", keyword: value}));
        assert_rejects(Dialect::ANTHROPIC_STRICT, [(schema, "/properties/a", words.as_str())]);
    }
}

#[test]
fn strict_refuses_what_a_grammar_cannot_hold() {
    let list = |least: Value| {
        closed_object(json!({"type": "array", "items": {"type": "null"}, "minItems": least}))
    };
    let external = closed_object(json!({"$ref": "https://example.com/a.json"}));
    let described = closed_object(json!({"$ref": "#/$defs/n", "description": "d"}));
    let text = json!({"n": {"type": "string"}});
    assert_rejects(
        Dialect::ANTHROPIC_STRICT,
        [
            (json!({"type": "object"}), "", "`additionalProperties: false`"),
            (
                closed_object(json!({"type": "object"})),
                "/properties/a",
                "`additionalProperties: false`",
            ),
            (list(json!(2)), "/properties/a", "`minItems` may only be 0 or 1"),
            (closed_object(json!({})), "/properties/a", "untyped"),
            (closed_object(json!({"type": "array"})), "/properties/a", "must have `items`"),
            (
                closed_object(json!({"type": ["string", "integer"]})),
                "/properties/a",
                "one type and `null`",
            ),
            (
                closed_object(json!({"type": "array", "items": {"type": "null"}, "enum": [[]]})),
                "/properties/a",
                "arrays and",
            ),
            (
                closed_object(json!({"anyOf": [{"type": "null"}], "const": {}})),
                "/properties/a",
                "arrays and objects",
            ),
            (
                closed_object(json!({"type": "string", "enum": [1]})),
                "/properties/a",
                "does not fit",
            ),
            (
                closed_object(json!({"type": "string", "format": "regex"})),
                "/properties/a",
                "format `regex`",
            ),
            (external, "/properties/a", "must be `#` or `#/$defs/`"),
            (with_definitions(described, text), "/properties/a", "beside `$ref`"),
        ],
    );
}

#[test]
fn strict_refuses_recursion() {
    let refer = |name: &str| closed_object(json!({"$ref": format!("#/$defs/{name}")}));
    let list = |name: &str| json!({"type": "array", "items": {"$ref": format!("#/$defs/{name}")}});
    let circle = json!({"a": refer("b"), "b": closed_object(list("c")), "c": refer("a")});
    let diamond = json!({"a": closed_object(json!({"anyOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/c"}]})),
        "b": refer("d"), "c": refer("d"), "d": {"type": "string"}});
    assert_accepts(Dialect::ANTHROPIC_STRICT, [with_definitions(refer("a"), diamond)]);
    assert_rejects(
        Dialect::ANTHROPIC_STRICT,
        [
            (closed_object(json!({"$ref": "#"})), "/properties/a", "recursive"),
            (
                with_definitions(refer("a"), json!({"a": refer("a")})),
                "/$defs/a/properties/a",
                "recursive",
            ),
            (
                with_definitions(refer("a"), json!({"a": closed_object(json!({"$ref": "#"}))})),
                "/$defs/a/properties/a",
                "recursive",
            ),
            (with_definitions(refer("a"), circle), "/$defs/c/properties/a", "recursive"),
        ],
    );
}

#[test]
fn strict_keeps_a_budget() {
    let text = json!({"type": "string"});
    let union = json!({"type": ["string", "null"]});
    let choice = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    let of = |properties: Value| json!({"type": "object", "properties": properties, "additionalProperties": false});
    assert_accepts(
        Dialect::ANTHROPIC_STRICT,
        [
            of(many_properties(24, &text)),
            of(many_properties(16, &union)),
            of(many_properties(16, &choice)),
        ],
    );
    let spread = with_definitions(
        of(many_properties(20, &text)),
        json!({"n": of(many_properties(5, &text))}),
    );
    assert_rejects(
        Dialect::ANTHROPIC_STRICT,
        [
            (of(many_properties(25, &text)), "", "25 optional parameters, and at most 24"),
            (spread, "", "25 optional parameters"),
            (of(many_properties(17, &union)), "", "17 union-typed parameters, and at most 16"),
            (of(many_properties(17, &choice)), "", "17 union-typed parameters"),
        ],
    );
}
