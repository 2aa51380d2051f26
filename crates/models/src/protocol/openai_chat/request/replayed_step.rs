//! Writes an earlier step as an assistant message.

use serde_json::{Value, json};
use toolwright_chat::{Item, ItemKind, Step};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use crate::protocol::call_identifiers::valid_tool_name;
use crate::protocol::json::{JsonObject, object};
use crate::protocol::openai_chat::{NAME, OpenAiChat, Quirks};
use crate::protocol::raw_fields;

/// Writes a step; `None` if nothing of it can be replayed.
pub(super) fn assistant_message(
    protocol: &OpenAiChat,
    step: &Step,
    tools: &ToolPlan,
) -> Option<Value> {
    let mut message = AssistantMessageBuilder {
        quirks: &protocol.quirks,
        is_same_vendor: step.model.vendor == protocol.vendor,
        tools,
        content: Vec::new(),
        calls: Vec::new(),
        extra_fields: JsonObject::new(),
    };
    for item in &step.items {
        message.add_item(item);
    }
    message.build()
}

struct AssistantMessageBuilder<'a> {
    quirks: &'a Quirks,
    /// Whether the step is by a model of the same vendor.
    is_same_vendor: bool,
    tools: &'a ToolPlan,
    content: Vec<Value>,
    calls: Vec<Value>,
    extra_fields: JsonObject,
}

impl AssistantMessageBuilder<'_> {
    fn add_item(&mut self, item: &Item) {
        let raw: Option<JsonObject> = raw_fields(NAME, item);
        match (&item.kind, raw) {
            (ItemKind::Text { text }, raw) => {
                let content = raw.and_then(|mut raw| raw.remove("content"));
                self.push_content(content.unwrap_or_else(|| text.as_str().into()));
            }
            (ItemKind::Call { call }, raw) => {
                let raw = raw.filter(|raw| self.tools.has_custom_tools() || !is_custom(raw));
                let entry = raw.unwrap_or_else(|| new_call(call.clone(), self.tools));
                self.push_call(call, entry);
            }
            (ItemKind::Refusal { text }, raw) => match raw {
                Some(raw) if self.quirks.replayed_fields.contains(&"refusal") => {
                    self.add_replayed_fields(raw)
                }
                _ => self.push_content(text.as_str().into()),
            },
            (_, Some(raw)) => self.add_replayed_fields(raw),
            (_, None) => {}
        }
    }

    /// Adds the fields that the vendor requires to be replayed.
    fn add_replayed_fields(&mut self, raw: JsonObject) {
        for (name, value) in raw {
            let is_replayed = self.quirks.replayed_fields.contains(&name.as_str())
                || self.quirks.field_required_with_calls == Some(name.as_str());
            match (name.as_str(), is_replayed) {
                (_, false) => {}
                ("content", true) => self.push_content(value),
                (_, true) => {
                    self.extra_fields.insert(name, value);
                }
            }
        }
    }

    fn push_content(&mut self, content: Value) {
        match content {
            Value::String(text) => self.content.push(json!({"type": "text", "text": text})),
            Value::Array(parts) => self.content.extend(parts),
            _ => {}
        }
    }

    /// Adds a call, with the id that its result has.
    fn push_call(&mut self, call: &ToolCall, mut entry: JsonObject) {
        let id = self.quirks.call_id_format.conform(call.id.as_str());
        entry.shift_insert(0, "id".to_owned(), id.into());
        if !self.is_same_vendor {
            // Another vendor rejects extra fields of a call, as a signature.
            let is_known = |field: &str| matches!(field, "id" | "type" | "function" | "custom");
            entry.retain(|field, _| is_known(field));
        }
        let kind = if is_custom(&entry) { "custom" } else { "function" };
        if let Some(Value::Object(function)) = entry.get_mut(kind) {
            let name = function.get("name").and_then(Value::as_str);
            let name = valid_tool_name(name.unwrap_or_default());
            function.insert("name".to_owned(), name.into());
            if self.quirks.arguments_must_be_object
                && let Some(arguments) = function.get_mut("arguments")
            {
                ensure_object(arguments);
            }
        }
        self.calls.push(entry.into());
    }

    fn build(mut self) -> Option<Value> {
        if let Some(name) = self.quirks.field_required_with_calls {
            if self.calls.is_empty() {
                self.extra_fields.remove(name);
            } else {
                self.extra_fields.entry(name).or_insert_with(|| "".into());
            }
        }
        let texts: Option<Vec<&str>> = self.content.iter().map(plain_text).collect();
        let content = match texts.map(|texts| texts.concat()) {
            Some(text) if text.trim().is_empty() => Value::Null,
            Some(text) => text.into(),
            None => self.content.into(),
        };
        if content.is_null() && self.calls.is_empty() && self.extra_fields.is_empty() {
            return None;
        }
        let mut message = JsonObject::new();
        message.insert("role".to_owned(), "assistant".into());
        message.insert("content".to_owned(), content);
        message.extend(self.extra_fields);
        if !self.calls.is_empty() {
            message.insert("tool_calls".to_owned(), self.calls.into());
        }
        Some(message.into())
    }
}

/// Returns true for a call of a custom tool.
fn is_custom(entry: &JsonObject) -> bool {
    entry.get("type").is_some_and(|kind| kind == "custom")
}

/// Writes a call that this API has not sent, or in a form that the request does not accept.
fn new_call(call: ToolCall, tools: &ToolPlan) -> JsonObject {
    let call = tools.lower(call);
    let (kind, called) = match tools.custom_input(&call) {
        Some(input) => ("custom", json!({"name": call.name, "input": input})),
        None => ("function", json!({"name": call.name, "arguments": call.arguments})),
    };
    object([("type", kind.into()), (kind, called)])
}

/// The text of a part that has no other fields.
fn plain_text(part: &Value) -> Option<&str> {
    let part = part.as_object().filter(|part| part.len() == 2)?;
    part.get("type").filter(|kind| *kind == "text")?;
    part.get("text")?.as_str()
}

/// Wraps arguments that are not a JSON object into one.
fn ensure_object(arguments: &mut Value) {
    let Value::String(text) = arguments else {
        return;
    };
    if text.trim().is_empty() {
        *arguments = "{}".into();
    } else if serde_json::from_str::<JsonObject>(text).is_err() {
        *arguments = json!({"unreadable": text}).to_string().into();
    }
}
