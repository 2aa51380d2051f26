//! A call that needs approval in, somebody's decision about it out.

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
    /// Asks whoever has to be asked; whoever cannot decide has not approved.
    pub(in crate::invoker) async fn request_approval(
        &self,
        entry: &RegisteredTool,
        cx: &CallContext<'_>,
        arguments: &Value,
    ) -> ApprovalStatus {
        let (approvals, fingerprint) = (&*self.0.signer, entry.tool.fingerprint());
        let take = |grant: &ApprovalToken, arguments: &Value| {
            approvals.redeem(grant, fingerprint, arguments, cx.caller())
        };
        if cx
            .scope
            .approval_tokens
            .iter()
            .any(|grant| take(grant, arguments).is_ok())
        {
            return ApprovalStatus::Approved;
        }
        let Some(approver) = &self.0.options.approver else {
            return denied("it needs approval, and there is nobody to ask");
        };
        let request = ApprovalRequest::new(
            cx.call,
            &entry.spec,
            arguments,
            cx.caller(),
            fingerprint,
            approvals,
        );
        let asked = AssertUnwindSafe(async { approver.decide(request).await }).catch_unwind();
        let patience = Some(approvals.approval_timeout());
        let decision = match timeout::wait_with_timeout(patience, cx.scope, asked).await {
            Ok(Ok(decision)) => decision,
            Ok(Err(panic)) => return approver_panicked(panic.as_ref()),
            Err(WaitError::TimedOut(_)) => return denied("nobody answered in time"),
            Err(WaitError::Cancelled) => {
                return ApprovalStatus::Answered(timeout::cancelled_result());
            }
        };
        match decision {
            ApprovalDecision::Approve(grant) => match take(&grant, arguments) {
                Ok(()) => ApprovalStatus::Approved,
                Err(why) => denied(why),
            },
            ApprovalDecision::Edit {
                arguments: edited,
                grant,
            } => match take(&grant, &edited) {
                Ok(()) => ApprovalStatus::Edited(edited),
                Err(why) => denied(why),
            },
            ApprovalDecision::Deny { reason } => denied(&reason),
            ApprovalDecision::Answer(result) => ApprovalStatus::Answered(*result),
        }
    }
}

/// What came of asking.
pub(in crate::invoker) enum ApprovalStatus {
    Approved,
    Edited(Value),
    /// The call does not run: this is its result.
    Answered(ToolResult),
}

fn denied(reason: &str) -> ApprovalStatus {
    let message = format!("the call was denied: {reason}");
    ApprovalStatus::Answered(ToolResult::from_outcome(
        Outcome::Denied,
        ErrorKind::Failed,
        message,
    ))
}

#[cold]
fn approver_panicked(panic: &(dyn Any + Send)) -> ApprovalStatus {
    match denied("the one who was asked could not decide") {
        ApprovalStatus::Answered(result) => ApprovalStatus::Answered(ToolResult {
            cause: run::panic_result(panic).cause,
            ..result
        }),
        other => other,
    }
}
