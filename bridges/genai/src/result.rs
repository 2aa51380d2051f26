//! Results in, what a model reads through genai out.

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ToolCall, ToolResponse};
use serde_json::{Value, json};
use toolwright::ToolResult;

/// Converts a result to text, which is all that genai carries; a failure begins with `Error: `.
pub fn to_tool_response(call: &ToolCall, result: &ToolResult) -> ToolResponse {
    ToolResponse::from_tool_call(call, result.to_text_with_error_prefix())
}

/// The messages for the results of one step.
pub(crate) fn to_chat_messages(
    adapter: AdapterKind,
    results: Vec<ToolResponse>,
) -> Vec<ChatMessage> {
    if matches!(adapter, AdapterKind::Ollama | AdapterKind::OllamaCloud) {
        // Of several results in one message, genai sends only the last to Ollama.
        return results.into_iter().map(ChatMessage::from).collect();
    }
    vec![results.into()]
}

/// Arguments as the object that every provider wants back, whatever the model made of them.
pub(crate) fn replay_arguments(arguments: Value) -> Value {
    match arguments {
        Value::Object(_) => arguments,
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        other => json!({"INVALID_JSON": other}),
    }
}
