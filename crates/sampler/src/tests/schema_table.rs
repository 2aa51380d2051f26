//! Schemas of every sort, hand-written and made from Rust types.

use std::collections::{BTreeMap, HashSet};

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

/// Schemas that admit something, and can be got wrong.
pub(super) fn schemas() -> Vec<Value> {
    let mut all = scalars();
    all.extend(containers());
    all.extend(compositions());
    all.extend(made());
    all
}

fn scalars() -> Vec<Value> {
    vec![
        json!({"type": "string"}),
        json!({"type": "string", "minLength": 3, "maxLength": 5}),
        json!({"type": "string", "minLength": 40}),
        json!({"type": "string", "pattern": "^[A-Z]-[0-9]{4}$"}),
        json!({"type": "string", "pattern": "^\\w+@(?:mail|web)\\.example$", "maxLength": 20}),
        json!({"type": "string", "pattern": "[0-9]+", "minLength": 8}),
        json!({"type": "string", "pattern": "^(?=.*[0-9])[a-z0-9]{4,}$"}),
        json!({"allOf": [{"pattern": "^a"}, {"pattern": "z$"}], "type": "string"}),
        json!({"type": "string", "format": "date-time"}),
        json!({"type": "boolean"}),
        json!({"type": "integer"}),
        json!({"type": "integer", "minimum": -3, "maximum": 3}),
        json!({"type": "integer", "exclusiveMinimum": 9, "multipleOf": 7}),
        json!({"type": "integer", "minimum": 18_446_744_073_709_551_615u64}),
        json!({"type": "integer", "multipleOf": 2.5, "maximum": -1}),
        json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
        json!({"type": "number", "multipleOf": 0.01, "minimum": 0.1}),
        json!({"type": "number", "minimum": 1.234_567, "maximum": 1.234_568}),
        json!({"type": ["integer", "null", "boolean"]}),
        json!({"enum": ["red", "green", 3, null, {"a": [1]}]}),
        json!({"const": {"kind": "fixed"}}),
        json!({"type": "string", "enum": ["a", 1, "b"], "not": {"const": "a"}}),
    ]
}

fn containers() -> Vec<Value> {
    vec![
        json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4}),
        json!({"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": true, "minItems": 3}),
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
        json!({"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 100}, "minContains": 2}),
        json!({"type": "array", "contains": {"const": 5}, "maxItems": 3}),
        json!({"type": "array", "maxItems": 0}),
        json!({"type": "object", "properties": {"city": {"type": "string", "minLength": 2}, "days": {"type": "integer", "default": 3}}, "required": ["city"], "additionalProperties": false}),
        json!({"type": "object", "required": ["not declared"], "minProperties": 2}),
        json!({"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 3, "maxProperties": 4}),
        json!({"type": "object", "patternProperties": {"^x-[a-z]+$": {"type": "integer"}, "^id$": {"type": "string"}}, "additionalProperties": false, "required": ["id"], "minProperties": 2}),
        json!({"type": "object", "propertyNames": {"enum": ["a", "b", "c"]}, "minProperties": 3}),
        json!({"type": "object", "propertyNames": {"pattern": "^[a-z]{2}$"}, "additionalProperties": {"type": "boolean"}, "minProperties": 1}),
        json!({"type": "object", "properties": {"card": {"type": "string"}, "owner": {"type": "string"}}, "dependentRequired": {"card": ["owner", "code"]}, "maxProperties": 4}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "additionalProperties": false, "minProperties": 1}),
        json!({"type": "object", "properties": {"a": true}, "dependentSchemas": {"a": {"required": ["b"], "properties": {"b": {"type": "integer"}}}}, "required": ["a"]}),
        json!({"properties": {"a": {"type": "integer"}}, "required": ["a"]}),
    ]
}

fn compositions() -> Vec<Value> {
    vec![
        json!({"anyOf": [{"type": "string", "format": "uuid"}, {"type": "integer", "minimum": 1}, {"type": "null"}]}),
        json!({"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}]}),
        json!({"type": "object", "oneOf": [{"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]}, {"properties": {"kind": {"const": "b"}}, "required": ["kind"]}], "unevaluatedProperties": false}),
        json!({"allOf": [{"type": "object", "properties": {"a": {"type": "integer", "minimum": 5}}}, {"properties": {"a": {"maximum": 5}}, "required": ["a"]}]}),
        json!({"type": "object", "properties": {"country": {"enum": ["US", "NL"]}, "code": {"type": "string"}}, "required": ["country", "code"], "if": {"properties": {"country": {"const": "US"}}}, "then": {"properties": {"code": {"pattern": "^[0-9]{5}$"}}}, "else": {"properties": {"code": {"pattern": "^[0-9]{4} [A-Z]{2}$"}}}}),
        json!({"type": ["string", "integer"], "not": {"type": "string"}}),
        json!({"type": "object", "not": {"required": ["a"]}, "properties": {"a": true, "b": {"type": "null"}}, "required": ["b"]}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Text~1a"}, "b": {"$ref": "#here"}, "c": {"$ref": "#/$defs/with%20space"}}, "required": ["a", "b", "c"], "$defs": {"Text/a": {"type": "string", "maxLength": 2}, "n": {"$anchor": "here", "type": "integer"}, "with space": {"type": "boolean"}}}),
        json!({"type": "object", "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}}, "required": ["value", "children"]}),
        json!({"$ref": "#/definitions/expr", "definitions": {"expr": {"anyOf": [{"type": "object", "properties": {"left": {"$ref": "#/definitions/expr"}, "right": {"$ref": "#/definitions/expr"}}, "required": ["left", "right"], "additionalProperties": false}, {"type": "number"}]}}}),
    ]
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only read into")]
pub(super) struct Order {
    /// Printed on the receipt.
    #[schemars(regex(pattern = r"^[A-Z]-\d+$"))]
    number: String,
    #[schemars(range(min = 1, max = 99))]
    count: u8,
    unit: Option<Unit>,
    #[serde(default)]
    tags: HashSet<String>,
    prices: BTreeMap<String, f64>,
    at: (i32, u64),
    pay: Payment,
    parent: Option<Box<Order>>,
    letter: char,
}

#[derive(JsonSchema, Deserialize)]
enum Unit {
    /// Pieces.
    Piece,
    Kilo,
}

#[derive(JsonSchema, Deserialize)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only read into")]
enum Payment {
    Card { number: String, valid: bool },
    Cash,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Either {
    Many(Vec<Unit>),
    One { unit: Unit },
    None,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Flat {
    name: String,
    #[serde(flatten)]
    payment: Payment,
}

fn made() -> Vec<Value> {
    vec![
        schema_for!(Order).to_value(),
        schema_for!(Unit).to_value(),
        schema_for!(Payment).to_value(),
        schema_for!(Option<Either>).to_value(),
        schema_for!(Flat).to_value(),
        schema_for!(BTreeMap<String, Vec<Option<i8>>>).to_value(),
    ]
}
