//! One content block: assembled from its deltas, then converted to an item with its raw JSON.

use std::collections::HashMap;

use serde_json::Value;
use toolwright_chat::{Item, ItemKind, ModelEvent};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::wire::{Delta, text_field};
use crate::protocol::anthropic::NAME;
use crate::protocol::json::{JsonObject, arguments_object, object};
use crate::protocol::{item_with_raw, tool_name};

/// A block that is being streamed.
pub(super) struct Block {
    kind: BlockKind,
    fields: JsonObject,
    /// The streamed JSON of its input.
    input_json: String,
    /// Its index among the calls of the response.
    call_index: usize,
}

/// The type of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    RedactedThinking,
    ToolUse,
    ServerToolUse,
    ServerToolResult,
    Other,
}

impl BlockKind {
    fn from_type(name: &str) -> Self {
        match name {
            "text" => Self::Text,
            "thinking" => Self::Thinking,
            "redacted_thinking" => Self::RedactedThinking,
            "tool_use" => Self::ToolUse,
            "server_tool_use" | "mcp_tool_use" => Self::ServerToolUse,
            name if name.ends_with("_tool_result") => Self::ServerToolResult,
            _ => Self::Other,
        }
    }
}

impl Block {
    /// A block as it starts; `call_index` is the number of calls before it.
    pub(super) fn new(mut fields: JsonObject, call_index: usize) -> Self {
        let kind = BlockKind::from_type(text_field(&fields, "type"));
        if kind == BlockKind::ToolUse && text_field(&fields, "id").is_empty() {
            // Without an id its result could not be matched.
            let id = ToolCall::new("", "").id;
            fields.insert("id".to_owned(), id.as_str().into());
        }
        Self { kind, fields, input_json: String::new(), call_index }
    }

    /// The block for a delta whose block never started, if its type is clear.
    pub(super) fn for_orphan_delta(delta: &Delta<'_>, call_index: usize) -> Option<Self> {
        let name = match &*delta.kind {
            "text_delta" => "text",
            "thinking_delta" => "thinking",
            _ => return None,
        };
        Some(Self::new(object([("type", name.into())]), call_index))
    }

    pub(super) fn is_call(&self) -> bool {
        self.kind == BlockKind::ToolUse
    }

    /// The events of the start of the block.
    pub(super) fn start_events(&self, tools: &ToolPlan) -> Vec<ModelEvent> {
        let field = |name| text_field(&self.fields, name).to_owned();
        let event = match self.kind {
            BlockKind::Text => non_empty(field("text")).map(ModelEvent::Text),
            BlockKind::Thinking => non_empty(field("thinking")).map(ModelEvent::Reasoning),
            BlockKind::ToolUse => Some(ModelEvent::CallBegins {
                index: self.call_index,
                id: field("id").into(),
                name: tool_name(tools, &field("name")),
            }),
            _ => None,
        };
        // Usually the initial input is an empty object, and the arguments follow in deltas.
        let input = Some(self.initial_input()).filter(|input| input != "{}");
        event.into_iter().chain(input.and_then(|input| self.call_delta(input))).collect()
    }

    /// Adds a delta, and returns its event, if any.
    pub(super) fn apply_delta(&mut self, mut delta: Delta<'_>) -> Option<ModelEvent> {
        match (self.kind, &*delta.kind) {
            (BlockKind::Text, "text_delta") => {
                let text = delta.text.unwrap_or_default();
                append_text(&mut self.fields, "text", &text);
                non_empty(text.into_owned()).map(ModelEvent::Text)
            }
            (BlockKind::Text, "citations_delta") => {
                let citation = delta.rest.remove("citation")?;
                let citations = vec![citation].into();
                merge_fields(&mut self.fields, object([("citations", citations)]));
                None
            }
            (BlockKind::Thinking, "thinking_delta") => {
                let thinking = delta.thinking.unwrap_or_default();
                append_text(&mut self.fields, "thinking", &thinking);
                non_empty(thinking.into_owned()).map(ModelEvent::Reasoning)
            }
            (BlockKind::Thinking, "signature_delta") => {
                let signature = delta.rest.remove("signature")?;
                self.fields.insert("signature".to_owned(), signature);
                None
            }
            (
                BlockKind::ToolUse | BlockKind::ServerToolUse | BlockKind::Other,
                "input_json_delta",
            ) => {
                let json = delta.partial_json.unwrap_or_default();
                self.input_json.push_str(&json);
                self.call_delta(json.into_owned())
            }
            (BlockKind::Other, _) => {
                merge_fields(&mut self.fields, delta.into_fields());
                None
            }
            _ => None,
        }
    }

