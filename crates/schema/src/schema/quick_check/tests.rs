//! What the quick check accepts also compiles, whatever is written into a schema.

use serde_json::json;

use super::*;
use crate::schema::compile;

/// Schemas in which every keyword occurs that the check knows.
fn plain_schemas() -> [Value; 2] {
    let wide = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"a": {"type": "object", "properties": {"next": {"$ref": "#/$defs/a"}, "root": {"$ref": "#"}}}},
        "title": "All", "description": "Of it.", "$comment": "None.", "deprecated": false,
        "type": "object",
        "properties": {
            "text": {"type": ["string", "null"], "minLength": 1, "maxLength": 5, "format": "date", "default": 1, "readOnly": true},
            "number": {"type": "number", "minimum": 1, "maximum": 5, "exclusiveMinimum": 0, "exclusiveMaximum": 9, "multipleOf": 0.5},
            "list": {"type": "array", "items": {"$ref": "#/$defs/a"}, "minItems": 1, "maxItems": 3, "uniqueItems": true, "contains": true},
            "one": {"anyOf": [{"const": 1}, {"enum": [1, "two", null]}], "examples": [1], "writeOnly": false},
            "other": {"oneOf": [{"type": "string"}], "allOf": [{"not": {"type": "integer"}}], "if": {}, "then": true, "else": false},
        },
        "required": ["text", "list"],
        "additionalProperties": {"type": "string"},
        "propertyNames": {"maxLength": 64},
        "minProperties": 1, "maxProperties": 9,
    });
    let older = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/a", "description": "A."}},
        "definitions": {"a": {"type": "string"}},
        "additionalProperties": false,
    });
    [wide, older]
}

fn pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                pointers(member, &format!("{here}/{name}"), all);
            }
        }
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                pointers(element, &format!("{here}/{at}"), all);
            }
        }
        _ => {}
    }
}

#[test]
fn plain_schemas_are_not_compiled() {
    for schema in plain_schemas() {
        assert!(certainly_compiles(&schema), "{schema}");
        assert!(compile(&schema).is_ok(), "{schema}");
    }
    for other in [json!({"pattern": "("}), json!({"$id": "x"}), json!({"x-unknown": 1})] {
        assert!(!certainly_compiles(&other), "{other}");
    }
}

#[test]
fn what_is_accepted_compiles_whatever_a_part_is_replaced_by() {
    let replacements = json!([
        null, true, 0, -1, 1.5, 2, 1e300, "", "string", "objekt", "#", "#/$defs/none", "#/$defs/a",
        "#/definitions/a", "#/$defs/a/properties", "#a", "https://example.com/x.json",
        "http://json-schema.org/draft-04/schema#", [], ["a"], ["a", "a"], [1], ["string", "null"],
        [{}], [true], {}, {"a": 1}, {"a": {"type": "strin"}}, {"$ref": "#/$defs/a"}, {"$ref": "#"},
        {"$id": "https://example.com/", "$ref": "#"}, {"type": "string", "pattern": "("},
    ]);
    for schema in plain_schemas() {
        let mut places = Vec::new();
        pointers(&schema, "", &mut places);
        for place in places {
            for replacement in replacements.as_array().unwrap() {
                let mut changed = schema.clone();
                *changed.pointer_mut(&place).unwrap() = replacement.clone();
                if certainly_compiles(&changed) {
                    let compiled = compile(&changed);
                    assert!(compiled.is_ok(), "{place} = {replacement}: {:?}", compiled.err());
                }
            }
        }
    }
}

#[test]
fn references_in_a_circle_compile() {
    for target in ["#", "#/$defs/a"] {
        let schema = json!({"$ref": target, "$defs": {"a": {"$ref": "#/$defs/a"}}});
        assert!(certainly_compiles(&schema));
        assert!(compile(&schema).is_ok(), "{target}");
    }
}
