//! The definition of a server's tool, with notes on what was repaired.

use serde_json::{Map, Value};
use toolwright_core::{Hints, wire};

use super::{MAX_DESCRIPTION_BYTES, MAX_TITLE_BYTES, RemoteDefinition, sanitize};
use crate::pin::Fingerprint;

/// A tool with a longer name is left out.
const MAX_NAME_BYTES: usize = 1 << 10;

/// The fields of a definition that are read.
const KNOWN_KEYS: [&str; 6] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// Parses the definition of a tool; the error is a sentence for the status of the server.
pub(crate) fn parse_tool(raw: &Value) -> Result<RemoteDefinition, String> {
    let members = raw.as_object().ok_or("a tool that is no object is left out")?;
    let mut known: Map<String, Value> = members
        .iter()
        .filter(|(key, value)| KNOWN_KEYS.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if let Some(Value::String(name)) = known.get("name")
        && name.len() > MAX_NAME_BYTES
    {
        return Err(format!("a tool with a name of {} bytes is left out", name.len()));
    }
    for schema in ["inputSchema", "outputSchema"] {
        known.get_mut(schema).into_iter().for_each(sanitize_schema);
    }
    let left_out = |name: Option<&str>, message: &str| {
        let name = name.unwrap_or("without a name");
        sanitize(&format!("tool `{name}` is left out: {message}"), 600)
    };
    let mut notes = Vec::new();
    let mut parsed = parse_definition(&known).map_err(|error| left_out(None, &error))?;
    if let Err(rejected) = &parsed
        && rejected.pointer.starts_with("/outputSchema")
    {
        notes.push(format!("its output schema is left out: {rejected}"));
        known.shift_remove("outputSchema");
        parsed = parse_definition(&known).map_err(|error| left_out(None, &error))?;
    }
    let definition =
        parsed.map_err(|rejected| left_out(rejected.name.as_deref(), &rejected.to_string()))?;
    notes.extend(definition.notes.iter().map(ToString::to_string));
    if definition.description.len() > MAX_DESCRIPTION_BYTES {
        notes.push(format!("its description is cut to {MAX_DESCRIPTION_BYTES} bytes"));
    }
    Ok(RemoteDefinition {
        is_prompt: false,
        title: definition.title.map(|title| sanitize(&title, MAX_TITLE_BYTES)),
        description: sanitize(&definition.description, MAX_DESCRIPTION_BYTES),
        name: definition.name,
        input: definition.input.as_value().clone(),
        output: definition.output,
        hints: definition.hints,
        fingerprint: Fingerprint::of(members),
        notes,
    })
}

type Definition = Result<wire::ToolDefinition, wire::RejectedDefinition>;

/// Imports one definition; the outer error is that of something else than one definition.
fn parse_definition(members: &Map<String, Value>) -> Result<Definition, String> {
    let text = serde_json::to_string(members).map_err(|error| error.to_string())?;
    let mut found = wire::import_definitions(&text).map_err(|error| error.to_string())?;
    match found.pop() {
        Some(definition) if found.is_empty() => Ok(definition),
        _ => Err("not one definition".to_owned()),
    }
}

/// Sanitizes the titles and descriptions of a schema: the model reads them like the description of the tool.
fn sanitize_schema(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text) if key == "description" || key == "title" => {
                        *text = sanitize(text, MAX_DESCRIPTION_BYTES);
                    }
                    // These contain values, not text for the model.
                    _ if matches!(key.as_str(), "enum" | "const" | "default" | "examples") => {}
                    _ => sanitize_schema(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sanitize_schema),
        _ => {}
    }
}

/// Returns the declared hints or, of a server that is not trusted, those that make a tool look more dangerous.
pub(crate) fn trusted_hints(declared: Hints, is_trusted: bool) -> Hints {
    if is_trusted {
        return declared;
    }
    let mut hints = Hints::default();
    hints.read_only = declared.read_only.filter(|value| !value);
    hints.destructive = declared.destructive.filter(|value| *value);
    hints.idempotent = declared.idempotent.filter(|value| !value);
    hints.open_world = declared.open_world.filter(|value| *value);
    hints
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_is_read_with_notes_about_what_was_repaired() {
        let raw = json!({"name": "files.read", "inputSchema": {"type": "object",
            "properties": {"path": {"type": "str", "description": "Where.\u{e0041}"}}}, "_meta": {"x": 1}});
        let tool = parse_tool(&raw).unwrap();
        assert_eq!(tool.name, "files.read");
        let path = &tool.input["properties"]["path"];
        assert_eq!(path, &json!({"type": "string", "description": "Where."}));
        assert!(tool.notes.iter().any(|note| note.contains("no description")), "{:?}", tool.notes);
        assert!(tool.notes.iter().any(|note| note.contains("\"str\"")), "{:?}", tool.notes);
    }

    #[test]
    fn the_error_of_an_invalid_schema_has_its_location() {
        let raw = json!({"name": "f", "inputSchema": {"type": "object", "properties": {"a": {"type": "strng"}}}});
        let error = parse_tool(&raw).unwrap_err();
        assert!(
            error.contains("`f`") && error.contains("/inputSchema/properties/a/type"),
            "{error}"
        );
        assert!(parse_tool(&json!({"name": "f", "inputSchema": "all of it"})).is_err());
        assert!(parse_tool(&json!({"inputSchema": {}})).is_err());
        assert!(parse_tool(&json!("f")).is_err());
    }

    #[test]
    fn an_invalid_output_schema_is_left_out_alone() {
        let raw = json!({"name": "f", "inputSchema": {"type": "object"}, "outputSchema": {"type": "objekt"}});
        let tool = parse_tool(&raw).unwrap();
        assert!(tool.output.is_none());
        assert!(tool.notes[0].contains("output schema"), "{:?}", tool.notes);
    }

    #[test]
    fn hints_of_an_untrusted_server_only_warn() {
        let declared: Hints =
            serde_json::from_value(json!({"readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false}))
            .unwrap();
        assert_eq!(trusted_hints(declared, false), Hints::default());
        assert_eq!(trusted_hints(declared, true), declared);
        let warning: Hints =
            serde_json::from_value(json!({"readOnlyHint": false, "destructiveHint": true}))
                .unwrap();
        assert_eq!(trusted_hints(warning, false), warning);
    }
}
