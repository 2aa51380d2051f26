//! adk's confirmation of a call as our approval of it.
//!
//! A tool is not informed that the agent's policy had a call confirmed, so it cannot rely on that. The invoker asks
//! instead, and about the arguments that will run: whatever is not a clear yes is a no.

use std::sync::Arc;

use adk_core::{ToolConfirmationDecision, ToolConfirmationHandler, ToolConfirmationRequest};
use toolwright::{ApprovalDecision, ApprovalRequest, Approver, BoxFuture};

/// An approver that delegates to a confirmation handler of adk.
///
/// An agent's `ToolConfirmationPolicy` need not name the tools: it would have them confirmed twice.
#[derive(Debug)]
pub struct ConfirmationApprover(pub Arc<dyn ToolConfirmationHandler>);

impl Approver for ConfirmationApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        let asked = ToolConfirmationRequest {
            tool_name: request.call.name.to_string(),
            function_call_id: Some(request.call.id.to_string()),
            args: request.arguments.clone(),
        };
        Box::pin(async move {
            match self.0.decide(&asked).await {
                Ok(ToolConfirmationDecision::Approve) => request.approve(),
                Ok(ToolConfirmationDecision::Deny) => request.deny("it was not confirmed"),
                Err(_) => request.deny("the one who was asked could not decide"),
            }
        })
    }
}
