//! Custom tools of OpenAI, whose input is text: each is imported as a function with one parameter.

use serde_json::{Map, Value, json};

use super::schemas::INPUT_SCHEMA_KEYS;
use crate::tool::custom_format::CustomToolFormat;

/// The parameter that has the text.
const PARAMETER: &str = "input";

/// The note about a definition that was a custom tool.
pub(super) const NOTE: &str = "a custom tool: its text is the parameter `input`";

/// Rewrites a custom tool as a function; `None` if the entry is not one.
///
/// In Chat Completions its definition is below `custom`. Anthropic has the same type for tools with a schema.
pub(super) fn as_function(
    entry: &Map<String, Value>,
) -> Option<(Map<String, Value>, CustomToolFormat)> {
    let is_custom = entry.get("type").is_some_and(|kind| kind == "custom");
    if !is_custom || INPUT_SCHEMA_KEYS.iter().any(|key| entry.contains_key(*key)) {
        return None;
    }
    let mut function = match entry.get("custom") {
        Some(Value::Object(inner)) => inner.clone(),
        _ => entry.clone(),
    };
    let format = read_format(&function.shift_remove("format").unwrap_or_default());
    function.insert("type".to_owned(), "function".into());
    let text = json!({"type": "string", "description": format.description()});
    function.insert(
        "parameters".to_owned(),
        json!({"type": "object", "properties": {PARAMETER: text}, "required": [PARAMETER],
            "additionalProperties": false}),
    );
    Some((function, format))
}

fn read_format(format: &Value) -> CustomToolFormat {
    // In Chat Completions the grammar is below `grammar`.
    let grammar = format.get("grammar").unwrap_or(format);
    let text = |key: &str| grammar.get(key).and_then(Value::as_str);
    match (text("syntax"), text("definition")) {
        (_, None) => CustomToolFormat::Text,
        (Some("regex"), Some(definition)) => CustomToolFormat::Regex(definition.to_owned()),
        (_, Some(definition)) => CustomToolFormat::Lark(definition.to_owned()),
    }
}
