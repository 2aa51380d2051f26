//! Tools that an API runs by itself: they stand among the definitions, and define nothing.

use serde_json::{Map, Value};

use super::{input::SCHEMAS, refused::Fault};

/// What Gemini and Vertex host, in their own spelling.
const GEMINI: [&str; 12] = [
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
pub(super) fn is_gemini(key: &str) -> bool {
    let plain = |key: &str| key.replace('_', "").to_ascii_lowercase();
    GEMINI.iter().any(|known| plain(known) == plain(key))
}

/// Why an entry is none of a function; `None` if it may be one.
pub(super) fn refusal(entry: &Map<String, Value>) -> Option<Fault> {
    let named = |keys: &[&str]| keys.iter().any(|key| entry.contains_key(*key));
    if named(&SCHEMAS) || named(&["function", "toolSpec", "tool_spec"]) {
        return None;
    }
    if named(&["cachePoint", "cache_point"]) {
        return Some(Fault {
            message: "a cache point: it marks a place, and defines nothing".to_owned(),
            ..Fault::hosted("cachePoint")
        });
    }
    if let Some(Value::Object(system)) = entry.get("systemTool") {
        let name = system.get("name").and_then(Value::as_str);
        return Some(Fault::hosted(name.unwrap_or("systemTool")));
    }
    let kind = match entry.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        _ => {
            let hosted = entry.keys().find(|key| is_gemini(key))?;
            return (!entry.contains_key("name")).then(|| Fault::hosted(hosted));
        }
    };
    match kind.to_ascii_lowercase().as_str() {
        "" | "function" | "tool" | "object" => None,
        // A schema in the place of a definition.
        "array" | "boolean" | "integer" | "null" | "number" | "string" => Some(Fault::formless()),
        "custom" => Some(Fault {
            message: "a custom tool: it takes free text, not JSON arguments".to_owned(),
            ..Fault::hosted(kind)
        }),
        _ => Some(Fault::hosted(kind)),
    }
    .map(|fault| match entry.get("name") {
        Some(Value::String(name)) => fault.named(name.clone()),
        _ => fault,
    })
}
