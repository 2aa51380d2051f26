//! A tool as its server defines it in, a definition of ours out, with notes.

use serde_json::{Map, Value};
use toolwright_core::schema::Schema;
use toolwright_core::{Hints, wire};

use super::untrusted_text::sanitize;
use crate::pin::Fingerprint;

/// More is cut: a description is for reading.
const MAX_DESCRIPTION_BYTES: usize = 16 << 10;
const MAX_TITLE_BYTES: usize = 200;
const MAX_NAME_BYTES: usize = 1 << 10;

/// The part of a definition that counts for us.
const KNOWN_KEYS: [&str; 6] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
];

/// A tool that a server offers.
#[derive(Clone, Debug)]
pub(crate) struct RemoteTool {
    /// The name its server knows it by.
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) input: Schema,
    pub(crate) output: Option<Schema>,
    /// What the server claims.
    pub(crate) hints: Hints,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) notes: Vec<String>,
}

impl RemoteTool {
    /// Reads a definition; `Err` says in a sentence why it cannot be used.
    pub(crate) fn parse(raw: &Value) -> Result<Self, String> {
        let Value::Object(members) = raw else {
            return Err("a tool that is no object is left out".to_owned());
        };
        let fingerprint = Fingerprint::of(members);
        let mut known: Map<String, Value> = members
            .iter()
            .filter(|(key, value)| KNOWN_KEYS.contains(&key.as_str()) && !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if let Some(Value::String(name)) = known.get("name")
            && name.len() > MAX_NAME_BYTES
        {
            return Err(format!(
                "a tool with a name of {} bytes is left out",
                name.len()
            ));
        }
        for schema in ["inputSchema", "outputSchema"] {
            known.get_mut(schema).into_iter().for_each(sanitize_schema);
        }
        let mut notes = Vec::new();
        let mut read = parse_definition(&known);
        if let Err(flaw) = &read
            && flaw.pointer.starts_with("/outputSchema")
        {
            notes.push(format!("its output schema is left out: {}", flaw.message));
            known.shift_remove("outputSchema");
            read = parse_definition(&known);
        }
        let definition = read.map_err(|flaw| {
            let name = flaw.name.as_deref().unwrap_or("without a name");
            sanitize(&format!("tool `{name}` is left out: {}", flaw.message), 600)
        })?;
        notes.extend(definition.notes.iter().map(ToString::to_string));
        if definition.description.len() > MAX_DESCRIPTION_BYTES {
            notes.push(format!(
                "its description is cut to {MAX_DESCRIPTION_BYTES} bytes"
            ));
        }
        Ok(Self {
            title: definition
                .title
                .map(|title| sanitize(&title, MAX_TITLE_BYTES)),
            description: sanitize(&definition.description, MAX_DESCRIPTION_BYTES),
            name: definition.name,
            input: definition.input,
            output: definition.output,
            hints: definition.hints,
            fingerprint,
            notes,
        })
    }
}

/// Why a definition cannot be used, and where it says so.
struct DefinitionError {
    name: Option<String>,
    pointer: String,
    message: String,
}

impl DefinitionError {
    fn without_location(error: impl ToString) -> Self {
        Self {
            name: None,
            pointer: String::new(),
            message: error.to_string(),
        }
    }
}

impl From<wire::RejectedDefinition> for DefinitionError {
    fn from(refused: wire::RejectedDefinition) -> Self {
        Self {
            message: refused.to_string(),
            name: refused.name,
            pointer: refused.pointer,
        }
    }
}

fn parse_definition(members: &Map<String, Value>) -> Result<wire::ToolDefinition, DefinitionError> {
    let text = serde_json::to_string(members).map_err(DefinitionError::without_location)?;
    let mut found = wire::import_definitions(&text).map_err(DefinitionError::without_location)?;
    match found.pop() {
        Some(read) if found.is_empty() => Ok(read?),
        _ => Err(DefinitionError::without_location("not one definition")),
    }
}

/// Cleans what a schema says in words: a model reads it as it reads the description.
fn sanitize_schema(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text) if key == "description" || key == "title" => {
                        *text = sanitize(text, MAX_DESCRIPTION_BYTES);
                    }
                    // These hold values, not words.
                    _ if matches!(key.as_str(), "enum" | "const" | "default" | "examples") => {}
                    _ => sanitize_schema(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sanitize_schema),
        _ => {}
    }
}

/// Keeps of a server's hints those that warn: what would reassure is not taken from a stranger.
pub(crate) fn trusted_hints(claimed: Hints, believed: bool) -> Hints {
    if believed {
        return claimed;
    }
    let mut kept = Hints::default();
    kept.read_only = claimed.read_only.filter(|yes| !yes);
    kept.destructive = claimed.destructive.filter(|yes| *yes);
    kept.idempotent = claimed.idempotent.filter(|yes| !yes);
    kept.open_world = claimed.open_world.filter(|yes| *yes);
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_is_read_with_notes_about_what_was_mended() {
        let raw = json!({"name": "files.read", "inputSchema": {"type": "object",
            "properties": {"path": {"type": "str", "description": "Where.\u{e0041}"}}}, "_meta": {"x": 1}});
        let tool = RemoteTool::parse(&raw).unwrap();
        assert_eq!(tool.name, "files.read");
        let path = &tool.input.as_value()["properties"]["path"];
        assert_eq!(path, &json!({"type": "string", "description": "Where."}));
        assert!(
            tool.notes
                .iter()
                .any(|note| note.contains("no description")),
            "{:?}",
            tool.notes
        );
        assert!(
            tool.notes.iter().any(|note| note.contains("\"str\"")),
            "{:?}",
            tool.notes
        );
    }

    #[test]
    fn a_schema_that_cannot_be_used_says_where() {
        let raw = json!({"name": "f", "inputSchema": {"type": "object", "properties": {"a": {"type": "strng"}}}});
        let told = RemoteTool::parse(&raw).unwrap_err();
        assert!(
            told.contains("`f`") && told.contains("/inputSchema/properties/a/type"),
            "{told}"
        );
        assert!(RemoteTool::parse(&json!({"name": "f", "inputSchema": "all of it"})).is_err());
        assert!(RemoteTool::parse(&json!({"inputSchema": {}})).is_err());
        assert!(RemoteTool::parse(&json!("f")).is_err());
    }

    #[test]
    fn an_output_schema_that_cannot_be_used_costs_only_itself() {
        let raw = json!({"name": "f", "inputSchema": {"type": "object"}, "outputSchema": {"type": "objekt"}});
        let tool = RemoteTool::parse(&raw).unwrap();
        assert!(tool.output.is_none());
        assert!(tool.notes[0].contains("output schema"), "{:?}", tool.notes);
    }

    #[test]
    fn a_strangers_hints_only_warn() {
        let claimed: Hints =
            serde_json::from_value(json!({"readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false}))
            .unwrap();
        assert_eq!(trusted_hints(claimed, false), Hints::default());
        assert_eq!(trusted_hints(claimed, true), claimed);
        let warned: Hints =
            serde_json::from_value(json!({"readOnlyHint": false, "destructiveHint": true}))
                .unwrap();
        assert_eq!(trusted_hints(warned, false), warned);
    }
}
