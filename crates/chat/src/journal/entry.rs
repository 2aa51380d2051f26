//! What a journal is made of: everything that happened in a conversation, in order, and nothing twice.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_core::{ApprovalToken, CallId, Content, ToolName, ToolResult};

use crate::journal::store::owner::PrincipalRecord;
use crate::model::item::Step;

/// One thing that happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// Unique in its conversation: an entry that is appended again is the same one.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What.
    #[serde(rename = "what")]
    pub body: EntryBody,
    /// The principal that caused it, of messages and decisions; the operator, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<PrincipalRecord>,
}

impl Entry {
    /// Makes an entry.
    pub fn new(id: impl Into<String>, at: u64, what: EntryBody) -> Self {
        Self {
            id: id.into(),
            at,
            body: what,
            principal: None,
        }
    }

    /// Returns true if it is a message: of a person, or of a prompt in the role of the model.
    pub fn is_message(&self) -> bool {
        matches!(
            self.body,
            EntryBody::User { .. } | EntryBody::Assistant { .. }
        )
    }

    /// Records the principal that caused it.
    #[must_use]
    pub fn with_principal(mut self, principal: Option<PrincipalRecord>) -> Self {
        self.principal = principal;
        self
    }
}

/// What happened.
// Tagged from outside: a tag from inside would have serde buffer what it reads, and raw JSON does not survive that.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryBody {
    /// A person said something: a turn begins.
    User {
        /// What was said.
        content: Vec<Content>,
    },
    /// Words were put into the model's mouth, by a prompt of that role.
    Assistant {
        /// The words.
        content: Vec<Content>,
    },
    /// A model answered.
    Step {
        /// The answer.
        step: Arc<Step>,
        /// What the turn has to know about each call in it, in order.
        calls: Vec<CallMetadata>,
        /// What it cost, where the price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// A call is about to run.
    #[serde(rename = "started")]
    CallStarted {
        /// Which.
        call: CallId,
    },
    /// A call has its result.
    #[serde(rename = "finished")]
    CallFinished {
        /// The result.
        result: ToolResult,
    },
    /// Somebody has to decide about a call.
    #[serde(rename = "asked")]
    ApprovalRequested {
        /// Which.
        call: CallId,
        /// The arguments exactly as the tool will receive them.
        arguments: Value,
        /// What whoever decides has to bring.
        token: ApprovalToken,
    },
    /// Somebody has decided.
    #[serde(rename = "decided")]
    ApprovalDecided {
        /// About which call.
        call: CallId,
        /// How.
        verdict: ApprovalVerdict,
    },
    /// The turn is over.
    #[serde(rename = "ended")]
    TurnEnded {
        /// Why.
        end: TurnEnd,
    },
}

/// What a turn has to know about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallMetadata {
    /// Which call.
    pub call: CallId,
    /// The tool it means, if there is one.
    pub tool: ToolName,
    /// The same for calls with the same arguments.
    pub digest: String,
    /// It changes nothing.
    #[serde(default)]
    pub read_only: bool,
    /// Running it twice is as good as once.
    #[serde(default)]
    pub idempotent: bool,
    /// Its result is the answer.
    #[serde(default)]
    pub return_direct: bool,
}

impl CallMetadata {
    /// Makes the facts of a call of which nothing is declared.
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
        }
    }
}

/// How somebody decided about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalVerdict {
    /// It may run as it is.
    Approve,
    /// It may run with these arguments.
    Edit {
        /// The arguments.
        arguments: Value,
    },
    /// It may not run.
    Deny {
        /// Why.
        reason: String,
    },
    /// It need not run: this is the result.
    Answer {
        /// The result.
        content: Vec<Content>,
    },
}

/// Why a turn is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnEnd {
    /// The model has answered.
    Answered,
    /// A tool's result is the answer.
    Direct,
    /// The answer is cut off: the most tokens were reached.
    Length,
    /// A limit of the turn was reached.
    Limit {
        /// Which, and what it was.
        reason: String,
    },
    /// A tool or the model failed in a way that ends the turn.
    Failed {
        /// Why.
        reason: String,
    },
    /// The caller went away, or cancelled it.
    Cancelled,
}
