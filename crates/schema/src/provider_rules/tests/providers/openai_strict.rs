//! OpenAI with strict mode.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn takes_its_subset() {
    let text = json!({"type": "string"});
    let formats =
        ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    assert_accepts(
        Dialect::OPENAI_STRICT,
        formats.map(|format| closed_object(json!({"type": "string", "format": format}))),
    );
    let kinds = ["string", "number", "integer", "boolean", "null"];
    assert_accepts(Dialect::OPENAI_STRICT, kinds.map(|kind| closed_object(json!({"type": kind}))));
    assert_accepts(
        Dialect::OPENAI_STRICT,
        [
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
            closed_object(closed_object(text.clone())),
            closed_object(json!({"type": "array", "items": text, "minItems": 1, "maxItems": 3})),
            closed_object(json!({"type": "string", "enum": ["a", "b"], "description": "d"})),
            closed_object(json!({"type": ["string", "null"], "enum": ["a", null]})),
            closed_object(json!({"type": "string", "const": "a"})),
            closed_object(
                json!({"anyOf": [{"type": "string"}, closed_object(json!({"type": "null"}))]}),
            ),
            closed_object(json!({"type": "string", "pattern": "^@[a-z]+$"})),
            closed_object(json!({"type": "number", "multipleOf": 0.5, "minimum": 1, "maximum": 9})),
            closed_object(json!({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 9})),
            closed_object(
                json!({"type": ["object", "null"], "properties": {}, "additionalProperties": false}),
            ),
            closed_object(json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]})),
            with_definitions(
                closed_object(json!({"$ref": "#/$defs/n"})),
                json!({"n": {"type": "string"}}),
            ),
            with_definitions(
                closed_object(json!({"$ref": "#/$defs/n"})),
                json!({"n": closed_object(json!({"$ref": "#/$defs/n"}))}),
            ),
            with_definitions(
                closed_object(json!({"anyOf": [{"$ref": "#/$defs/a~1b"}]})),
                json!({"a/b": {"type": "string"}}),
            ),
        ],
    );
}

#[test]
fn refuses_other_keywords() {
    let rows = [
        ("oneOf", json!([{"type": "string"}])),
        ("allOf", json!([{"type": "string"}])),
        ("not", json!({})),
        ("if", json!({})),
        ("then", json!({})),
        ("else", json!({})),
        ("dependentRequired", json!({})),
        ("dependentSchemas", json!({})),
        ("default", json!("a")),
        ("patternProperties", json!({})),
        ("propertyNames", json!({})),
        ("minProperties", json!(1)),
        ("maxProperties", json!(1)),
        ("unevaluatedProperties", json!(false)),
        ("unevaluatedItems", json!(false)),
        ("contains", json!({})),
        ("minContains", json!(1)),
        ("uniqueItems", json!(true)),
        ("prefixItems", json!([{}])),
        ("minLength", json!(1)),
        ("maxLength", json!(1)),
        ("title", json!("t")),
        ("examples", json!([])),
        ("nullable", json!(true)),
    ];
    for (keyword, value) in rows {
        let words = format!("`{keyword}` is not accepted");
        let schema = closed_object(json!({"type": "string", keyword: value}));
        assert_rejects(Dialect::OPENAI_STRICT, [(schema, "/properties/a", words.as_str())]);
    }
}

#[test]
fn wants_a_plain_root() {
    let mut choice = closed_object(json!({"type": "string"}));
    choice["anyOf"] = json!([{"type": "object", "properties": {}, "additionalProperties": false}]);
    let list = json!({"type": ["object", "null"], "properties": {}, "additionalProperties": false});
    assert_rejects(
        Dialect::OPENAI_STRICT,
        [
            (choice, "", "`anyOf` is not accepted at the root"),
            (list, "", "must have `type: \"object\"`"),
            (
                json!({"type": "object", "additionalProperties": false}),
                "",
                "an object must have `properties`",
            ),
        ],
    );
}

