//! What has been said in, the `messages` of a request out: roles take turns, and every call has its result.

use serde_json::{Map, Value, json};
use toolwright_chat::{Item, ItemKind, Message, Step};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{ToolCall, ToolResult};

use super::block::input_object;
use super::content;
use crate::protocol::Protocol as _;
use crate::protocol::anthropic::Anthropic;
use crate::protocol::call_identifiers::{self, UniqueCallIds};

/// Writes messages; `signed` says that thoughts without a signature are refused.
pub(super) fn messages(said: &[Message], tools: &ToolPlan, signed: bool) -> Vec<Value> {
    let mut talk = MessageWriter {
        tools,
        requires_signature: signed,
        ids: UniqueCallIds::default(),
        messages: Vec::new(),
    };
    for (place, message) in said.iter().enumerate() {
        match message {
            Message::User(content) => talk.push_blocks(USER, content::content_blocks(content)),
            Message::Assistant(content) => {
                talk.push_blocks(ASSISTANT, content::text_blocks(content))
            }
            Message::Step(step) => {
                let later = said.get(place.saturating_add(1)..).unwrap_or_default();
                talk.push_step(step, later);
            }
            // Written with their calls. One whose call is gone would be refused, and as text it would speak for the person.
            Message::Results(_) => {}
            _ => {}
        }
    }
    let turns = talk.messages.into_iter();
    turns
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

/// Nothing is said about a limit; no id that a vendor gives is as long.
const MAX_ID_BYTES: usize = 128;

const USER: &str = "user";
const ASSISTANT: &str = "assistant";

struct MessageWriter<'a> {
    tools: &'a ToolPlan,
    requires_signature: bool,
    /// The ids of all calls so far: the API refuses to see one twice.
    ids: UniqueCallIds,
    messages: Vec<(&'static str, Vec<Value>)>,
}

impl MessageWriter<'_> {
    /// Goes on in the same turn if the role is the same.
    fn push_blocks(&mut self, role: &'static str, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => self.messages.push((role, blocks)),
        }
    }

    /// A step, and right after it the results of its calls, wherever among the later messages they stand.
    fn push_step(&mut self, step: &Step, later: &[Message]) {
        let mut results: Vec<&ToolResult> = later
            .iter()
            .take_while(|message| !matches!(message, Message::Step(_)))
            .filter_map(|message| match message {
                Message::Results(results) => Some(results),
                _ => None,
            })
            .flatten()
            .collect();
        let mut blocks = Vec::with_capacity(step.items.len());
        let mut answers = Vec::new();
        for item in &step.items {
            let Some(mut block) = self.item_block(item) else {
                continue;
            };
            if let ItemKind::Call { call } = &item.kind {
                let id = self.unique_call_id(call.id.as_str());
                let found = results.iter().position(|result| result.call_id == call.id);
                let result = found.map(|place| results.remove(place));
                answers.push(content::tool_result_block(&id, result));
                block.insert("id".to_owned(), id.into());
                let name = block.get("name").and_then(Value::as_str);
                let name = call_identifiers::valid_tool_name(name.unwrap_or_default()).into_owned();
                block.insert("name".to_owned(), name.into());
            }
            blocks.push(Value::Object(block));
        }
        self.push_blocks(ASSISTANT, blocks);
        self.push_blocks(USER, answers);
    }

    /// An item as this protocol said it, or from what it means.
    fn item_block(&self, item: &Item) -> Option<Map<String, Value>> {
        let raw = item.raw_json(Anthropic::NAME);
        if let Some(raw) = raw.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            return Some(raw).filter(|block| self.is_accepted(block));
        }
        let block = match &item.kind {
            ItemKind::Text { text } | ItemKind::Refusal { text } => content::text_block(text)?,
            ItemKind::Call { call } => self.tool_use_block(call),
            // What another protocol's model thought or looked up means nothing to this one.
            _ => return None,
        };
        match block {
            Value::Object(block) => Some(block),
            _ => None,
        }
    }

    fn tool_use_block(&self, call: &ToolCall) -> Value {
        let call = self.tools.lower(call.clone());
        let input = input_object(call.arguments.as_str());
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    }

    /// Models write blank texts and others' thoughts bear no signature, but the API takes neither back.
    fn is_accepted(&self, block: &Map<String, Value>) -> bool {
        let text = |field| block.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text" => !text("text").trim().is_empty(),
            "thinking" => !self.requires_signature || !text("signature").is_empty(),
            _ => true,
        }
    }

    /// An id that the API takes, and that no earlier call has.
    fn unique_call_id(&mut self, id: &str) -> String {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let letters = id.chars();
        let plain: String = letters
            .map(|letter| if is_plain(letter) { letter } else { '_' })
            .collect();
        self.ids.unique_id(&plain, MAX_ID_BYTES)
    }
}
