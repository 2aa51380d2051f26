//! Objects, maps and anything.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_pass, run_pass};
use crate::{
    Dialect,
    lower::{
        LIFT_KEYWORD,
        pass::objects::{close_objects, require_declared_properties},
    },
};

/// What pairs cannot express.
const ONCE: &str = r#"/properties/properties: additionalProperties (wider), described as "each entry is a key, given once, and its value""#;

/// A schema below the root.
fn below(subschema: Value) -> Value {
    json!({"type": "object", "properties": {"properties": subschema}, "additionalProperties": false})
}

#[test]
fn a_map_becomes_pairs() {
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        below(
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 3, "description": "Stock."}),
        ),
        below(json!({
            "description": "Stock. (each entry is a key, given once, and its value)",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"key": {"type": "string"}, "value": {"type": "integer"}},
                "required": ["key", "value"],
                "additionalProperties": false,
            },
            "minItems": 1,
            "maxItems": 3,
            (LIFT_KEYWORD): {"pairs": true},
        })),
        &[ONCE],
    );
}

#[test]
fn what_a_map_requires_is_described() {
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        below(
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "required": ["a"]}),
        ),
        below(json!({
            "description": "Requires `a` (each entry is a key, given once, and its value)",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"key": {"type": "string"}, "value": {"type": "integer"}},
                "required": ["key", "value"],
                "additionalProperties": false,
            },
            (LIFT_KEYWORD): {"pairs": true},
        })),
        &["/properties/properties: required (wider), described as \"requires `a`\"", ONCE],
    );
}

#[test]
fn anything_is_json_text_and_a_free_object_too() {
    assert_pass(
        require_declared_properties,
        Dialect::PORTABLE,
        json!({"type": "object", "properties": {"a": {}, "b": {"type": "object", "description": "Settings."}, "c": {"type": "object", "additionalProperties": true}}}),
        json!({"type": "object", "properties": {
            "a": {"type": "string", "description": "Any value, as JSON text", (LIFT_KEYWORD): {"json": true}},
            "b": {"type": "string", "description": "Settings. (an object, as JSON text)", (LIFT_KEYWORD): {"json": true}},
            "c": {"type": "string", "description": "An object, as JSON text", (LIFT_KEYWORD): {"json": true}},
        }}),
        &[
            "/properties/b: type (wider), described as \"an object, as JSON text\"",
            "/properties/c: type (wider), described as \"an object, as JSON text\"",
        ],
    );
}

#[test]
fn what_is_left_of_a_contradiction_is_anything() {
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        below(json!({"not": {"type": "string"}, "description": "Size."})),
        below(json!({
            "type": "string",
            "description": "Size. (not a string) (any value, as JSON text)",
            (LIFT_KEYWORD): {"json": true},
        })),
        &["/properties/properties: not (wider), described as \"not a string\""],
    );
}

#[test]
fn the_root_stays_an_object() {
    for root in [
        json!({}),
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": true}),
    ] {
        assert_pass(require_declared_properties, Dialect::OPENAI_STRICT, root.clone(), root, &[]);
    }
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        json!({"type": "object", "additionalProperties": false, "description": "No further properties"}),
        &["/: additionalProperties (narrower), described as \"no further properties\""],
    );
}

#[test]
fn in_a_union_ambiguous_strings_become_one() {
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        below(
            json!({"anyOf": [{"type": "object"}, {"type": "string"}, {"type": "integer"}], "description": "Id."}),
        ),
        below(json!({"anyOf": [
            {"type": "integer"},
            {
                "description": "An object, as JSON text (a string is written in JSON's quotes)",
                "type": "string",
                (LIFT_KEYWORD): {"json": true},
            },
        ], "description": "Id."})),
        &["/properties/properties/anyOf/0: type (wider), described as \"an object, as JSON text\""],
    );
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        below(json!({"anyOf": [{"type": "object"}, {"type": "string"}], "description": "Id."})),
        below(json!({
            "description": "Id. An object, as JSON text (a string is written in JSON's quotes)",
            "type": "string",
            (LIFT_KEYWORD): {"json": true},
        })),
        &["/properties/properties/anyOf/0: type (wider), described as \"an object, as JSON text\""],
    );
}

