//! A conversation in, what it has made known out: arguments that were sent, results that came back.

use serde_json::Value;
use toolwright_chat::Message;
use toolwright_core::{Content, ToolCall, ToolResult};

use crate::meaning::Meaning;
use crate::shape::Param;
use crate::words::{READ, head, parts};

/// How many messages back are remembered, and how many values of them.
const MESSAGES: usize = 40;
const VALUES: usize = 200;

/// How many bytes of a structured result are read.
const STRUCTURED: usize = 64 * 1024;

/// What a conversation has made known, the newest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Arguments of earlier calls.
    arguments: Vec<Fact>,
    /// Fields of structured results.
    fields: Vec<Fact>,
    /// Texts of results, the good ones only.
    pub(crate) texts: Vec<String>,
    /// The calls of the newest turn that made any, in order.
    pub(crate) last: Vec<ToolCall>,
}

#[derive(Clone, Debug)]
struct Fact {
    words: Vec<String>,
    value: Value,
}

impl Known {
    /// Reads a conversation.
    pub(crate) fn of(messages: &[Message]) -> Self {
        let mut known = Self::default();
        let from = messages.len().saturating_sub(MESSAGES);
        let mut fresh = true;
        for message in messages.iter().skip(from) {
            match message {
                Message::User(_) => fresh = true,
                Message::Step(step) => {
                    for call in step.calls() {
                        if std::mem::take(&mut fresh) {
                            known.last.clear();
                        }
                        known.last.push(call.clone());
                        known.learn_arguments(call.arguments.as_str());
                    }
                }
                Message::Results(results) => results.iter().for_each(|it| known.learn(it)),
                _ => {}
            }
        }
        for newest_last in [&mut known.arguments, &mut known.fields] {
            newest_last.reverse();
            newest_last.truncate(VALUES);
        }
        known.texts.reverse();
        known
    }

    fn learn_arguments(&mut self, arguments: &str) {
        if arguments.len() <= STRUCTURED
            && let Ok(Value::Object(fields)) = serde_json::from_str(arguments)
        {
            self.arguments.extend(facts(fields));
        }
    }

    fn learn(&mut self, result: &ToolResult) {
        if result.is_error() {
            return;
        }
        let text = result.text();
        self.texts.push(head(&text, READ).to_owned());
        let structured = result.structured.as_ref().map_or(&*text, |it| it.as_str());
        if structured.len() <= STRUCTURED
            && let Ok(value) = serde_json::from_str(structured)
        {
            flatten(value, &mut self.fields, 3);
        }
    }

    /// Adds the arguments of a call that is about to be made.
    pub(crate) fn add(&mut self, arguments: &serde_json::Map<String, Value>) {
        let new: Vec<Fact> = facts(arguments.clone()).collect();
        self.arguments.splice(0..0, new);
    }

    /// Returns an argument that was sent for the same thing.
    pub(crate) fn argument(&self, param: &Param) -> Option<&Value> {
        nearest(&self.arguments, param)
    }

    /// Returns a field of a result that has the parameter's name.
    pub(crate) fn field(&self, param: &Param) -> Option<&Value> {
        nearest(&self.fields, param)
    }
}

fn facts(fields: serde_json::Map<String, Value>) -> impl Iterator<Item = Fact> {
    fields.into_iter().take(VALUES).map(|(name, value)| Fact {
        words: parts(&name),
        value,
    })
}

/// Lists the fields of a value, those of the first elements of its lists too.
fn flatten(value: Value, into: &mut Vec<Fact>, depth: usize) {
    if into.len() >= 4 * VALUES {
        return;
    }
    match value {
        Value::Object(fields) => {
            // What is read last counts as newest: the first element of a list is what people mean.
            for (name, value) in fields.into_iter().take(VALUES) {
                if depth > 0 && (value.is_object() || value.is_array()) {
                    flatten(value.clone(), into, depth - 1);
                }
                let words = parts(&name);
                into.push(Fact { words, value });
            }
        }
        Value::Array(list) if depth > 0 => {
            for value in list.into_iter().take(8).rev() {
                flatten(value, into, depth - 1);
            }
        }
        _ => {}
    }
}

/// The same name first; else one that shares a telling word; else one of the same meaning.
fn nearest<'f>(facts: &'f [Fact], param: &Param) -> Option<&'f Value> {
    let telling = |stem: &&String| {
        !matches!(
            stem.as_str(),
            "id" | "nam" | "number" | "no" | "cod" | "valu"
        )
    };
    let shares = |fact: &&Fact| {
        let mut telling = param.words.iter().filter(telling);
        telling.any(|stem| fact.words.contains(stem))
    };
    // What a tool calls `id` is the id of what it is about.
    let is_id = |fact: &&Fact| param.meaning == Meaning::Id && fact.words == ["id"];
    let same_meaning = |fact: &&Fact| {
        let special = !matches!(param.meaning, Meaning::Free | Meaning::Id | Meaning::Unit);
        special && Meaning::of_name(&fact.words) == param.meaning
    };
    let fits =
        |fact: &&Fact| fact.value.is_string() || fact.value.is_number() || fact.value.is_boolean();
    let usable = || facts.iter().filter(fits);
    let found = usable()
        .find(|fact| fact.words == param.words)
        .or_else(|| usable().find(shares))
        .or_else(|| usable().find(is_id))
        .or_else(|| usable().find(same_meaning));
    found.map(|fact| &fact.value)
}

/// Returns the text of a message, as far as it is read.
pub(crate) fn text_of(contents: &[Content]) -> String {
    let mut text = String::new();
    for content in contents {
        if let Content::Text { text: part } = content
            && text.len() < READ
        {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(head(part, READ - text.len()));
        }
    }
    text
}
