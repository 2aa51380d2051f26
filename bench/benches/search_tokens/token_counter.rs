//! Counts the tokens of request bodies, and those that repeat the request before.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tiktoken_rs::CoreBPE;

/// The parts of a body that a provider puts in front of the model: the tools, then the messages.
#[derive(Deserialize)]
pub(crate) struct RequestBody<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

/// The size of a request.
#[derive(Clone, Copy)]
pub(crate) struct RequestSize {
    /// The tokens of the whole body.
    pub(crate) tokens: usize,
    /// Those of its tools and first messages that are the same as in the request before: a prompt cache has them.
    pub(crate) repeated: usize,
    pub(crate) tools: usize,
    /// Whether the tools are, byte for byte, those of the request before.
    pub(crate) has_same_tools: bool,
}

/// Counts with the vocabulary `o200k_base`.
pub(crate) struct TokenCounter {
    vocabulary: CoreBPE,
    last_tools: (String, usize),
    last_messages: Vec<String>,
}

impl RequestBody<'_> {
    pub(crate) fn tools_text(&self) -> &str {
        self.tools.map_or("", RawValue::get)
    }

    /// Returns all texts of the newest message.
    pub(crate) fn newest_text(&self) -> String {
        let newest = self.messages.last().unwrap();
        let mut text = String::new();
        collect_strings(&serde_json::from_str(newest.get()).unwrap(), &mut text);
        text
    }
}

impl TokenCounter {
    pub(crate) fn new() -> Self {
        let vocabulary = tiktoken_rs::o200k_base().unwrap();
        Self { vocabulary, last_tools: Default::default(), last_messages: Vec::new() }
    }

    /// Measures a request.
    pub(crate) fn measure(&mut self, text: &str, body: &RequestBody<'_>) -> RequestSize {
        // The tools are counted by themselves, because most requests have those of the request before.
        let tools = body.tools_text();
        let has_same_tools = self.last_tools.0 == tools;
        if !has_same_tools {
            self.last_tools = (tools.to_owned(), self.count(tools));
        }
        let (before, after) = text.split_once(tools).unwrap();
        let tokens = self.count(before) + self.last_tools.1 + self.count(after);
        let messages: Vec<String> = body.messages.iter().map(|it| cache_key(it.get())).collect();
        let mut repeated = 0;
        if has_same_tools {
            let both = messages.iter().zip(&self.last_messages);
            let same = both.take_while(|(new, old)| new == old);
            repeated = self.last_tools.1 + same.map(|(new, _)| self.count(new)).sum::<usize>();
        }
        self.last_messages = messages;
        let count: Vec<&RawValue> = serde_json::from_str(tools).unwrap_or_default();
        RequestSize { tokens, repeated, tools: count.len(), has_same_tools }
    }

    fn count(&self, text: &str) -> usize {
        self.vocabulary.count_ordinary(text)
    }
}

/// Returns a message without `cache_control`, the mark of where the cached prefix ends.
fn cache_key(message: &str) -> String {
    fn remove_marks(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("cache_control");
                fields.values_mut().for_each(remove_marks);
            }
            Value::Array(items) => items.iter_mut().for_each(remove_marks),
            _ => {}
        }
    }
    let mut message = serde_json::from_str(message).unwrap();
    remove_marks(&mut message);
    message.to_string()
}

fn collect_strings(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, text)),
        Value::Object(fields) => fields.values().for_each(|field| collect_strings(field, text)),
        _ => {}
    }
}
