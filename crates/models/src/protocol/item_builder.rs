//! Builds the items of a response in which calls come complete, as in those of Gemini and Ollama.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use toolwright_chat::{ItemKind, ModelError, ModelEvent};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::item_with_raw;
use crate::limits::{MAX_CALLS, too_many_calls};

/// Joins texts of the same kind, and numbers calls.
pub(crate) struct ItemBuilder {
    protocol: &'static str,
    tools: Arc<ToolPlan>,
    /// The provider's JSON of a text; the flag is true for reasoning.
    text_json: fn(bool, &str) -> Value,
    open_text: Option<OpenText>,
    call_count: usize,
    call_ids: HashSet<String>,
    /// The events that were not taken yet.
    pub(crate) events: Vec<ModelEvent>,
}

/// Text that the next frame may continue.
struct OpenText {
    is_reasoning: bool,
    text: String,
}

impl ItemBuilder {
    pub(crate) fn new(
        protocol: &'static str,
        tools: Arc<ToolPlan>,
        text_json: fn(bool, &str) -> Value,
    ) -> Self {
        Self {
            protocol,
            tools,
            text_json,
            open_text: None,
            call_count: 0,
            call_ids: HashSet::new(),
            events: Vec::new(),
        }
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.call_count > 0
    }

    /// Appends to the open text; a text of the other kind closes it first.
    pub(crate) fn push_text(&mut self, is_reasoning: bool, text: Cow<'_, str>) {
        let open = self.open_text.as_ref();
        if open.is_some_and(|open| open.is_reasoning != is_reasoning) {
            self.close_text();
        }
        if text.is_empty() {
            return;
        }
        let open = self.open_text.get_or_insert(OpenText { is_reasoning, text: String::new() });
        open.text.push_str(&text);
        self.events.push(text_event(is_reasoning, text.into_owned()));
    }

    /// Adds a text that is not joined with others, because of the other fields of its JSON.
    pub(crate) fn push_separate_text(&mut self, is_reasoning: bool, text: String, raw: &RawValue) {
        self.close_text();
        if !text.is_empty() {
            self.events.push(text_event(is_reasoning, text.clone()));
        }
        self.push_item(text_kind(is_reasoning, text), raw);
    }

    /// Emits the open text as an item.
    pub(crate) fn close_text(&mut self) {
        if let Some(OpenText { is_reasoning, text }) = self.open_text.take() {
            let raw = (self.text_json)(is_reasoning, &text);
            let item = item_with_raw(self.protocol, text_kind(is_reasoning, text), &raw);
            self.events.push(ModelEvent::Item(item));
        }
    }

    /// Emits an item after the open text.
    pub(crate) fn push_item(&mut self, kind: ItemKind, raw: &RawValue) {
        self.close_text();
        let item = item_with_raw(self.protocol, kind, raw);
        self.events.push(ModelEvent::Item(item));
    }

    /// Emits a call. Its id is the vendor's if that is unique, else made from `id_prefix` and its index, so that parsing the
    /// same response again gives the same id; without a prefix it is the call's own.
    pub(crate) fn push_call(
        &mut self,
        mut call: ToolCall,
        vendor_id: Option<String>,
        id_prefix: Option<&str>,
        raw: &RawValue,
    ) -> Result<(), ModelError> {
        if self.call_count >= MAX_CALLS {
            return Err(too_many_calls());
        }
        self.close_text();
        let index = self.call_count;
        self.call_count += 1;
        let is_unique = |id: &String| !id.is_empty() && !self.call_ids.contains(id);
        let generated_id = || id_prefix.map(|prefix| format!("{prefix}_{index}"));
        let id = vendor_id.filter(is_unique);
        if let Some(id) = id.or_else(|| generated_id().filter(is_unique)) {
            call = call.with_id(id);
        }
        self.call_ids.insert(call.id.as_str().to_owned());
        let delta = call.arguments.as_str().to_owned();
        let call = self.tools.lift(call);
        self.events.push(ModelEvent::CallBegins {
            index,
            id: call.id.clone(),
            name: call.name.clone(),
        });
        if !delta.is_empty() {
            self.events.push(ModelEvent::CallDelta { index, delta });
        }
        self.push_item(ItemKind::Call { call }, raw);
        Ok(())
    }
}

fn text_event(is_reasoning: bool, text: String) -> ModelEvent {
    match is_reasoning {
        true => ModelEvent::Reasoning(text),
        false => ModelEvent::Text(text),
    }
}

fn text_kind(is_reasoning: bool, text: String) -> ItemKind {
    match is_reasoning {
        true => ItemKind::Reasoning { text },
        false => ItemKind::Text { text },
    }
}
