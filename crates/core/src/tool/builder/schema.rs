//! Checks of a schema that the user wrote: its root is an object, its defaults are valid.

use serde_json::{Value, json};
use toolwright_schema::Schema;

use crate::error::DefineError;
use crate::tool::input_schema::{ParamDefault, coerce_to_param};

pub(super) const JSON_TYPES: &str = "string, integer, number, boolean, array or object";

pub(super) fn is_json_type(name: &str) -> bool {
    matches!(name, "string" | "integer" | "number" | "boolean" | "array" | "object")
}

/// Rejects a schema whose root is not an object: arguments are always an object.
pub(super) fn require_object(schema: &Value, tool: impl Fn() -> String) -> Result<(), DefineError> {
    if is_object(schema, schema, &mut { MAX_VISITS }) {
        return Ok(());
    }
    let kind = schema.get("type").map(Value::to_string);
    Err(DefineError::NotAnObject {
        tool: tool(),
        found: kind.unwrap_or_else(|| "other types".to_owned()),
    })
}

/// Returns the schema with examples of the arguments; the error is what is wrong with the first invalid one.
pub(in crate::tool) fn with_examples(
    schema: &Schema,
    examples: Vec<Value>,
) -> Result<Schema, String> {
    for example in &examples {
        if let Some(violation) = schema.violations(example).first() {
            return Err(format!("{example} does not satisfy the schema: {violation}"));
        }
    }
    Ok(schema.with_examples(examples))
}

/// The limit of visited subschemas; a schema may come from an untrusted source.
const MAX_VISITS: usize = 64;

/// Returns true if a schema describes objects, itself or in each of its alternatives.
fn is_object(schema: &Value, root: &Value, visits: &mut usize) -> bool {
    let (Some(object), Some(remaining)) = (schema.as_object(), visits.checked_sub(1)) else {
        return false;
    };
    *visits = remaining;
    if let Some(kind) = object.get("type") {
        return kind == "object";
    }
    let alternatives = object.get("anyOf").or_else(|| object.get("oneOf"));
    if let Some(Value::Array(branches)) = alternatives {
        return branches.iter().all(|branch| is_object(branch, root, visits));
    }
    if let Some(Value::String(name)) = object.get("$ref") {
        let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
        return target.is_some_and(|target| is_object(target, root, visits));
    }
    // A schema without a type accepts objects too.
    !object.contains_key("const") && !object.contains_key("enum")
}

/// The defaults of a schema's top-level properties.
#[derive(Default)]
pub(super) struct SchemaDefaults {
    pub(super) defaults: Vec<(String, ParamDefault)>,
    /// The first property whose default does not match its own schema, and the error.
    pub(super) invalid: Option<(String, String)>,
}

impl SchemaDefaults {
    pub(super) fn of_schema(schema: &Schema) -> Self {
        let (mut defaults, mut invalid) = (Vec::new(), None);
        let properties = schema.as_value().get("properties");
        for (name, property) in properties.and_then(Value::as_object).into_iter().flatten() {
            let Some(default) = property.get("default") else {
                continue;
            };
            match coerce_to_param(schema, name, default.clone()) {
                Ok(default) => defaults.push((name.clone(), ParamDefault::Value(default))),
                Err(message) => {
                    invalid.get_or_insert((name.clone(), format!("its default: {message}")));
                }
            }
        }
        Self { defaults, invalid }
    }
}

/// Changes a schema so that it also accepts `null`.
pub(super) fn allow_null(schema: &mut Value) {
    let json_type = schema.get("type").and_then(Value::as_str).map(str::to_owned);
    let has_enum = schema.get("enum").or_else(|| schema.get("const")).is_some();
    match (json_type, schema.as_object_mut()) {
        (Some(json_type), Some(schema)) if json_type != "null" && !has_enum => {
            schema.insert("type".to_owned(), json!([json_type, "null"]));
        }
        _ => *schema = json!({ "anyOf": [schema.take(), { "type": "null" }] }),
    }
}
