//! The schema of a definition, wherever its API puts it.

use serde_json::{Map, Value, json};
use toolwright_schema::{Note, Schema, SchemaError, normalise};

use super::{entry::Entry, refused::Fault};

/// Where APIs put the schema of the arguments.
pub(super) const SCHEMAS: [&str; 5] = [
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
    "input_schema",
    "inputSchema",
];

/// Where APIs put the schema of the result.
const OUTPUTS: [&str; 5] = [
    "outputSchema",
    "output_schema",
    "responseJsonSchema",
    "response_json_schema",
    "response",
];

/// Keywords by which a schema means something else than an object, unless it names the type.
const OF_OTHERS: [&str; 13] = [
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

/// Keywords by which a schema leaves it to others to name the type.
const OF_PARTS: [&str; 7] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "not",
];

/// Reads the schema of the arguments.
pub(super) fn read(entry: &mut Entry) -> Result<Schema, Fault> {
    let (key, mut schema) = find(entry)?;
    take_required(entry, &mut schema);
    mend(entry, &key, &mut schema)?;
    make_object(entry, &key, &mut schema)?;
    check(entry, &key, schema)
}

/// Reads the schema of the result, if there is one.
pub(super) fn read_output(entry: &mut Entry) -> Result<Option<Schema>, Fault> {
    let given = OUTPUTS
        .iter()
        .find_map(|key| Some((*key, entry.take(key)?)));
    match given {
        None => Ok(None),
        // It says nothing.
        Some((_, Value::Object(members))) if members.is_empty() => Ok(None),
        // Examples of answers stand there too.
        Some(("response", schema)) if !schema.is_object() => {
            entry.note("response", "left out: not a schema");
            Ok(None)
        }
        Some((key, mut schema)) => {
            mend(entry, key, &mut schema)?;
            check(entry, key, schema).map(Some)
        }
    }
}

/// Finds the schema, and the key it is under.
fn find(entry: &mut Entry) -> Result<(String, Value), Fault> {
    let given: Vec<(&str, Value)> = SCHEMAS
        .iter()
        .filter_map(|key| Some((*key, entry.take(key)?)))
        .collect();
    let mut given = given.into_iter();
    let (key, schema) = match given.next() {
        None => ("parameters", Value::Null),
        Some(first) => first,
    };
    if let Some((other, _)) = given.find(|(_, other)| *other != schema) {
        let message = format!("`{key}` says otherwise: only one of them can be meant");
        return Err(entry.fault(other, message));
    }
    match schema {
        // Bedrock wraps the schema once more.
        Value::Object(mut members) if members.len() == 1 && members.contains_key("json") => {
            let schema = members.shift_remove("json").unwrap_or_default();
            Ok((format!("{key}/json"), schema))
        }
        Value::Object(members) if members.is_empty() => elsewhere(entry, key),
        Value::Null => elsewhere(entry, key),
        schema => Ok((key.to_owned(), schema)),
    }
}

/// No schema where one is expected: no parameters, unless they stand somewhere else.
fn elsewhere(entry: &mut Entry, key: &str) -> Result<(String, Value), Fault> {
    if entry.body.contains_key("properties") {
        let keywords = [
            "properties",
            "required",
            "additionalProperties",
            "$defs",
            "definitions",
        ];
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
            let step = key.replace('~', "~0").replace('/', "~1");
            Err(entry.fault(&step, message))
        }
        None => Ok((key.to_owned(), Value::Null)),
    }
}

/// A list of required names that stands beside the parameters.
fn take_required(entry: &mut Entry, schema: &mut Value) {
    if let Some(Value::Array(_)) = entry.body.get("required")
        && let Value::Object(members) = schema
        && !members.contains_key("required")
        && let Some(names) = entry.take("required")
    {
        entry.note("", "`required` read as part of the parameters");
        members.insert("required".to_owned(), names);
    }
}

fn mend(entry: &mut Entry, key: &str, schema: &mut Value) -> Result<(), Fault> {
    let notes = normalise(schema).map_err(|error| placed(entry, key, &error))?;
    for Note { pointer, message } in notes {
        entry.note(&format!("{key}{pointer}"), message);
    }
    Ok(())
}

fn check(entry: &Entry, key: &str, schema: Value) -> Result<Schema, Fault> {
    Schema::check(schema).map_err(|error| placed(entry, key, &error))
}

fn placed(entry: &Entry, key: &str, error: &SchemaError) -> Fault {
    entry.fault(&format!("{key}{}", error.pointer()), error.message())
}

/// Arguments are an object: says so where the schema does not, and refuses one that says otherwise.
fn make_object(entry: &mut Entry, key: &str, schema: &mut Value) -> Result<(), Fault> {
    let Value::Object(members) = schema else {
        let message = format!("arguments are an object, which {schema} does not describe");
        return Err(entry.fault(key, message));
    };
    let other = OF_OTHERS.iter().find(|word| members.contains_key(**word));
    let composed = OF_PARTS.iter().any(|word| members.contains_key(*word));
    match members.get("type") {
        Some(Value::String(word)) if word == "object" => {}
        Some(Value::Array(words)) if words.iter().any(|word| word == "object") => {
            entry.note(key, "type read as \"object\": arguments are nothing else");
            members.insert("type".to_owned(), json!("object"));
        }
        Some(other) => {
            let message = format!("arguments are an object, not {other}");
            return Err(entry.fault(&format!("{key}/type"), message));
        }
        None if composed => {}
        None => match other {
            Some(other) => {
                let message = format!("arguments are an object, of which `{other}` says nothing");
                return Err(entry.fault(&format!("{key}/{other}"), message));
            }
            None => {
                entry.note(key, "type \"object\" added: arguments are nothing else");
                members.shift_insert(0, "type".to_owned(), json!("object"));
            }
        },
    }
    Ok(())
}
