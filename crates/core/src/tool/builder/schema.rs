//! Schemas given by hand: what they describe, and the defaults they publish.

use serde_json::{Value, json};
use toolwright_schema::Schema;

use crate::error::DefineError;
use crate::tool::input_schema::{ParamDefault, coerce_to_param};

pub(super) const JSON_TYPES: &str = "string, integer, number, boolean, array or object";

pub(super) fn is_json_type(name: &str) -> bool {
    matches!(
        name,
        "string" | "integer" | "number" | "boolean" | "array" | "object"
    )
}

/// Refuses a schema whose root is not the object that arguments always are.
pub(super) fn require_object(schema: &Value, tool: impl Fn() -> String) -> Result<(), DefineError> {
    if is_object(schema, schema, &mut { MAX_VISITS }) {
        return Ok(());
    }
    let kind = schema.get("type").map(Value::to_string);
    Err(DefineError::NotAnObject {
        tool: tool(),
        found: kind.unwrap_or_else(|| "that they may be something else".to_owned()),
    })
}

/// How many subschemas are looked at for what they describe; schemas may come from strangers.
const MAX_VISITS: usize = 64;

/// Tells whether a schema describes objects, in itself or in each of its alternatives.
fn is_object(schema: &Value, root: &Value, visits: &mut usize) -> bool {
    let (Some(object), Some(left)) = (schema.as_object(), visits.checked_sub(1)) else {
        return false;
    };
    *visits = left;
    if let Some(kind) = object.get("type") {
        return kind == "object";
    }
    let alternatives = object.get("anyOf").or_else(|| object.get("oneOf"));
    if let Some(Value::Array(branches)) = alternatives {
        return branches
            .iter()
            .all(|branch| is_object(branch, root, visits));
    }
    if let Some(Value::String(name)) = object.get("$ref") {
        let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
        return target.is_some_and(|target| is_object(target, root, visits));
    }
    // One that says nothing of the kind takes objects too, and arguments are never anything else.
    !object.contains_key("const") && !object.contains_key("enum")
}

/// The defaults that a whole schema publishes for its top-level properties.
#[derive(Default)]
pub(super) struct SchemaDefaults {
    pub(super) defaults: Vec<(String, ParamDefault)>,
    /// The first property that refuses its own default, and why.
    pub(super) invalid: Option<(String, String)>,
}

impl SchemaDefaults {
    pub(super) fn of_schema(schema: &Schema) -> Self {
        let (mut defaults, mut unfit) = (Vec::new(), None);
        let properties = schema.as_value().get("properties");
        for (name, property) in properties.and_then(Value::as_object).into_iter().flatten() {
            let Some(default) = property.get("default") else {
                continue;
            };
            match coerce_to_param(schema, name, default.clone()) {
                Ok(default) => defaults.push((name.clone(), ParamDefault::Value(default))),
                Err(message) => {
                    unfit.get_or_insert((name.clone(), format!("its default: {message}")));
                }
            }
        }
        Self {
            defaults,
            invalid: unfit,
        }
    }
}

/// Lets a schema take `null` too.
pub(super) fn allow_null(schema: &mut Value) {
    let kind = schema
        .get("type")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let listed = schema.get("enum").or_else(|| schema.get("const")).is_some();
    match (kind, schema.as_object_mut()) {
        (Some(kind), Some(schema)) if kind != "null" && !listed => {
            schema.insert("type".to_owned(), json!([kind, "null"]));
        }
        _ => *schema = json!({ "anyOf": [schema.take(), { "type": "null" }] }),
    }
}
