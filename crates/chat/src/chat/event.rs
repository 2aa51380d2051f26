//! The events of a turn: one type for terminals, pages and scripts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_core::{
    ApprovalToken, Approvers, CallId, Content, ToolCall, ToolName, ToolResult, ToolSpec,
};

use crate::journal::entry::{ApprovalVerdict, TurnEnd};
use crate::model::ModelId;
use crate::model::usage::{StopReason, Usage};

/// An event of a turn.
///
/// The last one is [`TurnEnded`](ChatEvent::TurnEnded) or [`TurnPaused`](ChatEvent::TurnPaused), unless the stream ends with an
/// error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChatEvent {
    /// A turn starts or resumes.
    #[serde(rename = "began")]
    TurnStarted {
        /// The name of the conversation.
        conversation: String,
        /// The model that answers.
        model: ModelId,
    },
    /// The request to the model, as it goes over the wire.
    #[serde(rename = "sent")]
    RequestSent {
        /// The body of the request, without secrets.
        body: Arc<str>,
    },
    /// Another model answers this step than the turn started with, because that one is overloaded or cannot be reached.
    Fallback {
        /// The model that answers.
        model: ModelId,
        /// Why it answers.
        reason: String,
    },
    /// More text of the answer.
    Text {
        /// The next piece of the text.
        delta: String,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// The next piece of the text.
        delta: String,
    },
    /// The model begins to write a call.
    CallBegins {
        /// The id of the call.
        call: CallId,
        /// The tool as the model names it.
        tool: ToolName,
    },
    /// More of a call's arguments, as the wire has them: for display only.
    CallDelta {
        /// The id of the call.
        call: CallId,
        /// The next piece of JSON text.
        delta: String,
    },
    /// A call is complete.
    Call {
        /// The call, with arguments in the form of the tool's own schema.
        call: ToolCall,
    },
    /// A call made another call.
    #[serde(rename = "called")]
    ChildCall {
        /// The id of the call that made it.
        parent: CallId,
        /// The new call.
        call: ToolCall,
    },
    /// A tool that the vendor ran.
    #[serde(rename = "hosted")]
    HostedCall {
        /// The tool, as `web_search`.
        tool: String,
        /// Its input, as far as the vendor shows it.
        input: String,
        /// Its output, as far as the vendor shows it.
        output: String,
        /// True if the tool failed.
        failed: bool,
    },
    /// A step of the model is complete.
    Step {
        /// Why the model stopped.
        stop: StopReason,
        /// The tokens of the step.
        usage: Usage,
        /// The cost of the step; `None` if the price is not known.
        cost: Option<f64>,
    },
    /// A call needs approval.
    #[serde(rename = "asked")]
    ApprovalRequested(Box<PendingApproval>),
    /// An approval was decided.
    #[serde(rename = "decided")]
    ApprovalDecided {
        /// The id of the call.
        call: CallId,
        /// The decision.
        #[serde(flatten)]
        verdict: ApprovalVerdict,
    },
    /// A call starts to run.
    Running {
        /// The id of the call.
        call: CallId,
        /// The tool that runs.
        tool: ToolName,
    },
    /// A tool reports progress.
    Progress {
        /// The id of the call.
        call: CallId,
        /// The amount of work that is done, in the tool's own unit.
        done: Option<f64>,
        /// The amount of work in all, in the same unit.
        total: Option<f64>,
        /// What the tool is doing.
        message: Option<String>,
    },
    /// A tool has a preliminary result.
    Update {
        /// The result so far.
        result: ToolResult,
    },
    /// A call has its result.
    Result {
        /// The result, failed or not.
        result: ToolResult,
        /// How long the call ran, in milliseconds; 0 if it did not run.
        millis: u64,
    },
    /// The turn waits for approvals, or for results of calls that the caller runs.
    #[serde(rename = "paused")]
    TurnPaused {
        /// The calls it waits for.
        calls: Vec<CallId>,
    },
    /// The turn is over.
    #[serde(rename = "ended")]
    TurnEnded {
        /// Why the turn ended.
        #[serde(flatten)]
        end: TurnEnd,
        /// The answer.
        content: Vec<Content>,
        /// The tokens of the whole turn.
        usage: Usage,
        /// The cost of the whole turn; `None` if a price is not known.
        cost: Option<f64>,
    },
}

/// A call that waits for approval.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingApproval {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The tool, with the title and description that an approver reads.
    pub tool: Arc<ToolSpec>,
    /// The arguments exactly as the tool will receive them.
    pub arguments: Value,
    /// The token that the response carries: signed, for this call, and valid for a limited time.
    pub token: ApprovalToken,
    /// The id of the call that made it; `None` if the model did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// Who may decide.
    #[serde(default, skip_serializing_if = "Approvers::is_owner_only")]
    pub approvers: Approvers,
}

/// The response to a [`PendingApproval`], with its token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ApprovalResponse {
    /// The id of the call.
    pub call: CallId,
    /// The token of the [`PendingApproval`].
    pub token: ApprovalToken,
    /// The decision.
    pub verdict: ApprovalVerdict,
}

impl ApprovalResponse {
    /// Makes the response to the [`PendingApproval`] of a call, which has issued the token.
    pub fn new(call: CallId, token: ApprovalToken, verdict: ApprovalVerdict) -> Self {
        Self { call, token, verdict }
    }
}

impl PendingApproval {
    /// Makes a response with this verdict.
    pub fn respond(&self, verdict: ApprovalVerdict) -> ApprovalResponse {
        ApprovalResponse::new(self.call.id.clone(), self.token.clone(), verdict)
    }

    /// Approves the call as it is.
    pub fn approve(&self) -> ApprovalResponse {
        self.respond(ApprovalVerdict::Approve)
    }

    /// Approves the call with other arguments.
    pub fn edit(&self, arguments: Value) -> ApprovalResponse {
        self.respond(ApprovalVerdict::Edit { arguments })
    }

    /// Denies the call; the model reads the reason.
    pub fn deny(&self, reason: impl Into<String>) -> ApprovalResponse {
        let reason = reason.into();
        self.respond(ApprovalVerdict::Deny { reason })
    }

    /// Answers in place of the tool, which does not run.
    pub fn answer(&self, text: impl Into<String>) -> ApprovalResponse {
        let content = vec![Content::text(text)];
        self.respond(ApprovalVerdict::Answer { content })
    }
}
