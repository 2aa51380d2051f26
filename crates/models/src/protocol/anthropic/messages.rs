//! Writes the `messages` of a request: roles alternate, and every call has its result.

use serde_json::{Value, json};
use toolwright_chat::{Item, ItemKind, Message, ModelRequest, Step};
use toolwright_core::ToolResult;
use toolwright_core::wire::ToolPlan;

use super::code_execution::{DetachedCalls, is_container};
use super::{code_execution, content};
use crate::protocol::anthropic::NAME;
use crate::protocol::call_identifiers::{UniqueCallIds, valid_chars, valid_tool_name};
use crate::protocol::json::{JsonObject, arguments_object, object};
use crate::protocol::raw_fields;
use crate::protocol::results::{results_of_step, take_result};
use crate::protocol::search_results::SearchResults;

/// Writes the history; `requires_signature` leaves out reasoning without a signature.
pub(super) fn messages(
    request: &ModelRequest,
    tools: &ToolPlan,
    requires_signature: bool,
) -> Vec<Value> {
    let history = &request.messages;
    let mut writer = MessageWriter {
        tools,
        searches: SearchResults::new(request, tools),
        requires_signature,
        ids: UniqueCallIds::default(),
        messages: Vec::new(),
    };
    for (index, message) in history.iter().enumerate() {
        match message {
            Message::User(content) => writer.push_blocks(USER, content::content_blocks(content)),
            Message::Assistant(content) => {
                writer.push_blocks(ASSISTANT, content::text_blocks(content))
            }
            Message::Step(step) => {
                let detached = code_execution::programs_ended(history, index);
                let detached = detached.then(|| DetachedCalls::new(step));
                writer.push_step(step, results_of_step(history, index), detached.as_ref());
            }
            // Results are written with their calls. The API rejects others, and text would read as the user's.
            _ => {}
        }
    }
    let messages = writer.messages.into_iter();
    messages.map(|(role, content)| json!({"role": role, "content": content})).collect()
}

/// The API documents no limit; no vendor's id is as long.
const MAX_ID_BYTES: usize = 128;

const USER: &str = "user";
const ASSISTANT: &str = "assistant";

struct MessageWriter<'a> {
    tools: &'a ToolPlan,
    searches: SearchResults<'a>,
    requires_signature: bool,
    /// The ids of all calls so far: the API rejects duplicates.
    ids: UniqueCallIds,
    messages: Vec<(&'static str, Vec<Value>)>,
}

impl MessageWriter<'_> {
    /// Adds blocks to the last message if it has the same role, else to a new one.
    fn push_blocks(&mut self, role: &'static str, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => self.messages.push((role, blocks)),
        }
    }

    /// Writes a step, and directly after it the results of its calls.
    fn push_step(
        &mut self,
        step: &Step,
        mut results: Vec<&ToolResult>,
        detached: Option<&DetachedCalls>,
    ) {
        let mut blocks = Vec::with_capacity(step.items.len());
        let mut result_blocks = Vec::new();
        for item in &step.items {
            let Some(mut block) = self.item_block(item) else {
                continue;
            };
            if detached.is_some_and(|detached| !detached.detach(&mut block)) {
                continue;
            }
            if let ItemKind::Call { call } = &item.kind {
                let id = self.ids.unique_id(&valid_chars(call.id.as_str()), MAX_ID_BYTES);
                let result = take_result(&mut results, &call.id);
                let search = result.filter(|_| self.searches.is_search(call));
                let found = search.map(|result| self.searches.found(result)).unwrap_or_default();
                result_blocks.push(match found.is_empty() {
                    true => content::tool_result_block(&id, result),
                    false => content::tool_references_block(&id, &found),
                });
                block.insert("id".to_owned(), id.into());
                let name = block.get("name").and_then(Value::as_str);
                let name = valid_tool_name(name.unwrap_or_default());
                block.insert("name".to_owned(), name.into());
            }
            blocks.push(Value::Object(block));
        }
        self.push_blocks(ASSISTANT, blocks);
        self.push_blocks(USER, result_blocks);
    }

    /// The block of an item: as the API sent it, or made from the item's kind.
    fn item_block(&self, item: &Item) -> Option<JsonObject> {
        if let Some(raw) = raw_fields(NAME, item) {
            return Some(raw).filter(|block| self.is_accepted(block) && !is_container(block));
        }
        match &item.kind {
            ItemKind::Text { text } | ItemKind::Refusal { text } if !text.trim().is_empty() => {
                Some(object([("type", "text".into()), ("text", text.as_str().into())]))
            }
            ItemKind::Call { call } => {
                let call = self.tools.lower(call.clone());
                Some(object([
                    ("type", "tool_use".into()),
                    ("id", call.id.as_str().into()),
                    ("name", call.name.as_str().into()),
                    ("input", arguments_object(call.arguments.as_str())),
                ]))
            }
            // Reasoning and hosted calls of another protocol are left out.
            _ => None,
        }
    }

    /// Returns false for blank texts and reasoning without a signature, which the API rejects.
    fn is_accepted(&self, block: &JsonObject) -> bool {
        let text = |field| block.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text" => !text("text").trim().is_empty(),
            "thinking" => !self.requires_signature || !text("signature").is_empty(),
            _ => true,
        }
    }
}
