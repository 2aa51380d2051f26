//! A sample in the style of function-calling benchmarks.

use serde_json::{Value, json};

use super::all;

const SAMPLE: &str = r#"{"id": "simple_0", "question": [[{"role": "user", "content": "How big is a triangle of 10 by 5?"}]], "function": [{"name": "geometry.triangle_area", "description": "Computes the area of a triangle.", "parameters": {"type": "dict", "properties": {"base": {"type": "integer", "description": "Length of the base."}, "height": {"type": "float", "description": "Height of the triangle."}, "unit": {"type": "string", "description": "The unit.", "default": "units", "enum": ["units", "cm"]}}, "required": ["base", "height"]}}]}
{"id": "java_4", "question": "Search it.", "function": [{"name": "Catalogue.search", "description": "Searches a catalogue.", "parameters": {"type": "dict", "properties": {"filters": {"type": "HashMap", "properties": {"year": {"type": "long"}, "tags": {"type": "ArrayList", "items": {"type": "String"}}}}, "initial": {"type": "char"}, "point": {"type": "tuple", "items": [{"type": "double"}, {"type": "double"}]}, "extra": {"type": "any"}}, "required": ["filters"]}}, {"name": "Catalogue.close", "description": "Closes a catalogue.", "parameters": {"type": "dict", "properties": {}, "required": []}}]}
{"id": "live_7", "question": "Order.", "function": [{"name": "order", "description": "Orders a drink.", "parameters": {"type": "dict", "required": ["drink"], "properties": {"drink": {"type": "string", "enum": ["tea", "coffee"]}, "size": {"type": "integer", "enum": ["1", "2"], "default": "1"}, "extras": {"type": "array", "items": {"type": "string"}, "enum": ["milk", "sugar"]}, "hot": {"type": "boolean", "optional": "True", "default": null}}}}]}
{"id": "live_8", "question": "Rate.", "function": [{"name": "rate", "description": "Rates a drink.", "parameters": {"type": "dict", "properties": {"stars": {"type": "integer", "enum": ["few", "many"]}}}}]}
{"name": "ticket.create", "description": "Opens a ticket.", "parameters": {"type": "dict", "properties": {"title": {"type": "string"}}, "required": ["title"]}, "response": {"type": "dict", "properties": {"id": {"type": "integer"}}}}"#;

#[test]
fn a_corpus_is_imported_with_notes() {
    let found = all(SAMPLE);
    let inputs: Vec<Value> =
        found.iter().flatten().map(|definition| definition.input.as_value().clone()).collect();
    assert_eq!(
        inputs,
        [
            json!({"type": "object", "properties": {
                "base": {"type": "integer", "description": "Length of the base."},
                "height": {"type": "number", "description": "Height of the triangle."},
                "unit": {"type": "string", "description": "The unit.", "default": "units", "enum": ["units", "cm"]}
            }, "required": ["base", "height"]}),
            json!({"type": "object", "properties": {
                "filters": {"type": "object", "properties": {
                    "year": {"type": "integer"},
                    "tags": {"type": "array", "items": {"type": "string"}}
                }},
                "initial": {"type": "string"},
                "point": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]},
                "extra": {}
            }, "required": ["filters"]}),
            json!({"type": "object", "properties": {}, "required": []}),
            json!({"type": "object", "required": ["drink"], "properties": {
                "drink": {"type": "string", "enum": ["tea", "coffee"]},
                "size": {"type": "integer", "enum": [1, 2], "default": 1},
                "extras": {"type": "array", "items": {"type": "string", "enum": ["milk", "sugar"]}},
                "hot": {"type": "boolean", "default": null}
            }}),
            json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}),
        ]
    );
    let refused: Vec<String> =
        found.iter().filter_map(|entry| Some(entry.as_ref().err()?.to_string())).collect();
    assert_eq!(
        refused,
        [
            "line 4, /function/0/parameters/properties/stars/enum: none of the options is of type integer"
        ]
    );
    let order = found[3].as_ref().unwrap();
    assert_eq!(order.line, Some(3));
    let notes: Vec<String> = order.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "/function/0/parameters: type \"dict\" read as \"object\"",
            "/function/0/parameters/properties/size: `enum`: \"1\" read as 1",
            "/function/0/parameters/properties/size: `enum`: \"2\" read as 2",
            "/function/0/parameters/properties/size: `default: \"1\"` read as 1",
            "/function/0/parameters/properties/extras: `enum` read as the options of the elements",
            "/function/0/parameters/properties/hot: `default: null` kept, though it is no boolean",
            "/function/0/parameters/properties/hot: `optional: \"True\"` read as not required",
        ]
    );
    let ticket = found[5].as_ref().unwrap();
    assert_eq!(ticket.output.as_ref().unwrap().as_value()["properties"]["id"]["type"], "integer");
}

#[test]
fn parameters_without_a_schema_around_them_are_found() {
    let record = json!({"query": "Where?", "tools": json!([{
        "name": "geo",
        "description": "Finds a place.",
        "parameters": {
            "ip": {"description": "The address.", "type": "str", "default": ""},
            "deep": {"description": "How deep.", "type": "int, optional"}
        }
    }]).to_string(), "answers": "[]"});
    let read = super::one(&record);
    assert_eq!(
        read.input.as_value(),
        &json!({"type": "object", "properties": {
            "ip": {"description": "The address.", "type": "string", "default": ""},
            "deep": {"description": "How deep.", "type": "integer"}
        }})
    );
}
