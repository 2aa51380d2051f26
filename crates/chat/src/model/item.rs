//! The items of a model's step: each typed, with the provider's JSON beside it.
//!
//! All code reads the typed view. The JSON is for the protocol that it came from: reasoning, signatures and items of unknown
//! kinds are sent back to the vendor verbatim.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright_core::{CallId, ToolCall, ToolName};

use crate::model::ModelId;
use crate::model::usage::{StopReason, Usage};

/// One answer of a model: text, calls of tools, or both.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// The model that answered.
    pub model: ModelId,
    /// The items of the answer, in order.
    pub items: Vec<Item>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// The tokens of the step.
    pub usage: Usage,
}

impl Step {
    /// Creates a step.
    pub fn new(model: ModelId, items: Vec<Item>, stop: StopReason, usage: Usage) -> Self {
        Self { model, items, stop, usage }
    }

    /// Returns the text of the answer.
    pub fn text(&self) -> String {
        let texts = self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the calls of our tools, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Call { call } => Some(call),
            _ => None,
        })
    }

    /// Returns the step as the model sent it: calls that name their tool in the arguments of another call are that other call.
    pub(crate) fn as_sent(self: &Arc<Self>) -> Arc<Self> {
        if self.items.iter().all(|item| item.sent_as.is_none()) {
            return Arc::clone(self);
        }
        let mut sent = Self::clone(self);
        for item in &mut sent.items {
            if let (ItemKind::Call { call }, Some(sent_as)) = (&mut item.kind, item.sent_as.take())
                // In a journal from elsewhere they may be of different calls.
                && call.id == sent_as.id
            {
                *call = sent_as;
            }
        }
        Arc::new(sent)
    }

    /// Returns the call in which the answer was cut off before its arguments.
    ///
    /// Elsewhere, empty arguments mean `{}`. Arguments that are cut off later are not JSON, and so are rejected anyway.
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
    /// The typed view of the item.
    #[serde(flatten)]
    pub kind: ItemKind,
    /// The provider's JSON, replayed verbatim in the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<ProviderJson>,
    /// The call as the model sent it, if it named the tool in the arguments of another call: requests to a model have this one,
    /// and all code reads the call of the named tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_as: Option<ToolCall>,
}

/// The JSON of an item as the provider sent it, or assembled field by field from its stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProviderJson {
    /// The protocol of the JSON, as `anthropic`.
    pub protocol: String,
    /// The JSON text, unchanged.
    pub json: Box<RawValue>,
}

/// The typed view of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemKind {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
    },
    /// The model's reasoning, as far as the vendor shows it.
    Reasoning {
        /// The text, perhaps a summary, perhaps empty.
        text: String,
    },
    /// The model refuses to answer.
    Refusal {
        /// The explanation of the model.
        text: String,
    },
    /// A call of one of our tools.
    Call {
        /// The call, with arguments in the form of the tool's own schema.
        call: ToolCall,
    },
    /// A call of a tool that the vendor ran.
    #[serde(rename = "hosted")]
    HostedCall {
        /// The tool, as `web_search`.
        tool: String,
        /// Its input, as far as the vendor shows it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        input: String,
        /// Its output, as far as the vendor shows it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
        /// True if the tool failed.
        failed: bool,
    },
    /// A call that the vendor runs once it is approved.
    HostedApproval {
        /// The id of the approval request.
        id: String,
        /// The name of the MCP server.
        server: String,
        /// The name of the tool on that server.
        tool: String,
        /// Its arguments as JSON text.
        arguments: String,
    },
    /// An item of a kind that this version does not know.
    Other,
}

impl ItemKind {
    /// Returns the id and the tool of an item that is a call; a hosted tool is named `SERVER.TOOL`.
    pub fn call_id_and_name(&self) -> Option<(CallId, ToolName)> {
        match self {
            Self::Call { call } => Some((call.id.clone(), call.name.clone())),
            Self::HostedApproval { id, server, tool, .. } => {
                Some((id.as_str().into(), format!("{server}.{tool}").into()))
            }
            _ => None,
        }
    }
}

impl Item {
    /// Creates an item without JSON of a provider, as scripted models do.
    pub fn new(kind: ItemKind) -> Self {
        Self { kind, raw: None, sent_as: None }
    }

    /// Creates a text item.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(ItemKind::Text { text: text.into() })
    }

    /// Creates a call item.
    pub fn call(call: ToolCall) -> Self {
        Self::new(ItemKind::Call { call })
    }

    /// Adds the provider's JSON.
    #[must_use]
    pub fn with_raw(mut self, protocol: &str, json: Box<RawValue>) -> Self {
        self.raw = Some(ProviderJson { protocol: protocol.to_owned(), json });
        self
    }

    /// Returns the provider's JSON; `None` if the item came through another protocol.
    pub fn raw_json(&self, protocol: &str) -> Option<&RawValue> {
        let raw = self.raw.as_ref().filter(|raw| raw.protocol == protocol)?;
        Some(&raw.json)
    }
}
