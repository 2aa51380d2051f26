//! The entries of a journal: everything that happened in a conversation, in order, each once.

use std::collections::HashMap;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use toolwright_core::{ApprovalToken, CallId, Content, Role, ToolCall, ToolName, ToolResult};

use crate::journal::store::owner::PrincipalRecord;
use crate::model::item::Step;

/// One entry of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// Unique in its conversation: an entry whose id is stored already is not appended again.
    pub id: String,
    /// The time, in milliseconds since 1970.
    pub at: u64,
    /// What happened.
    #[serde(rename = "what", serialize_with = "serialize_body")]
    pub body: EntryBody,
    /// The principal that caused a message or an approval; `None` for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<PrincipalRecord>,
    /// The entry of a call made inside another call: the id of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// The first message of a branch: the id of the entry that it follows, or empty if it follows none. Otherwise an entry
    /// follows the one that was appended before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The definitions of the tools that the client of a message runs itself: a process that resumes the turn needs them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_tools: Vec<Value>,
}

impl Entry {
    /// Creates an entry without a principal.
    pub fn new(id: impl Into<String>, at: u64, body: EntryBody) -> Self {
        let (principal, parent, after, client_tools) = (None, None, None, Vec::new());
        Self { id: id.into(), at, body, principal, parent, after, client_tools }
    }

    /// Parses an entry as JSON; one of a kind that this version does not know becomes [`EntryBody::Unknown`].
    ///
    /// # Errors
    ///
    /// When the text is not JSON, or an entry of a known kind is not as it should be.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).or_else(|error| parse_unknown(text).ok_or(error))
    }

    /// Returns true if its kind is not known to this version, which skips it.
    pub fn is_unknown(&self) -> bool {
        matches!(self.body, EntryBody::Unknown(_))
    }

    /// Returns true if it is a user message, or an assistant message that the model did not write.
    pub fn is_message(&self) -> bool {
        matches!(self.body, EntryBody::User { .. } | EntryBody::Assistant { .. })
    }

    /// Removes the signature of a decision: it must not leave the store whose key it was made with.
    #[must_use]
    pub fn without_mac(mut self) -> Self {
        if let EntryBody::ApprovalDecided { mac, .. } = &mut self.body {
            *mac = None;
        }
        self
    }

    /// Sets the principal that caused it.
    #[must_use]
    pub fn with_principal(mut self, principal: Option<PrincipalRecord>) -> Self {
        self.principal = principal;
        self
    }
}

/// Returns true if these entries end with the end of a turn, except for entries of unknown kinds.
pub fn is_turn_over(entries: &[Entry]) -> bool {
    let last = entries.iter().rfind(|entry| !entry.is_unknown());
    last.is_some_and(|last| matches!(last.body, EntryBody::TurnEnded { .. }))
}

/// What happened, by kind of entry.
// Externally tagged: an internal tag makes serde buffer the content, which `RawValue` does not survive.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryBody {
    /// A user message; it starts a turn, unless it follows another message.
    User {
        /// The content of the message.
        content: Vec<Content>,
    },
    /// An assistant message that is not a step, such as a prompt in that role.
    Assistant {
        /// The content of the message.
        content: Vec<Content>,
    },
    /// A model completed a step, or was interrupted in it.
    Step {
        /// The step.
        step: Arc<Step>,
        /// The metadata of each call in it, in order.
        calls: Vec<CallMetadata>,
        /// The cost of the step; `None` if the price was not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// A call made another call: the entry names the first as its parent.
    #[serde(rename = "called")]
    ChildCall {
        /// The new call; its id is that of its parent, a dot and a number.
        call: ToolCall,
        /// Its metadata.
        metadata: CallMetadata,
    },
    /// A call is about to run.
    #[serde(rename = "started")]
    CallStarted {
        /// The id of the call.
        call: CallId,
    },
    /// A call has its result.
    #[serde(rename = "finished")]
    CallFinished {
        /// The result, failed or not.
        result: ToolResult,
    },
    /// A call needs approval.
    #[serde(rename = "asked")]
    ApprovalRequested {
        /// The id of the call.
        call: CallId,
        /// The arguments exactly as the tool will receive them.
        arguments: Value,
        /// The token that the approval response has to carry.
        token: ApprovalToken,
    },
    /// An approval was decided.
    #[serde(rename = "decided")]
    ApprovalDecided {
        /// The id of the call.
        call: CallId,
        /// The decision.
        verdict: ApprovalVerdict,
        /// The signature of the decision, with the store's key: without it, the decision approves nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mac: Option<String>,
    },
    /// The turn is over.
    #[serde(rename = "ended")]
    TurnEnded {
        /// Why the turn ended.
        end: TurnEnd,
    },
    /// An entry of a newer version: its JSON, which is kept unchanged. Nothing is concluded from it.
    ///
    /// Only [`Entry::from_json`] reads it, so that serde does not have to buffer every entry.
    #[serde(skip)]
    Unknown(Box<RawValue>),
}

/// The kinds of entries that this version knows, as they are stored.
const KINDS: [&str; 9] =
    ["user", "assistant", "step", "called", "started", "finished", "asked", "decided", "ended"];

fn serialize_body<S: Serializer>(body: &EntryBody, serializer: S) -> Result<S::Ok, S::Error> {
    match body {
        EntryBody::Unknown(json) => json.serialize(serializer),
        known => known.serialize(serializer),
    }
}

