//! Checks the approval tokens of a call, else requests a decision of the approver.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use serde_json::Value;

use crate::call::context::CallContext;
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;
use crate::invoker::approval::{ApprovalDecision, ApprovalRequest, ApprovalToken};
use crate::invoker::{Invoker, run};
use crate::layer::timeout::{self, WaitError};
use crate::registry::RegisteredTool;

impl Invoker {
    /// Redeems a token of the scope, else waits for the approver. An approver that panics or times out denies the call.
    pub(in crate::invoker) async fn request_approval(
        &self,
        tool: &RegisteredTool,
        cx: &CallContext<'_>,
        arguments: &Value,
    ) -> ApprovalStatus {
        let (signer, fingerprint) = (&*self.0.signer, tool.tool.fingerprint());
        let redeem = |token: &ApprovalToken, arguments: &Value| {
            signer.redeem(token, fingerprint, arguments, cx.caller())
        };
        if cx.scope.approval_tokens.iter().any(|token| redeem(token, arguments).is_ok()) {
            return ApprovalStatus::Approved;
        }
        let Some(approver) = &self.0.options.approver else {
            return denied("it needs approval, and there is nobody to ask");
        };
        let request = ApprovalRequest {
            call: cx.call,
            tool: &tool.spec,
            arguments,
            caller: cx.caller(),
            approvers: tool.approvers(),
            fingerprint,
            signer,
        };
        let decision = AssertUnwindSafe(async { approver.decide(request).await }).catch_unwind();
        let limit = Some(signer.approval_timeout());
        let decision = match timeout::wait_with_timeout(limit, cx.scope, decision).await {
            Ok(Ok(decision)) => decision,
            Ok(Err(panic)) => return approver_panicked(panic.as_ref()),
            Err(WaitError::TimedOut(_)) => return denied("nobody answered in time"),
            Err(WaitError::Cancelled) => {
                return ApprovalStatus::Answered(timeout::cancelled_result());
            }
        };
        match decision {
            ApprovalDecision::Approve(token) => match redeem(&token, arguments) {
                Ok(()) => ApprovalStatus::Approved,
                Err(reason) => denied(reason),
            },
            ApprovalDecision::Edit { arguments: edited, token } => match redeem(&token, &edited) {
                Ok(()) => ApprovalStatus::Edited(edited),
                Err(reason) => denied(reason),
            },
            ApprovalDecision::Deny { reason } => denied(&reason),
            ApprovalDecision::Answer(result) => ApprovalStatus::Answered(*result),
        }
    }
}

/// The result of a request for approval.
pub(in crate::invoker) enum ApprovalStatus {
    Approved,
    Edited(Value),
    /// The call does not run; this is its result.
    Answered(ToolResult),
}

fn denied(reason: &str) -> ApprovalStatus {
    let message = format!("the call was denied: {reason}");
    ApprovalStatus::Answered(ToolResult::from_outcome(Outcome::Denied, ErrorKind::Failed, message))
}

#[cold]
fn approver_panicked(panic: &(dyn Any + Send)) -> ApprovalStatus {
    match denied("the one who was asked could not decide") {
        ApprovalStatus::Answered(result) => {
            ApprovalStatus::Answered(ToolResult { cause: run::panic_result(panic).cause, ..result })
        }
        other => other,
    }
}
