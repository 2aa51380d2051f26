//! A call that waits for a decision in, swiftide's pause out; a person's feedback in, the decision out.
//!
//! The pause carries a grant for exactly what it shows, and feedback has to bring it back. A mere yes is not enough:
//! swiftide's empty context approves everything.

use serde_json::{Value, json};
use swiftide_core::chat_completion::{ChatMessage, ToolOutput};
use swiftide_core::{AgentContext, ToolFeedback};
use toolwright::{ApprovalDecision, ApprovalRequest, Approver, BoxFuture, PendingCall};

/// Asks for feedback, showing what is to be decided.
pub(crate) fn to_feedback_request(pending: &PendingCall) -> ToolOutput {
    let request = pending.request();
    ToolOutput::FeedbackRequired(Some(json!({
        "tool": request.tool.display_name(),
        "description": request.tool.description,
        "arguments": request.arguments,
        "caller": request.caller.name(),
        "grant": request.issue_token(),
    })))
}

/// Returns the answer to a call, if there is one already.
pub(crate) async fn resume_with_feedback(
    context: &dyn AgentContext,
    feedback: Option<ToolFeedback>,
) -> Option<FeedbackApprover> {
    let feedback = match feedback {
        // swiftide never comes back to a call that has paused beside others.
        None if count_parallel_calls(context).await > 1 => {
            let reason = "it needs approval, so it has to be made alone, without calls beside it";
            Some(ToolFeedback::refused().with_payload(reason.into()))
        }
        feedback => feedback,
    };
    feedback.map(FeedbackApprover)
}

/// Counts the calls that the model made last, all at once.
async fn count_parallel_calls(context: &dyn AgentContext) -> usize {
    let history = context.history().await.unwrap_or_default();
    let calls = history.iter().rev().find_map(|message| match message {
        ChatMessage::Assistant(_, calls) => calls.as_deref(),
        _ => None,
    });
    calls.map_or(0, <[_]>::len)
}

/// An approver that decides by feedback.
pub(crate) struct FeedbackApprover(ToolFeedback);

impl Approver for FeedbackApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        let payload = self.0.payload();
        let decision = match &self.0 {
            ToolFeedback::Refused { .. } => {
                let reason = payload.and_then(Value::as_str);
                request.deny(reason.unwrap_or("the person said no"))
            }
            ToolFeedback::Approved { .. } => {
                let grant = payload.and_then(|payload| payload.get("grant"));
                let grant = grant.and_then(|grant| serde_json::from_value(grant.clone()).ok());
                match grant {
                    Some(grant) => ApprovalDecision::Approve(grant),
                    None => request.deny("the feedback does not bring back what was asked"),
                }
            }
        };
        Box::pin(async { decision })
    }
}