/// Parses an entry whose kind is not in [`KINDS`].
fn parse_unknown(text: &str) -> Option<Entry> {
    #[derive(Deserialize)]
    struct UnknownEntry {
        id: String,
        at: u64,
        what: Box<RawValue>,
        #[serde(default)]
        principal: Option<PrincipalRecord>,
        #[serde(default)]
        parent: Option<CallId>,
        #[serde(default)]
        after: Option<String>,
        #[serde(default)]
        client_tools: Vec<Value>,
    }
    let UnknownEntry { id, at, what, principal, parent, after, client_tools } =
        serde_json::from_str(text).ok()?;
    let kinds: HashMap<String, IgnoredAny> = serde_json::from_str(what.get()).ok()?;
    let is_known = kinds.keys().any(|kind| KINDS.contains(&kind.as_str()));
    let body = EntryBody::Unknown(what);
    (kinds.len() == 1 && !is_known).then_some(Entry {
        id,
        at,
        body,
        principal,
        parent,
        after,
        client_tools,
    })
}

impl EntryBody {
    /// Creates a message of a role.
    pub fn message(role: Role, content: Vec<Content>) -> Self {
        match role {
            Role::User => Self::User { content },
            Role::Assistant => Self::Assistant { content },
        }
    }

    /// Returns the id of the call that it is about.
    pub(crate) fn call_id(&self) -> Option<&CallId> {
        match self {
            Self::ChildCall { call, .. } => Some(&call.id),
            Self::CallFinished { result } => Some(&result.call_id),
            Self::CallStarted { call }
            | Self::ApprovalRequested { call, .. }
            | Self::ApprovalDecided { call, .. } => Some(call),
            Self::User { .. }
            | Self::Assistant { .. }
            | Self::Step { .. }
            | Self::TurnEnded { .. }
            | Self::Unknown(_) => None,
        }
    }
}

/// What a turn needs to know about a call to decide whether it runs, or runs again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallMetadata {
    /// The id of the call.
    pub call: CallId,
    /// The registered tool that the call means, or the name as the model wrote it.
    pub tool: ToolName,
    /// A digest of the tool and the arguments: the same for the same call.
    pub digest: String,
    /// The tool has no effects.
    pub read_only: bool,
    /// Running it twice has the same effect as once.
    pub idempotent: bool,
    /// Its result is the answer of the turn.
    pub return_direct: bool,
    /// It is run again from its beginning after it was interrupted, with the recorded results of its child calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayable: bool,
    /// The call that makes it has had no effect, and has none before its result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub before_effect: bool,
}

impl CallMetadata {
    /// Creates the metadata of a call whose tool has no hints.
    pub fn new(
        call: impl Into<CallId>,
        tool: impl Into<ToolName>,
        digest: impl Into<String>,
    ) -> Self {
        Self {
            call: call.into(),
            tool: tool.into(),
            digest: digest.into(),
            read_only: false,
            idempotent: false,
            return_direct: false,
            replayable: false,
            before_effect: false,
        }
    }

    /// Returns true if the call may run again after it was interrupted.
    pub fn can_rerun(&self) -> bool {
        self.read_only || self.idempotent || self.replayable
    }
}

/// The decision about a call that needed approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalVerdict {
    /// The call may run as it is.
    Approve,
    /// The call may run with other arguments.
    Edit {
        /// The arguments that it runs with.
        arguments: Value,
    },
    /// The call may not run.
    Deny {
        /// The reason, which the model reads.
        reason: String,
    },
    /// The call does not run: the approver gave its result.
    Answer {
        /// The content of the result.
        content: Vec<Content>,
    },
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnEnd {
    /// The model has answered.
    Answered,
    /// The result of a tool with `return_direct` is the answer.
    Direct,
    /// The answer was cut off at the token limit of the request.
    Length,
    /// A limit of the turn was reached.
    Limit {
        /// Which limit, and its value.
        reason: String,
    },
    /// A tool or the model failed in a way that ends the turn.
    Failed {
        /// The error.
        reason: String,
    },
    /// It was cancelled: by its token, or by a new message.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_kinds_are_those_that_serde_reads() {
        let error = serde_json::from_str::<EntryBody>(r#"{"novel":{}}"#).unwrap_err().to_string();
        let expected: Vec<String> = KINDS.iter().map(|kind| format!("`{kind}`")).collect();
        let expected = format!("unknown variant `novel`, expected one of {}", expected.join(", "));
        assert!(error.starts_with(&expected), "{error}");
    }

    #[test]
    fn an_entry_of_an_unknown_kind_is_kept_unchanged() {
        let text = r#"{"id":"a","at":7,"what":{"branched":{"after":"9",  "x":1.50}},"principal":{"subject":"ada"}}"#;
        let entry = Entry::from_json(text).unwrap();
        assert!(entry.is_unknown() && !entry.is_message());
        assert_eq!(serde_json::to_string(&entry).unwrap(), text);
    }

    #[test]
    fn a_damaged_entry_of_a_known_kind_is_an_error() {
        for what in [r#"{"user":{"content":5}}"#, r#"{"user":{},"novel":{}}"#, "{}", "7"] {
            let text = format!(r#"{{"id":"a","at":7,"what":{what}}}"#);
            Entry::from_json(&text).unwrap_err();
        }
    }
}
