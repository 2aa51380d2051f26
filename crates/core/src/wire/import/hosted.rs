//! Recognises hosted tools, which the API runs itself: they are listed among the definitions, but have none.

use serde_json::{Map, Value};

use super::{error::EntryError, schemas::INPUT_SCHEMA_KEYS};

/// The hosted tools of Gemini and Vertex, as their APIs spell them.
const GEMINI_HOSTED_TOOLS: [&str; 12] = [
    "googleSearch",
    "googleSearchRetrieval",
    "googleMaps",
    "codeExecution",
    "urlContext",
    "computerUse",
    "fileSearch",
    "enterpriseWebSearch",
    "retrieval",
    "mcpServers",
    "exaAiSearch",
    "parallelAiSearch",
];

/// Returns true if a key of a Gemini tool is a hosted tool, in camel or snake case.
pub(super) fn is_gemini_hosted(key: &str) -> bool {
    let fold = |key: &str| key.replace('_', "").to_ascii_lowercase();
    GEMINI_HOSTED_TOOLS.iter().any(|known| fold(known) == fold(key))
}

/// Returns the error for an entry that is not a function; `None` if it may be one.
pub(super) fn reject_hosted(entry: &Map<String, Value>) -> Option<EntryError> {
    let has_any = |keys: &[&str]| keys.iter().any(|key| entry.contains_key(*key));
    if has_any(&INPUT_SCHEMA_KEYS) || has_any(&["function", "toolSpec", "tool_spec"]) {
        return None;
    }
    if has_any(&["cachePoint", "cache_point"]) {
        return Some(EntryError {
            message: "a cache point: it marks a place, and defines nothing".to_owned(),
            ..EntryError::hosted("cachePoint")
        });
    }
    if let Some(Value::Object(system)) = entry.get("systemTool") {
        let name = system.get("name").and_then(Value::as_str);
        return Some(EntryError::hosted(name.unwrap_or("systemTool")));
    }
    let kind = match entry.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        _ => {
            let hosted = entry.keys().find(|key| is_gemini_hosted(key))?;
            return (!entry.contains_key("name")).then(|| EntryError::hosted(hosted));
        }
    };
    match kind.to_ascii_lowercase().as_str() {
        "" | "function" | "tool" | "object" => None,
        // A schema instead of a definition.
        "array" | "boolean" | "integer" | "null" | "number" | "string" => {
            Some(EntryError::not_a_definition())
        }
        _ => Some(EntryError::hosted(kind)),
    }
    .map(|error| match entry.get("name") {
        Some(Value::String(name)) => error.with_name(name.clone()),
        _ => error,
    })
}
