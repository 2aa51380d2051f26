//! Random definitions: no parameter is lost.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{all, import_definitions};

/// One parameter, in one of the forms that people and generators write.
fn parameter(style: usize) -> Value {
    match style {
        0 => json!("str"),
        1 => json!({"type": "Float", "default": "none"}),
        2 => json!({"type": "List<String>", "required": true}),
        3 => json!({"type": "dict", "properties": {"inner": {"type": "int"}}}),
        4 => json!({"type": "string", "enum": "a", "nullable": "true"}),
        5 => json!({"type": "tuple", "items": [{"type": "int"}, "str"]}),
        6 => json!({"anyOf": [{"type": "string"}, {"type": "None"}], "default": null}),
        7 => json!({"description": ["a", "b"], "type": "any", "optional": "yes"}),
        8 => json!({"type": "array", "enum": ["a", "b"]}),
        9 => json!({"type": "integer", "minimum": "1", "exclusiveMinimum": true}),
        10 => json!({"type": "strng"}),
        11 => json!({"$ref": "#/nowhere"}),
        _ => json!({"type": "String, optional", "minLength": "2"}),
    }
}

/// The schema around the parameters.
fn schema(style: usize, parameters: Map<String, Value>) -> Value {
    match style {
        0 => json!({"type": "dict", "properties": parameters}),
        1 => json!({"properties": parameters, "required": null}),
        2 => {
            json!({"type": "OBJECT", "properties": parameters, "required": parameters.keys().next()})
        }
        3 => parameters.into_iter().map(|(name, schema)| json!({name: schema})).collect(),
        4 => json!({"type": "object", "properties": {"type": "object", "properties": parameters}}),
        5 => json!(json!({"type": "object", "properties": parameters}).to_string()),
        6 => {
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": parameters, "definitions": null})
        }
        _ => Value::Object(parameters),
    }
}

/// The definition around the schema.
fn definition(style: usize, schema: Value) -> Value {
    match style {
        0 => json!({"type": "function", "function": {"name": "f", "parameters": schema}}),
        1 => json!({"type": "function", "name": "f", "parameters": schema}),
        2 => json!({"name": "f", "input_schema": schema}),
        3 => json!({"name": "f", "inputSchema": schema}),
        4 => json!({"toolSpec": {"name": "f", "inputSchema": {"json": schema}}}),
        5 => json!({"functionDeclarations": [{"name": "f", "parameters": schema}]}),
        6 => json!({"name": "f", "arguments": schema}),
        _ => json!({"id": 1, "function": [{"name": "f", "parameters": schema}]}),
    }
}

proptest! {
    #[test]
    fn no_parameter_is_lost(
        parameters in proptest::collection::btree_map("[a-z]{2,6}|kind|query|value", 0..13_usize, 1..6),
        (schemas, definitions, lists) in (0..8_usize, 0..8_usize, 0..3_usize),
    ) {
        let wanted: BTreeSet<String> = parameters.keys().cloned().collect();
        let parameters = parameters.into_iter().map(|(name, style)| (name, parameter(style))).collect();
        let definition = definition(definitions, schema(schemas, parameters));
        let text = match lists {
            0 => definition.to_string(),
            1 => json!({"tools": [definition]}).to_string(),
            _ => format!("{definition}\n{definition}"),
        };
        for found in all(&text).into_iter().flatten() {
            let properties = found.input.as_value()["properties"].as_object().cloned().unwrap_or_default();
            let kept: BTreeSet<String> = properties.keys().cloned().collect();
            prop_assert_eq!(&kept, &wanted, "from {}", text);
            prop_assert!(!found.notes.is_empty());
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"[\[\]{}":, \n]{0,30}|(\{"(tools|name|function|parameters|type)": ?)*("f"|\{\}|\[\])?\}*"#) {
        let _ = import_definitions(&text);
    }
}
