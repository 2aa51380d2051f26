//! What a conversation streams: one vocabulary for terminals, pages and scripts.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use toolwright_core::{ApprovalToken, CallId, Content, ToolCall, ToolName, ToolResult, ToolSpec};

use crate::journal::entry::{ApprovalVerdict, TurnEnd};
use crate::model::ModelId;
use crate::model::usage::{StopReason, Usage};

/// A piece of a turn.
///
/// The last one is [`Ended`](ChatEvent::Ended) or [`Paused`](ChatEvent::Paused), unless an error takes its place.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChatEvent {
    /// A turn begins or goes on.
    #[serde(rename = "began")]
    TurnStarted {
        /// The conversation.
        conversation: String,
        /// Who answers.
        model: ModelId,
    },
    /// What is sent to the model, as it goes over the wire.
    #[serde(rename = "sent")]
    RequestSent {
        /// The body of the request, without secrets.
        body: Arc<str>,
    },
    /// More text.
    Text {
        /// The next piece.
        delta: String,
    },
    /// More of what the model thinks.
    Reasoning {
        /// The next piece.
        delta: String,
    },
    /// The model begins to write a call.
    CallBegins {
        /// Which.
        call: CallId,
        /// The tool.
        tool: ToolName,
    },
    /// More of a call's arguments, as the wire has them: for display only.
    CallDelta {
        /// Of which call.
        call: CallId,
        /// The next piece.
        delta: String,
    },
    /// A call is whole.
    Call {
        /// The call, in the tool's own form.
        call: ToolCall,
    },
    /// A tool that the vendor ran.
    #[serde(rename = "hosted")]
    HostedCall {
        /// Which.
        tool: String,
        /// What it was asked.
        input: String,
        /// What it found.
        output: String,
        /// Whether it failed.
        failed: bool,
    },
    /// A step of the model is over.
    Step {
        /// Why it ended.
        stop: StopReason,
        /// What it took.
        usage: Usage,
        /// What it cost, where the price is known.
        cost: Option<f64>,
    },
    /// Somebody has to decide about a call.
    #[serde(rename = "asked")]
    ApprovalRequested(PendingApproval),
    /// Somebody has decided.
    #[serde(rename = "decided")]
    ApprovalDecided {
        /// About which call.
        call: CallId,
        /// How.
        #[serde(flatten)]
        verdict: ApprovalVerdict,
    },
    /// A call starts to run.
    Running {
        /// Which.
        call: CallId,
        /// The tool.
        tool: ToolName,
    },
    /// A tool says how far it is.
    Progress {
        /// In which call.
        call: CallId,
        /// How much is done.
        done: Option<f64>,
        /// Of how much.
        total: Option<f64>,
        /// What it is doing.
        message: Option<String>,
    },
    /// A tool has a preliminary result.
    Update {
        /// The result so far.
        result: ToolResult,
    },
    /// A call has its result.
    Result {
        /// The result.
        result: ToolResult,
        /// How long it took, in milliseconds.
        millis: u64,
    },
    /// The turn waits: for decisions, or for results that the caller brings.
    #[serde(rename = "paused")]
    TurnPaused {
        /// About which calls.
        calls: Vec<CallId>,
    },
    /// The turn is over.
    #[serde(rename = "ended")]
    TurnEnded {
        /// Why.
        #[serde(flatten)]
        end: TurnEnd,
        /// The answer.
        content: Vec<Content>,
        /// What the whole turn took.
        usage: Usage,
        /// What it cost, where every price is known.
        cost: Option<f64>,
    },
}

/// A call that waits for a decision.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PendingApproval {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The tool: its title and description say what will happen.
    pub tool: Arc<ToolSpec>,
    /// The arguments exactly as the tool will receive them.
    pub arguments: Value,
    /// What the decision has to bring along: signed, for this call, for a while.
    pub token: ApprovalToken,
}

/// A decision, with the token that entitles to it.
#[derive(Clone, Debug, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ApprovalResponse {
    /// About which call.
    pub call: CallId,
    /// The token of its [`Asked`].
    pub token: ApprovalToken,
    /// How.
    pub verdict: ApprovalVerdict,
}

impl PendingApproval {
    /// Decides.
    pub fn respond(&self, verdict: ApprovalVerdict) -> ApprovalResponse {
        ApprovalResponse {
            call: self.call.id.clone(),
            token: self.token.clone(),
            verdict,
        }
    }

    /// Lets the call run as it is.
    pub fn approve(&self) -> ApprovalResponse {
        self.respond(ApprovalVerdict::Approve)
    }

    /// Lets the call run with other arguments.
    pub fn edit(&self, arguments: Value) -> ApprovalResponse {
        self.respond(ApprovalVerdict::Edit { arguments })
    }

    /// Refuses the call; the model reads why.
    pub fn deny(&self, reason: impl Into<String>) -> ApprovalResponse {
        let reason = reason.into();
        self.respond(ApprovalVerdict::Deny { reason })
    }

    /// Answers in the tool's place.
    pub fn answer(&self, text: impl Into<String>) -> ApprovalResponse {
        let content = vec![Content::text(text)];
        self.respond(ApprovalVerdict::Answer { content })
    }
}