#[test]
fn wants_closed_objects_that_require_everything() {
    let no_properties = json!({"type": "object", "additionalProperties": false});
    let map =
        json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}});
    let nullable = json!({"type": ["object", "null"], "properties": {}});
    let optional = json!({"type": "object", "properties": {"b": {"type": "null"}}, "additionalProperties": false});
    let mut strange = closed_object(json!({"type": "null"}));
    strange["required"] = json!(["a", "b"]);
    assert_rejects(
        Dialect::OPENAI_STRICT,
        [
            (json!({"type": "object", "properties": {}}), "", "`additionalProperties: false`"),
            (closed_object(map), "/properties/a", "`additionalProperties: false`"),
            (closed_object(nullable), "/properties/a", "`additionalProperties: false`"),
            (closed_object(no_properties), "/properties/a", "must have `properties`"),
            (
                closed_object(optional.clone()),
                "/properties/a",
                "must list every property, and `b` is missing",
            ),
            (
                closed_object(json!({"anyOf": [optional.clone()]})),
                "/properties/a/anyOf/0",
                "`b` is missing",
            ),
            (
                closed_object(json!({"type": "array", "items": optional.clone()})),
                "/properties/a/items",
                "`b` is missing",
            ),
            (
                with_definitions(closed_object(json!({"type": "null"})), json!({"n": optional})),
                "/$defs/n",
                "`b` is missing",
            ),
            (strange, "", "names `b`, which is no property"),
        ],
    );
}

#[test]
fn wants_types() {
    assert_rejects(
        Dialect::OPENAI_STRICT,
        [
            (closed_object(json!({})), "/properties/a", "untyped"),
            (closed_object(json!(true)), "/properties/a", "must be a JSON object"),
            (closed_object(json!({"enum": ["a"]})), "/properties/a", "untyped"),
            (closed_object(json!({"const": "a"})), "/properties/a", "untyped"),
            (closed_object(json!({"type": "array"})), "/properties/a", "must have `items`"),
            (
                closed_object(json!({"type": "array", "items": {}})),
                "/properties/a/items",
                "untyped",
            ),
            (
                closed_object(json!({"anyOf": [{"type": "null"}, {}]})),
                "/properties/a/anyOf/1",
                "untyped",
            ),
            (
                closed_object(json!({"type": ["string", "integer"]})),
                "/properties/a",
                "one type and `null`",
            ),
            (
                closed_object(json!({"type": ["string", "integer", "null"]})),
                "/properties/a",
                "one type and `null`",
            ),
            (closed_object(json!({"type": ["string"]})), "/properties/a", "one type and `null`"),
            (
                closed_object(json!({"type": "string", "enum": ["a", 1]})),
                "/properties/a",
                "does not fit `type`",
            ),
            (
                closed_object(json!({"type": "string", "enum": ["a", null]})),
                "/properties/a",
                "does not fit `type`",
            ),
            (
                closed_object(json!({"type": "integer", "const": 1.5})),
                "/properties/a",
                "does not fit `type`",
            ),
            (
                closed_object(json!({"type": "string", "enum": []})),
                "/properties/a",
                "an empty `enum`",
            ),
        ],
    );
}

#[test]
fn follows_references_to_definitions_only() {
    let text = || json!({"n": {"type": "string"}});
    let refer = |to: &str| closed_object(json!({"$ref": to}));
    let described = closed_object(json!({"$ref": "#/$defs/n", "description": "d"}));
    let inner = json!({"n": with_definitions(closed_object(json!({"type": "string"})), text())});
    assert_rejects(
        Dialect::OPENAI_STRICT,
        [
            (
                with_definitions(described, text()),
                "/properties/a",
                "`description` is not accepted beside `$ref`",
            ),
            (
                with_definitions(refer("#/$defs/m"), text()),
                "/properties/a",
                "finds no schema at `#/$defs/m`",
            ),
            (
                with_definitions(refer("#/$defs/n/type"), text()),
                "/properties/a",
                "must be `#` or `#/$defs/`",
            ),
            (refer("#/properties/a"), "/properties/a", "must be `#` or `#/$defs/`"),
            (refer("#/definitions/n"), "/properties/a", "must be `#` or `#/$defs/`"),
            (refer("https://example.com/n"), "/properties/a", "must be `#` or `#/$defs/`"),
            (
                with_definitions(refer("#/$defs/n"), inner),
                "/$defs/n",
                "`$defs` is accepted only at the root",
            ),
        ],
    );
}

#[test]
fn refuses_look_around() {
    let pattern = |pattern: &str| closed_object(json!({"type": "string", "pattern": pattern}));
    for around in ["(?=a)", "^(?!a)", "(?<=a)b", "a(b(?<!a))", r"\\(?=a)"] {
        assert_rejects(Dialect::OPENAI_STRICT, [(pattern(around), "/properties/a", "look-around")]);
    }
    assert_rejects(
        Dialect::OPENAI_STRICT,
        [(pattern("(a"), "/properties/a", "not a regular expression")],
    );
    let plain = [r"\(\?=a", "[(?=]", "(?:a)", "(?<name>a)", r"[\](?=]"];
    assert_accepts(Dialect::OPENAI_STRICT, plain.map(pattern));
}