#[test]
fn beside_an_array_a_map_is_text() {
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        below(
            json!({"anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}}, {"type": "array", "items": {"type": "integer"}}]}),
        ),
        below(json!({"anyOf": [
            {"type": "array", "items": {"type": "integer"}},
            {
                "description": "An object, each further property is an integer, as JSON text",
                "type": "string",
                (LIFT_KEYWORD): {"json": true},
            },
        ]})),
        &[
            "/properties/properties/anyOf/0: type (wider), described as \"an object, each further property is an integer, as JSON text\"",
        ],
    );
}

#[test]
fn further_properties_are_refused_or_follow_no_schema() {
    let before = || json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}});
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        before(),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false, "description": "No further properties"}),
        &["/: additionalProperties (narrower), described as \"no further properties\""],
    );
    assert_pass(
        require_declared_properties,
        Dialect::GEMINI_OPENAPI,
        before(),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "description": "Each further property is an integer"}),
        &["/: additionalProperties (wider), described as \"each further property is an integer\""],
    );
}

#[test]
fn what_is_required_is_declared() {
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"]}),
        json!({"type": "object", "properties": {
            "a": {"type": "string"},
            "b": {"type": "string", "description": "Any value, as JSON text", (LIFT_KEYWORD): {"json": true}},
        }, "required": ["a", "b"]}),
        &[],
    );
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"], "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": false}),
        &["/: required (wider)"],
    );
}

#[test]
fn what_is_required_follows_the_schema_it_always_had_to() {
    assert_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}, "required": ["b"]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "additionalProperties": false, "required": ["b"], "description": "No further properties"}),
        &["/: additionalProperties (narrower), described as \"no further properties\""],
    );
}

#[test]
fn a_schema_is_not_copied_without_end() {
    let names: Vec<String> = (0..65).map(|number| format!("p{number}")).collect();
    let (after, losses) = run_pass(
        require_declared_properties,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}, "required": names}),
    );
    assert_eq!(after["properties"]["p64"]["description"], "Any value, as JSON text");
    assert_eq!(losses[0], "/: additionalProperties (wider)");
}

#[test]
fn unsupported_schemas_are_described_before_they_change() {
    assert_pass(
        require_declared_properties,
        Dialect::GEMINI_OPENAPI,
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, "contains": {"type": "object"}}}, "propertyNames": {}, "additionalProperties": {}}),
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, "description": "At least one item is an object"}}}),
        &["/properties/a: contains (wider), described as \"at least one item is an object\""],
    );
}

#[test]
fn an_empty_object_is_a_fixed_text_where_it_may_not_be_empty() {
    let empty = || {
        below(
            json!({"type": "object", "properties": {}, "additionalProperties": false, "description": ""}),
        )
    };
    assert_pass(require_declared_properties, Dialect::OPENAI_STRICT, empty(), empty(), &[]);
    assert_pass(
        require_declared_properties,
        Dialect::DEEPSEEK_STRICT,
        empty(),
        below(
            json!({"type": "string", "enum": ["{}"], "description": "", (LIFT_KEYWORD): {"texts": [{}]}}),
        ),
        &[],
    );
}

#[test]
fn closing_an_open_object_is_reported() {
    assert_pass(
        close_objects,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "properties": {
            "additionalProperties": {"type": "object", "properties": {}, "additionalProperties": false},
            "b": {"type": "object", "additionalProperties": true},
            "c": {"type": "array", "items": {"type": "object", "properties": {}}},
        }}),
        json!({"type": "object", "properties": {
            "additionalProperties": {"type": "object", "properties": {}, "additionalProperties": false},
            "b": {"type": "object", "additionalProperties": false, "properties": {}},
            "c": {"type": "array", "items": {"type": "object", "properties": {}, "additionalProperties": false}},
        }, "additionalProperties": false}),
        &[
            "/: additionalProperties (narrower)",
            "/properties/b: additionalProperties (narrower)",
            "/properties/c/items: additionalProperties (narrower)",
        ],
    );
}
