//! Questions of attached servers: calls that wait for the answer of a person, and not for an approval.

use serde_json::Value;
use toolwright_chat::{ApprovalResponse, ApprovalVerdict, PendingApproval};
use toolwright_core::Content;

/// Returns true if a person is asked something, by a tool that another one has called.
pub(crate) fn is_question(approval: &PendingApproval) -> bool {
    let annotation = approval.tool.input.as_value().get("x-question");
    approval.parent.is_some() && annotation == Some(&Value::Bool(true))
}

/// Makes the response to a question.
pub(crate) fn answer_question(question: &PendingApproval, answer: &Value) -> ApprovalResponse {
    let text = match answer {
        Value::String(text) => text.clone(),
        answer => answer.to_string(),
    };
    question.respond(ApprovalVerdict::Answer { content: vec![Content::text(text)] })
}
