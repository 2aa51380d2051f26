//! Tools that a program of the model calls: the program is run by the vendor, in a container, and waits there for results.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolwright_chat::{Message, ModelRequest, Step};

use super::NAME;
use super::wire::text_field;
use crate::protocol::json::{JsonObject, object};
use crate::protocol::raw_fields;

/// The field of a definition with those who may call the tool.
const CALLERS: &str = "allowed_callers";

/// How the versions of the hosted tool begin, which are also the names of the callers.
const VERSION_PREFIX: &str = "code_execution_";

/// The type of the item that has the container of a step. It is ours: the API has no such block.
const CONTAINER: &str = "container";

/// Returns the definition of the hosted tool that runs programs, in the newest version that may call one of these tools.
pub(super) fn hosted_tool<'a>(definitions: impl IntoIterator<Item = &'a Value>) -> Option<Value> {
    let callers =
        definitions.into_iter().filter_map(|definition| definition.get(CALLERS)?.as_array());
    let versions = callers.flatten().filter_map(Value::as_str);
    let newest = versions.filter(|caller| caller.starts_with(VERSION_PREFIX)).max()?;
    Some(json!({"type": newest, "name": "code_execution"}))
}

/// Removes the callers, for a model that does not know them.
pub(super) fn remove_callers(definitions: &mut [Value]) {
    for definition in definitions.iter_mut().filter_map(Value::as_object_mut) {
        definition.shift_remove(CALLERS);
    }
}

/// Returns the fields of the item that keeps the container of a step.
pub(super) fn container_item(id: &str) -> JsonObject {
    object([("type", CONTAINER.into()), ("id", id.into())])
}

/// Returns true for an item that only keeps a container.
pub(super) fn is_container(block: &JsonObject) -> bool {
    text_field(block, "type") == CONTAINER
}

/// Returns the container in which a program waits for the results of the last step.
pub(super) fn waiting_container(request: &ModelRequest) -> Option<String> {
    let newest = request.messages.iter().rev();
    let mut current = newest.take_while(|message| !matches!(message, Message::User(_)));
    let step = current.find_map(|message| match message {
        Message::Step(step) => Some(step),
        _ => None,
    })?;
    let mut blocks = step.items.iter().filter_map(|item| raw_fields::<JsonObject>(NAME, item));
    let container = blocks.find(is_container)?;
    Some(text_field(&container, "id").to_owned())
}

/// Returns true if the turn of the step at `index` ended with its results: a message of the user follows them, and no step. The API
/// rejects such a message after the results of a program's calls.
pub(super) fn programs_ended(history: &[Message], index: usize) -> bool {
    let mut later = history.iter().skip(index.saturating_add(1));
    let next = later.find(|message| !matches!(message, Message::Results(_)));
    next.is_some_and(|next| !matches!(next, Message::Step(_)))
}

/// The calls of a step whose programs have ended without a result: they are written as calls of the model.
pub(super) struct DetachedCalls {
    /// The ids of the hosted calls that have a result.
    answered: HashSet<String>,
}

impl DetachedCalls {
    pub(super) fn new(step: &Step) -> Self {
        let blocks = step.items.iter().filter_map(|item| raw_fields::<JsonObject>(NAME, item));
        let answered = blocks.map(|block| text_field(&block, "tool_use_id").to_owned());
        Self { answered: answered.collect() }
    }

    /// Removes the caller of a call; returns false for the program itself, if it has no result.
    pub(super) fn detach(&self, block: &mut JsonObject) -> bool {
        let caller = block.get("caller").and_then(|caller| caller.get("type")?.as_str());
        if caller.is_some_and(|caller| caller.starts_with(VERSION_PREFIX)) {
            block.shift_remove("caller");
        }
        text_field(block, "type") != "server_tool_use"
            || self.answered.contains(text_field(block, "id"))
    }
}
