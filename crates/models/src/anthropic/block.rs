//! One content block: put together from its deltas, then an item with everything raw beside it.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolwright_chat::{Item, ItemKind, ModelEvent};
use toolwright_core::wire::Plan;
use toolwright_core::{CallId, ToolCall};

use super::wire::{Delta, Fields, text};
use crate::anthropic::Anthropic;
use crate::protocol::Protocol as _;

/// A block that is being streamed.
pub(super) struct Block {
    kind: Kind,
    fields: Fields,
    /// The pieces of its input.
    json: String,
    /// Which of the answer's calls it is.
    place: usize,
}

/// What becomes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    Redacted,
    Call,
    HostedCall,
    HostedResult,
    Other,
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "text" => Self::Text,
            "thinking" => Self::Thinking,
            "redacted_thinking" => Self::Redacted,
            "tool_use" => Self::Call,
            "server_tool_use" | "mcp_tool_use" => Self::HostedCall,
            name if name.ends_with("_tool_result") => Self::HostedResult,
            _ => Self::Other,
        }
    }
}

impl Block {
    /// Takes a block as it begins; `place` is the number of calls before it.
    pub(super) fn new(mut fields: Fields, place: usize) -> Self {
        let kind = Kind::of(text(&fields, "type"));
        if kind == Kind::Call && text(&fields, "id").is_empty() {
            // Its result could not be told from others.
            let id = ToolCall::new("", "").id;
            fields.insert("id".to_owned(), id.as_str().into());
        }
        Self {
            kind,
            fields,
            json: String::new(),
            place,
        }
    }

    /// The block that a delta belongs to which has none, if it can be guessed.
    pub(super) fn implied(delta: &Delta<'_>, place: usize) -> Option<Self> {
        let name = match delta.kind.as_str() {
            "text_delta" => "text",
            "thinking_delta" => "thinking",
            _ => return None,
        };
        let mut fields = Fields::new();
        fields.insert("type".to_owned(), name.into());
        Some(Self::new(fields, place))
    }

    pub(super) fn is_call(&self) -> bool {
        self.kind == Kind::Call
    }

    /// What there is to show at the beginning.
    pub(super) fn begun(&self, tools: &Plan) -> Vec<ModelEvent> {
        let field = |name| text(&self.fields, name).to_owned();
        let shown = match self.kind {
            Kind::Text => ModelEvent::Text(field("text")),
            Kind::Thinking => ModelEvent::Reasoning(field("thinking")),
            Kind::Call => {
                let wire = field("name");
                let tool = tools.tools().iter().find(|tool| tool.wire == wire);
                let started = ModelEvent::CallBegins {
                    index: self.place,
                    id: field("id").into(),
                    name: tool.map_or(wire, |tool| tool.name.clone()).into(),
                };
                let mut events = vec![started];
                let given = self.given();
                // Usually an empty object stands here, and the arguments follow in pieces.
                if given != "{}" {
                    events.extend(self.piece(given));
                }
                return events;
            }
            _ => return Vec::new(),
        };
        visible(shown).into_iter().collect()
    }

