//! Tools that an API runs by itself: they stand among the definitions, and define nothing.

use serde_json::{Map, Value};

use super::{error::EntryError, schemas::INPUT_SCHEMA_KEYS};

/// What Gemini and Vertex host, in their own spelling.
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

/// Whether a member of a Gemini tool names one that is hosted, in either spelling.
pub(super) fn is_gemini_hosted(key: &str) -> bool {
    let plain = |key: &str| key.replace('_', "").to_ascii_lowercase();
    GEMINI_HOSTED_TOOLS
        .iter()
        .any(|known| plain(known) == plain(key))
}

/// Why an entry is none of a function; `None` if it may be one.
pub(super) fn reject_hosted(entry: &Map<String, Value>) -> Option<EntryError> {
    let named = |keys: &[&str]| keys.iter().any(|key| entry.contains_key(*key));
    if named(&INPUT_SCHEMA_KEYS) || named(&["function", "toolSpec", "tool_spec"]) {
        return None;
    }
    if named(&["cachePoint", "cache_point"]) {
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
        // A schema in the place of a definition.
        "array" | "boolean" | "integer" | "null" | "number" | "string" => {
            Some(EntryError::not_a_definition())
        }
        "custom" => Some(EntryError {
            message: "a custom tool: it takes free text, not JSON arguments".to_owned(),
            ..EntryError::hosted(kind)
        }),
        _ => Some(EntryError::hosted(kind)),
    }
    .map(|fault| match entry.get("name") {
        Some(Value::String(name)) => fault.with_name(name.clone()),
        _ => fault,
    })
}
