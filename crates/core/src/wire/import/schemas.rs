//! Reads the input and output schemas of a definition.

use serde_json::{Map, Value, json};
use toolwright_schema::{Schema, SchemaError, SchemaFix, escape_pointer_token, normalise};

use super::{entry::EntryReader, error::EntryError};

/// The keys of the input schema in the APIs.
pub(super) const INPUT_SCHEMA_KEYS: [&str; 5] =
    ["parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema"];

/// The key of examples of the arguments.
const EXAMPLES_KEY: &str = "input_examples";

/// The keys of the output schema in the APIs.
const OUTPUT_SCHEMA_KEYS: [&str; 5] =
    ["outputSchema", "output_schema", "responseJsonSchema", "response_json_schema", "response"];

/// Keywords that imply another type than object, in a schema without `type`.
const NON_OBJECT_KEYWORDS: [&str; 13] = [
    "items",
    "prefixItems",
    "contains",
    "unevaluatedItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "enum",
    "const",
];

/// Keywords whose subschemas may have the `type`.
const COMPOSITION_KEYWORDS: [&str; 7] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "not"];

/// Reads the schema of the arguments.
pub(super) fn read_input_schema(entry: &mut EntryReader) -> Result<Schema, EntryError> {
    let (key, mut schema) = find_input_schema(entry)?;
    merge_required(entry, &mut schema);
    normalise_schema(entry, &key, &mut schema)?;
    require_object(entry, &key, &mut schema)?;
    let schema = check_schema(entry, &key, schema)?;
    Ok(add_examples(entry, schema))
}

/// Adds the `input_examples` of Anthropic to those of the schema.
fn add_examples(entry: &mut EntryReader, schema: Schema) -> Schema {
    let given = match entry.take(EXAMPLES_KEY) {
        None => return schema,
        Some(Value::Array(given)) => given,
        Some(_) => {
            entry.note(EXAMPLES_KEY, "left out: not a list");
            return schema;
        }
    };
    let mut examples = Vec::with_capacity(given.len());
    for (index, example) in given.into_iter().enumerate() {
        match schema.violations(&example).first() {
            None => examples.push(example),
            Some(violation) => {
                entry.note(&format!("{EXAMPLES_KEY}/{index}"), format!("left out: {violation}"))
            }
        }
    }
    schema.with_examples(examples)
}

/// Reads the schema of the result, if there is one.
pub(super) fn read_output_schema(entry: &mut EntryReader) -> Result<Option<Schema>, EntryError> {
    let found = OUTPUT_SCHEMA_KEYS.iter().find_map(|key| Some((*key, entry.take(key)?)));
    match found {
        None => Ok(None),
        // An empty schema has no information.
        Some((_, Value::Object(members))) if members.is_empty() => Ok(None),
        // Some definitions have an example under this key.
        Some(("response", schema)) if !schema.is_object() => {
            entry.note("response", "left out: not a schema");
            Ok(None)
        }
        Some((key, mut schema)) => {
            normalise_schema(entry, key, &mut schema)?;
            check_schema(entry, key, schema).map(Some)
        }
    }
}

/// Finds the input schema and its key.
fn find_input_schema(entry: &mut EntryReader) -> Result<(String, Value), EntryError> {
    let schemas: Vec<(&str, Value)> =
        INPUT_SCHEMA_KEYS.iter().filter_map(|key| Some((*key, entry.take(key)?))).collect();
    let mut schemas = schemas.into_iter();
    let (key, schema) = match schemas.next() {
        None => ("parameters", Value::Null),
        Some(first) => first,
    };
    if let Some((other, _)) = schemas.find(|(_, other)| *other != schema) {
        let message = format!("differs from `{key}`: only one of them can be meant");
        return Err(entry.error_at(other, message));
    }
    match schema {
        // Bedrock wraps the schema once more.
        Value::Object(mut members) if members.len() == 1 && members.contains_key("json") => {
            let schema = members.shift_remove("json").unwrap_or_default();
            Ok((format!("{key}/json"), schema))
        }
        Value::Object(members) if members.is_empty() => find_misplaced_schema(entry, key),
        Value::Null => find_misplaced_schema(entry, key),
        schema => Ok((key.to_owned(), schema)),
    }
}