    /// Adds a delta, and says what there is to show of it.
    pub(super) fn add(&mut self, delta: Delta<'_>) -> Option<ModelEvent> {
        match (self.kind, delta.kind.as_str()) {
            (Kind::Text, "text_delta") => {
                append(&mut self.fields, "text", &delta.text);
                visible(ModelEvent::Text(delta.text))
            }
            (Kind::Text, "citations_delta") => {
                let citation = delta.fields().remove("citation")?;
                match self.fields.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation),
                    _ => {
                        let citations = vec![citation];
                        self.fields.insert("citations".to_owned(), citations.into());
                    }
                }
                None
            }
            (Kind::Thinking, "thinking_delta") => {
                append(&mut self.fields, "thinking", &delta.thinking);
                visible(ModelEvent::Reasoning(delta.thinking))
            }
            (Kind::Thinking, "signature_delta") => {
                let signature = delta.fields().remove("signature")?;
                self.fields.insert("signature".to_owned(), signature);
                None
            }
            (Kind::Call | Kind::HostedCall | Kind::Other, "input_json_delta") => {
                self.json.push_str(&delta.partial_json);
                self.piece(delta.partial_json)
            }
            (Kind::Other, _) => {
                merge(&mut self.fields, &delta.fields());
                None
            }
            _ => None,
        }
    }

    /// The whole block; `hosted` are the names of the vendor's tools by the ids of their calls.
    pub(super) fn whole(mut self, tools: &Plan, hosted: &mut HashMap<String, String>) -> Item {
        let arguments = if self.json.is_empty() {
            self.given()
        } else {
            std::mem::take(&mut self.json)
        };
        let has_input = matches!(self.kind, Kind::Call | Kind::HostedCall)
            || (self.kind == Kind::Other && !arguments.is_empty());
        if has_input {
            self.fields.insert("input".to_owned(), input(&arguments));
        }
        let field = |name| text(&self.fields, name).to_owned();
        let kind = match self.kind {
            Kind::Text => ItemKind::Text {
                text: field("text"),
            },
            Kind::Thinking => ItemKind::Reasoning {
                text: field("thinking"),
            },
            Kind::Redacted => ItemKind::Reasoning {
                text: String::new(),
            },
            Kind::Call => {
                let id: CallId = field("id").into();
                let call = ToolCall::new(field("name"), arguments).with_id(id);
                ItemKind::Call {
                    call: tools.lift(call),
                }
            }
            Kind::HostedCall => {
                let tool = match text(&self.fields, "server_name") {
                    "" => field("name"),
                    server => format!("{server}/{}", text(&self.fields, "name")),
                };
                hosted.insert(field("id"), tool.clone());
                ItemKind::HostedCall {
                    tool,
                    input: arguments,
                    output: String::new(),
                    failed: false,
                }
            }
            Kind::HostedResult => self.found(hosted),
            Kind::Other => ItemKind::Other,
        };
        let item = Item::new(kind);
        match serde_json::value::to_raw_value(&self.fields) {
            Ok(raw) => item.with_raw(Anthropic::NAME, raw),
            Err(_) => item,
        }
    }

    fn found(&self, hosted: &mut HashMap<String, String>) -> ItemKind {
        let kind = text(&self.fields, "type");
        // A call has one result: whoever sends more does not get its name again and again.
        let tool = hosted.remove(text(&self.fields, "tool_use_id"));
        let content = self.fields.get("content").unwrap_or(&Value::Null);
        let is_error = self.fields.get("is_error").and_then(Value::as_bool);
        ItemKind::HostedCall {
            tool: tool.unwrap_or_else(|| kind.trim_end_matches("_tool_result").to_owned()),
            input: String::new(),
            output: shown(content),
            failed: is_error.unwrap_or(false) || content.get("error_code").is_some(),
        }
    }

    /// The input that stood in the block from the beginning, as text.
    fn given(&self) -> String {
        match self.fields.get("input") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }

    fn piece(&self, delta: String) -> Option<ModelEvent> {
        let shows = self.is_call() && !delta.is_empty();
        shows.then_some(ModelEvent::CallDelta {
            index: self.place,
            delta,
        })
    }
}

/// Arguments as the object that the API wants back, whatever the model made of them.
pub(super) fn input(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => fields.into(),
        // The wrapping that the vendor recommends, so that the model sees what it wrote.
        _ => json!({"INVALID_JSON": arguments}),
    }
}

/// What a hosted tool found, as far as people can read it.
fn shown(content: &Value) -> String {
    let field = |name: &str| content.get(name).and_then(Value::as_str);
    let lines: Vec<String> = match content {
        Value::String(text) => return text.clone(),
        Value::Array(items) => items.iter().map(shown).collect(),
        _ => ["error_code", "text", "title", "url", "stdout", "stderr"]
            .into_iter()
            .filter_map(|name| field(name).map(str::to_owned))
            .collect(),
    };
    let separator = if content.is_array() { "\n" } else { " " };
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    lines.join(separator)
}

fn visible(event: ModelEvent) -> Option<ModelEvent> {
    match &event {
        ModelEvent::Text(text) | ModelEvent::Reasoning(text) if text.is_empty() => None,
        _ => Some(event),
    }
}

fn append(fields: &mut Fields, name: &str, piece: &str) {
    match fields.get_mut(name) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => {
            fields.insert(name.to_owned(), piece.into());
        }
    }
}

/// Adds a delta of which only the form is known: texts and lists go on, everything else is replaced.
fn merge(fields: &mut Fields, delta: &Fields) {
    for (name, value) in delta.iter().filter(|(name, _)| *name != "type") {
        match (fields.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(piece)) => text.push_str(piece),
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
            _ => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
}
