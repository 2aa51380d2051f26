//! Older drafts, OpenAPI and Gemini.

use serde_json::json;

use super::{assert_normalises, assert_property_normalises, assert_unchanged, refusal};

#[test]
fn the_name_of_an_older_draft_is_dropped_and_that_of_ours_stays() {
    for (name, shown) in [
        ("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-04/schema#"),
        (
            "https://json-schema.org/draft/2019-09/schema",
            "https://json-schema.org/draft/2019-09/sc…",
        ),
    ] {
        assert_normalises(
            json!({"$schema": name, "type": "object"}),
            json!({"type": "object"}),
            &[&format!("`$schema: \"{shown}\"` dropped: read as 2020-12")],
        );
    }
    assert_unchanged(
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}),
    );
}

#[test]
fn a_list_of_items_becomes_prefix_items() {
    assert_property_normalises(
        json!({"type": "array", "items": [{"type": "string"}, {"type": "float"}], "additionalItems": false}),
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false}),
        &[
            "a list in `items` read as `prefixItems`",
            "`additionalItems` read as `items`",
            "/prefixItems/1: type \"float\" read as \"number\"",
        ],
    );
    assert_property_normalises(
        json!({"type": "tuple", "items": [{"type": "string"}]}),
        json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        &["type \"tuple\" read as \"array\"", "a list in `items` read as `prefixItems`"],
    );
    assert_property_normalises(
        json!({"type": "array", "items": []}),
        json!({"type": "array"}),
        &["`items: []` dropped"],
    );
    assert_property_normalises(
        json!({"type": "array", "items": {"type": "string"}, "additionalItems": false}),
        json!({"type": "array", "items": {"type": "string"}}),
        &["`additionalItems` dropped: only after a list of items it means something"],
    );
    assert_property_normalises(
        json!({"type": "array", "items": "str"}),
        json!({"type": "array", "items": {"type": "string"}}),
        &[r#"/items: "str" read as {"type":"string"}"#],
    );
    assert_property_normalises(
        json!({"type": "array", "items": null}),
        json!({"type": "array"}),
        &["`items: null` dropped"],
    );
    assert_eq!(
        refusal(json!({"items": [{}], "prefixItems": [{}]})),
        "/items: a list of schemas beside `prefixItems`"
    );
}

#[test]
fn bounds_that_were_flags_become_numbers() {
    assert_property_normalises(
        json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}),
        json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 9}),
        &[
            "`exclusiveMinimum: true` read as `exclusiveMinimum: 0`",
            "`exclusiveMaximum` dropped: it excludes no `maximum`",
        ],
    );
    assert_property_normalises(
        json!({"type": "integer", "minimum": "1", "exclusiveMinimum": "true"}),
        json!({"type": "integer", "exclusiveMinimum": 1}),
        &["`minimum: \"1\"` read as 1", "`exclusiveMinimum: true` read as `exclusiveMinimum: 1`"],
    );
    assert_property_normalises(
        json!({"type": "integer", "divisibleBy": 5}),
        json!({"type": "integer", "multipleOf": 5}),
        &["`divisibleBy` read as `multipleOf`"],
    );
}

#[test]
fn keywords_of_older_drafts_become_those_that_replaced_them() {
    assert_normalises(
        json!({"type": "object", "dependencies": {"a": ["b"], "c": "d", "e": {"required": "f"}}}),
        json!({"type": "object", "dependentRequired": {"a": ["b"], "c": ["d"]}, "dependentSchemas": {"e": {"required": ["f"]}}}),
        &[
            "`dependencies/a` read as `dependentRequired/a`",
            "`dependencies/c` read as `dependentRequired/c`",
            "`dependencies/e` read as `dependentSchemas/e`",
            "/dependentSchemas/e: `required: \"f\"` read as [\"f\"]",
        ],
    );
    assert_normalises(
        json!({"extends": {"minimum": 2}, "disallow": "str"}),
        json!({"allOf": [{"minimum": 2}], "not": {"type": "string"}}),
        &[
            "`extends` read as `allOf`",
            "`disallow` read as `not`",
            "a schema in `allOf` read as a list of one",
            "/not: type \"str\" read as \"string\"",
        ],
    );
    assert_eq!(
        refusal(json!({"extends": {"minimum": 2}, "allOf": [{"maximum": 3}]})),
        "/extends: stands beside `allOf`, which replaces it in 2020-12"
    );
    refusal(json!({"dependencies": 5}));
    refusal(json!({"dependencies": {"a": ["b"]}, "dependentRequired": {"a": ["c"]}}));
}

#[test]
fn definitions_stay_where_references_look_for_them() {
    assert_normalises(
        json!({"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"type": "str"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"type": "string"}}}),
        &["/definitions/A: type \"str\" read as \"string\""],
    );
    assert_normalises(
        json!({"type": "OBJECT", "properties": {"a": {"ref": "#/defs/A"}}, "defs": {"A": {"type": "STRING"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}),
        &[
            "`defs` read as `$defs`",
            "type \"OBJECT\" read as \"object\"",
            "/properties/a: `ref` read as `$ref`",
            "/$defs/A: type \"STRING\" read as \"string\"",
        ],
    );
}

#[test]
fn nullable_admits_null_in_whatever_way_fits() {
    let note = "`nullable: true` read as: null is admitted";
    assert_property_normalises(
        json!({"type": "string", "nullable": true}),
        json!({"type": ["string", "null"]}),
        &[note],
    );
    assert_property_normalises(
        json!({"type": "string", "enum": ["a"], "nullable": true, "default": null}),
        json!({"type": ["string", "null"], "enum": ["a", null], "default": null}),
        &[note],
    );
    assert_property_normalises(
        json!({"$ref": "#", "description": "d", "nullable": true}),
        json!({"description": "d", "anyOf": [{"$ref": "#"}, {"type": "null"}]}),
        &[note],
    );
    assert_property_normalises(
        json!({"anyOf": [{"type": "string"}], "nullable": true}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        &[note],
    );
    assert_property_normalises(
        json!({"type": "STRING", "nullable": "true"}),
        json!({"type": ["string", "null"]}),
        &["`nullable: \"true\"` read as true", "type \"STRING\" read as \"string\"", note],
    );
    assert_property_normalises(
        json!({"description": "d", "nullable": true}),
        json!({"description": "d"}),
        &[note],
    );
    assert_property_normalises(
        json!({"type": "string", "nullable": false}),
        json!({"type": "string"}),
        &["`nullable: false` dropped"],
    );
}

#[test]
fn a_gemini_schema_loses_only_its_capitals() {
    assert_normalises(
        json!({
            "type": "OBJECT",
            "properties": {"days": {"type": "INTEGER", "format": "int32", "minimum": "1"}},
            "required": ["days"],
            "propertyOrdering": ["days"]
        }),
        json!({
            "type": "object",
            "properties": {"days": {"type": "integer", "format": "int32", "minimum": 1}},
            "required": ["days"],
            "propertyOrdering": ["days"]
        }),
        &[
            "type \"OBJECT\" read as \"object\"",
            "/properties/days: `minimum: \"1\"` read as 1",
            "/properties/days: type \"INTEGER\" read as \"integer\"",
        ],
    );
}