    /// Converts the complete block; `hosted` has the names of hosted tools by the ids of their calls.
    pub(super) fn into_item(
        mut self,
        tools: &ToolPlan,
        hosted: &mut HashMap<String, String>,
    ) -> Item {
        let streamed = non_empty(std::mem::take(&mut self.input_json));
        let arguments = streamed.unwrap_or_else(|| self.initial_input());
        let has_input = matches!(self.kind, BlockKind::ToolUse | BlockKind::ServerToolUse)
            || (self.kind == BlockKind::Other && !arguments.is_empty());
        if has_input {
            self.fields.insert("input".to_owned(), arguments_object(&arguments));
        }
        let field = |name| text_field(&self.fields, name).to_owned();
        let kind = match self.kind {
            BlockKind::Text => ItemKind::Text { text: field("text") },
            BlockKind::Thinking => ItemKind::Reasoning { text: field("thinking") },
            BlockKind::RedactedThinking => ItemKind::Reasoning { text: String::new() },
            BlockKind::ToolUse => {
                let call = ToolCall::new(field("name"), arguments).with_id(field("id"));
                ItemKind::Call { call: tools.lift(call) }
            }
            BlockKind::ServerToolUse => {
                let tool = match text_field(&self.fields, "server_name") {
                    "" => field("name"),
                    server => format!("{server}/{}", text_field(&self.fields, "name")),
                };
                hosted.insert(field("id"), tool.clone());
                let (input, output) = (arguments, String::new());
                ItemKind::HostedCall { tool, input, output, failed: false }
            }
            BlockKind::ServerToolResult => self.hosted_result(hosted),
            BlockKind::Other => ItemKind::Other,
        };
        item_with_raw(NAME, kind, &self.fields)
    }

    fn hosted_result(&self, hosted: &mut HashMap<String, String>) -> ItemKind {
        let kind = text_field(&self.fields, "type");
        // A call has one result, so the name is not needed again.
        let tool = hosted.remove(text_field(&self.fields, "tool_use_id"));
        let content = self.fields.get("content").unwrap_or(&Value::Null);
        let is_error = self.fields.get("is_error").and_then(Value::as_bool);
        ItemKind::HostedCall {
            tool: tool.unwrap_or_else(|| kind.trim_end_matches("_tool_result").to_owned()),
            input: String::new(),
            output: hosted_output_text(content),
            failed: is_error.unwrap_or(false) || content.get("error_code").is_some(),
        }
    }

    /// The input of the block when it started, as text.
    fn initial_input(&self) -> String {
        match self.fields.get("input") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }

    fn call_delta(&self, delta: String) -> Option<ModelEvent> {
        let delta = non_empty(delta).filter(|_| self.is_call())?;
        Some(ModelEvent::CallDelta { index: self.call_index, delta })
    }
}

/// The readable text in the output of a hosted tool.
fn hosted_output_text(content: &Value) -> String {
    let field = |name: &str| content.get(name).and_then(Value::as_str);
    let lines: Vec<String> = match content {
        Value::String(text) => return text.clone(),
        Value::Array(items) => items.iter().map(hosted_output_text).collect(),
        _ => ["error_code", "text", "title", "url", "stdout", "stderr"]
            .into_iter()
            .filter_map(|name| field(name).map(str::to_owned))
            .collect(),
    };
    let separator = if content.is_array() { "\n" } else { " " };
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    lines.join(separator)
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn append_text(fields: &mut JsonObject, name: &str, delta: &str) {
    // Comparing a few names is faster than hashing one.
    match fields.iter_mut().find(|(field, _)| *field == name) {
        Some((_, Value::String(text))) => text.push_str(delta),
        _ => {
            fields.insert(name.to_owned(), delta.into());
        }
    }
}

/// Adds the fields of a delta: texts and lists are appended, other values replaced.
fn merge_fields(fields: &mut JsonObject, delta: JsonObject) {
    for (name, value) in delta {
        match (fields.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
            (_, value) => {
                fields.insert(name, value);
            }
        }
    }
}