/// Looks for the parameters elsewhere in the entry if the key has none; without any, the tool has no parameters.
fn find_misplaced_schema(
    entry: &mut EntryReader,
    key: &str,
) -> Result<(String, Value), EntryError> {
    if entry.remaining.contains_key("properties") {
        let keywords = ["properties", "required", "additionalProperties", "$defs", "definitions"];
        let schema: Map<String, Value> = keywords
            .iter()
            .filter_map(|keyword| Some(((*keyword).to_owned(), entry.take(keyword)?)))
            .collect();
        entry.note("", "`properties` read as those of the parameters");
        return Ok((String::new(), Value::Object(schema)));
    }
    match entry.unknown_container() {
        Some(key) => {
            let message = format!("`{key}` is no known key; the parameters belong in `parameters`");
            Err(entry.error_at(&escape_pointer_token(key), message))
        }
        None => Ok((key.to_owned(), Value::Null)),
    }
}

/// Moves a list `required` that is written beside the schema into it.
fn merge_required(entry: &mut EntryReader, schema: &mut Value) {
    if let Some(Value::Array(_)) = entry.remaining.get("required")
        && let Value::Object(members) = schema
        && !members.contains_key("required")
        && let Some(names) = entry.take("required")
    {
        entry.note("", "`required` read as part of the parameters");
        members.insert("required".to_owned(), names);
    }
}

fn normalise_schema(
    entry: &mut EntryReader,
    key: &str,
    schema: &mut Value,
) -> Result<(), EntryError> {
    let notes = normalise(schema).map_err(|error| schema_error(entry, key, &error))?;
    for SchemaFix { pointer, message } in notes {
        entry.note(&format!("{key}{pointer}"), message);
    }
    Ok(())
}

fn check_schema(entry: &EntryReader, key: &str, schema: Value) -> Result<Schema, EntryError> {
    Schema::check(schema).map_err(|error| schema_error(entry, key, &error))
}

fn schema_error(entry: &EntryReader, key: &str, error: &SchemaError) -> EntryError {
    entry.error_at(&format!("{key}{}", error.pointer()), error.message())
}

/// Adds `"type": "object"` where it is missing, and rejects a schema of another type.
fn require_object(
    entry: &mut EntryReader,
    key: &str,
    schema: &mut Value,
) -> Result<(), EntryError> {
    let Value::Object(members) = schema else {
        let message = format!("arguments are an object, which {schema} does not describe");
        return Err(entry.error_at(key, message));
    };
    let other = NON_OBJECT_KEYWORDS.iter().find(|keyword| members.contains_key(**keyword));
    let composed = COMPOSITION_KEYWORDS.iter().any(|keyword| members.contains_key(*keyword));
    match members.get("type") {
        Some(Value::String(name)) if name == "object" => {}
        Some(Value::Array(names)) if names.iter().any(|name| name == "object") => {
            entry.note(key, "type read as \"object\": arguments are nothing else");
            members.insert("type".to_owned(), json!("object"));
        }
        Some(other) => {
            let message = format!("arguments are an object, not {other}");
            return Err(entry.error_at(&format!("{key}/type"), message));
        }
        None if composed => {}
        None => match other {
            Some(other) => {
                let message = format!("arguments are an object, which `{other}` does not describe");
                return Err(entry.error_at(&format!("{key}/{other}"), message));
            }
            None => {
                entry.note(key, "type \"object\" added: arguments are nothing else");
                members.shift_insert(0, "type".to_owned(), json!("object"));
            }
        },
    }
    Ok(())
}
