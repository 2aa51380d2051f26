//! Values of the conversation: arguments of earlier calls, and their results.

use serde_json::{Map, Value};
use toolwright_chat::Message;
use toolwright_core::{ToolCall, ToolResult};
use toolwright_search::words;

use crate::params::{Meaning, Param, meaning_of_name};
use crate::text::{MAX_BYTES, head};

// Limits: how many messages back are read, and how much of them.
const MAX_MESSAGES: usize = 40;
const MAX_VALUES: usize = 200;
const MAX_JSON: usize = 64 * 1024;
const MAX_ITEMS: usize = 8;
const MAX_DEPTH: usize = 3;

/// The values of a conversation, the newest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) arguments: Vec<NamedValue>,
    /// The fields of structured results.
    pub(crate) fields: Vec<NamedValue>,
    /// The texts of successful results.
    pub(crate) texts: Vec<String>,
    /// The calls of the latest turn that made any, in order.
    pub(crate) latest_calls: Vec<ToolCall>,
}

/// The words of a name, and its value.
pub(crate) type NamedValue = (Vec<String>, Value);

impl Memory {
    /// Reads the latest messages of a conversation.
    pub(crate) fn new(messages: &[Message]) -> Self {
        let mut memory = Self::default();
        let mut is_new_turn = true;
        let skipped = messages.len().saturating_sub(MAX_MESSAGES);
        for message in messages.iter().skip(skipped) {
            match message {
                Message::User(_) => is_new_turn = true,
                Message::Step(step) => {
                    for call in step.calls() {
                        if std::mem::take(&mut is_new_turn) {
                            memory.latest_calls.clear();
                        }
                        memory.latest_calls.push(call.clone());
                        if let Some(Value::Object(arguments)) = parse(call.arguments.as_str()) {
                            memory.add(&arguments);
                        }
                    }
                }
                Message::Results(results) => {
                    let results = results.iter().filter(|result| !result.is_error());
                    results.for_each(|result| memory.add_result(result));
                }
                _ => {}
            }
        }
        memory.texts.reverse();
        memory.fields.reverse();
        memory.fields.truncate(MAX_VALUES);
        memory
    }

    /// Adds the arguments of a call as the newest.
    pub(crate) fn add(&mut self, arguments: &Map<String, Value>) {
        let new = arguments.iter().take(MAX_VALUES);
        let new = new.map(|(name, value)| (words(name), value.clone()));
        self.arguments.splice(0..0, new.collect::<Vec<_>>());
        self.arguments.truncate(MAX_VALUES);
    }

    fn add_result(&mut self, result: &ToolResult) {
        let text = result.text();
        self.texts.push(head(&text, MAX_BYTES).to_owned());
        let structured = result.structured.as_ref().map_or(&*text, |it| it.as_str());
        if let Some(value) = parse(structured) {
            collect_fields(value, &mut self.fields, MAX_DEPTH);
        }
    }
}

fn parse(json: &str) -> Option<Value> {
    serde_json::from_str(json.get(..json.len().min(MAX_JSON))?).ok()
}

/// Collects the fields of a value and of what it contains, the most prominent last.
fn collect_fields(value: Value, fields: &mut Vec<NamedValue>, depth: usize) {
    if fields.len() >= 4 * MAX_VALUES {
        return;
    }
    match value {
        Value::Object(object) => {
            for (name, value) in object.into_iter().take(MAX_VALUES) {
                if depth > 0 && (value.is_object() || value.is_array()) {
                    collect_fields(value.clone(), fields, depth - 1);
                }
                fields.push((words(&name), value));
            }
        }
        Value::Array(list) if depth > 0 => {
            for value in list.into_iter().take(MAX_ITEMS).rev() {
                collect_fields(value, fields, depth - 1);
            }
        }
        _ => {}
    }
}

/// A condition on the words of a name.
type Criterion<'c> = &'c dyn Fn(&[String]) -> bool;

/// Returns the value of the same name, else of a name that shares a specific word, else of the same meaning.
pub(crate) fn nearest<'v>(values: &'v [NamedValue], param: &Param) -> Option<&'v Value> {
    let special = !matches!(param.meaning, Meaning::Free | Meaning::Id | Meaning::Unit);
    let criteria: [Criterion<'_>; 4] = [
        &|words| words == param.words,
        &|words| param.specific_words().any(|word| words.contains(word)),
        // A field `id` is the id of whatever the result is about.
        &|words| param.meaning == Meaning::Id && words == ["id"],
        &|words| special && meaning_of_name(words) == Some(param.meaning),
    ];
    let is_scalar = |value: &Value| !value.is_null() && !value.is_array() && !value.is_object();
    let scalars = values.iter().filter(|(_, value)| is_scalar(value));
    let (_, value) =
        criteria.iter().find_map(|fits| scalars.clone().find(|(words, _)| fits(words)))?;
    Some(value)
}
