//! A step of the past in, the message that it was out.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolwright_chat::{Item, ItemKind, Step};
use toolwright_core::ToolCall;
use toolwright_core::wire::Plan;

use crate::called;
use crate::openai_chat::{OpenAiChat, Quirks};
use crate::protocol::Protocol as _;

/// Writes a step; nothing if nothing of it can be said again.
pub(super) fn message(chat: &OpenAiChat, step: &Step, tools: &Plan) -> Option<Value> {
    let mut draft = Draft {
        quirks: &chat.quirks,
        own: step.model.vendor == chat.vendor,
        tools,
        content: Vec::new(),
        calls: Vec::new(),
        fields: Map::new(),
    };
    for item in &step.items {
        draft.add(item);
    }
    draft.message()
}

struct Draft<'a> {
    quirks: &'a Quirks,
    /// Whether the vendor made the step itself.
    own: bool,
    tools: &'a Plan,
    content: Vec<Value>,
    calls: Vec<Value>,
    fields: Map<String, Value>,
}

impl Draft<'_> {
    fn add(&mut self, item: &Item) {
        let raw = item.raw_json(OpenAiChat::NAME).and_then(object);
        match (&item.kind, raw) {
            (ItemKind::Text { text }, raw) => {
                let content = raw.and_then(|mut raw| raw.remove("content"));
                self.say(content.unwrap_or_else(|| text.as_str().into()));
            }
            (ItemKind::Call { call }, Some(raw)) => self.call_again(call, raw),
            (ItemKind::Call { call }, None) => {
                let call = self.tools.lower(call.clone());
                let function = json!({
                    "name": call.name.as_str(),
                    "arguments": call.arguments.as_str(),
                });
                let entry = json!({"type": "function", "function": function});
                if let Value::Object(entry) = entry {
                    self.call_again(&call, entry);
                }
            }
            (ItemKind::Refusal { text }, raw) => match raw {
                Some(raw) if self.quirks.replayed.contains(&"refusal") => self.fields(raw),
                _ => self.say(text.as_str().into()),
            },
            (_, Some(raw)) => self.fields(raw),
            (_, None) => {}
        }
    }

    /// Fields that the vendor wants to hear again.
    fn fields(&mut self, raw: Map<String, Value>) {
        for (name, value) in raw {
            let wanted = self.quirks.replayed.contains(&name.as_str())
                || self.quirks.beside_calls == Some(name.as_str());
            match (name.as_str(), wanted) {
                (_, false) => {}
                ("content", true) => self.say(value),
                (_, true) => {
                    self.fields.insert(name, value);
                }
            }
        }
    }

    fn say(&mut self, content: Value) {
        match content {
            Value::String(text) => self.content.push(json!({"type": "text", "text": text})),
            Value::Array(parts) => self.content.extend(parts),
            _ => {}
        }
    }

    /// A call as it was made, under the id that its result will go by.
    fn call_again(&mut self, call: &ToolCall, mut entry: Map<String, Value>) {
        let id = self.quirks.call_ids.of(call.id.as_str());
        entry.shift_insert(0, "id".to_owned(), id.into());
        if !self.own {
            // What one vendor adds to a call, as a signature, another refuses.
            entry.retain(|field, _| matches!(field.as_str(), "id" | "type" | "function"));
        }
        if let Some(Value::Object(function)) = entry.get_mut("function") {
            let name = function.get("name").and_then(Value::as_str);
            let name = called::name(name.unwrap_or_default()).into_owned();
            function.insert("name".to_owned(), name.into());
            if self.quirks.tidy_arguments
                && let Some(arguments) = function.get_mut("arguments")
            {
                tidy(arguments);
            }
        }
        self.calls.push(entry.into());
    }

    fn message(mut self) -> Option<Value> {
        if let Some(name) = self.quirks.beside_calls {
            if self.calls.is_empty() {
                self.fields.remove(name);
            } else {
                self.fields.entry(name).or_insert_with(|| "".into());
            }
        }
        let texts: Option<Vec<&str>> = self.content.iter().map(plain_text).collect();
        let content = match texts.map(|texts| texts.concat()) {
            Some(text) if text.trim().is_empty() => Value::Null,
            Some(text) => text.into(),
            None => self.content.into(),
        };
        if content.is_null() && self.calls.is_empty() && self.fields.is_empty() {
            return None;
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        message.insert("content".to_owned(), content);
        message.extend(self.fields);
        if !self.calls.is_empty() {
            message.insert("tool_calls".to_owned(), self.calls.into());
        }
        Some(message.into())
    }
}

fn object(raw: &RawValue) -> Option<Map<String, Value>> {
    serde_json::from_str(raw.get()).ok()
}

/// The text of a part that is nothing else.
fn plain_text(part: &Value) -> Option<&str> {
    let part = part.as_object().filter(|part| part.len() == 2)?;
    part.get("type").filter(|kind| *kind == "text")?;
    part.get("text")?.as_str()
}

/// Turns arguments that are no JSON object into one that carries them.
fn tidy(arguments: &mut Value) {
    let Value::String(text) = arguments else {
        return;
    };
    if text.trim().is_empty() {
        *arguments = "{}".into();
    } else if serde_json::from_str::<Map<String, Value>>(text).is_err() {
        *arguments = json!({"unreadable": text}).to_string().into();
    }
}
