//! What a model's step consists of: each item typed, and raw beside it.
//!
//! The typed view is what everybody reads. The raw JSON is for the protocol that made it: reasoning, signatures and items that
//! nobody here has heard of go back to the vendor as they came.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright_core::{CallId, ToolCall};

use crate::model::ModelId;
use crate::model::usage::{StopReason, Usage};

/// One answer of a model: it says something, calls tools, or both.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// Who answered.
    pub model: ModelId,
    /// What it consists of, in order.
    pub items: Vec<Item>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it took.
    pub usage: Usage,
}

impl Step {
    /// Makes a step of items.
    pub fn new(model: ModelId, items: Vec<Item>, stop: StopReason, usage: Usage) -> Self {
        Self {
            model,
            items,
            stop,
            usage,
        }
    }

    /// The text of the answer.
    pub fn text(&self) -> String {
        let texts = self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls it asks for, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Call { call } => Some(call),
            _ => None,
        })
    }

    /// The call that the answer breaks off in, before it is known what the call is made with.
    ///
    /// No arguments at all are as good as `{}` everywhere else. Arguments that break off later are no JSON.
    pub(crate) fn truncated_call(&self) -> Option<&CallId> {
        if !matches!(self.stop, StopReason::Length | StopReason::Filtered) {
            return None;
        }
        match &self.items.last()?.kind {
            ItemKind::Call { call } if call.arguments.as_str().trim().is_empty() => Some(&call.id),
            _ => None,
        }
    }
}

/// One item of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Item {
    /// What it is.
    #[serde(flatten)]
    pub kind: ItemKind,
    /// What the protocol said, to be said again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<ProviderJson>,
}

/// JSON as a protocol sent it, or assembled field for field from what it streamed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProviderJson {
    /// The protocol that understands it, as `anthropic`.
    pub protocol: String,
    /// The JSON.
    pub json: Box<RawValue>,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemKind {
    /// Text for the person.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought, as far as it shows.
    Reasoning {
        /// The text, perhaps a summary, perhaps empty.
        text: String,
    },
    /// The model refuses.
    Refusal {
        /// Why.
        text: String,
    },
    /// A wish to run a tool of ours.
    Call {
        /// The call, in the tool's own form.
        call: ToolCall,
    },
    /// A tool that the vendor ran.
    #[serde(rename = "hosted")]
    HostedCall {
        /// Which, as `web_search`.
        tool: String,
        /// What it was asked, as far as it shows.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        input: String,
        /// What it found, as far as it shows.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
        /// Whether it failed.
        #[serde(default)]
        failed: bool,
    },
    /// A hosted tool waits for approval.
    HostedApproval {
        /// The id to answer with.
        id: String,
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// Its arguments as JSON text.
        arguments: String,
    },
    /// Something this version has no word for.
    Other,
}

impl Item {
    /// Makes an item without anything raw, as a script does.
    pub fn new(kind: ItemKind) -> Self {
        Self { kind, raw: None }
    }

    /// Makes a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(ItemKind::Text { text: text.into() })
    }

    /// Makes a call.
    pub fn call(call: ToolCall) -> Self {
        Self::new(ItemKind::Call { call })
    }

    /// Keeps what the protocol said.
    #[must_use]
    pub fn with_raw(mut self, protocol: &str, json: Box<RawValue>) -> Self {
        self.raw = Some(ProviderJson {
            protocol: protocol.to_owned(),
            json,
        });
        self
    }

    /// What a protocol said itself; nothing if another one made the item.
    pub fn raw_json(&self, protocol: &str) -> Option<&RawValue> {
        let raw = self.raw.as_ref().filter(|raw| raw.protocol == protocol)?;
        Some(&raw.json)
    }
}
