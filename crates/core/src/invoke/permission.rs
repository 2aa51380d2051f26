//! A call that needs approval in, somebody's decision about it out.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use serde_json::Value;

use super::{Invoker, run};
use crate::approve::{ApprovalRequest, Decision, Grant};
use crate::context::CallContext;
use crate::error::ErrorKind;
use crate::layer::timeout::{self, GivenUp};
use crate::registry::Entry;
use crate::result::{Outcome, ToolResult};

impl Invoker {
    /// Asks whoever has to be asked; whoever cannot decide has not approved.
    pub(super) async fn permission(
        &self,
        entry: &Entry,
        cx: &CallContext<'_>,
        arguments: &Value,
    ) -> Permission {
        let (approvals, fingerprint) = (&*self.0.approvals, entry.tool.fingerprint());
        let take = |grant: &Grant, arguments: &Value| {
            approvals.take(grant, fingerprint, arguments, cx.caller())
        };
        if cx
            .scope
            .grants
            .iter()
            .any(|grant| take(grant, arguments).is_ok())
        {
            return Permission::Granted;
        }
        let Some(approver) = &self.0.terms.approver else {
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
        let asked = AssertUnwindSafe(async { approver.approve(request).await }).catch_unwind();
        let patience = Some(approvals.patience());
        let decision = match timeout::wait(patience, cx.scope, asked).await {
            Ok(Ok(decision)) => decision,
            Ok(Err(panic)) => return undecided(panic.as_ref()),
            Err(GivenUp::Expired(_)) => return denied("nobody answered in time"),
            Err(GivenUp::Cancelled) => return Permission::Answered(timeout::cancelled()),
        };
        match decision {
            Decision::Approve(grant) => match take(&grant, arguments) {
                Ok(()) => Permission::Granted,
                Err(why) => denied(why),
            },
            Decision::Edit {
                arguments: edited,
                grant,
            } => match take(&grant, &edited) {
                Ok(()) => Permission::Edited(edited),
                Err(why) => denied(why),
            },
            Decision::Deny { reason } => denied(&reason),
            Decision::Answer(result) => Permission::Answered(*result),
        }
    }
}

/// What came of asking.
pub(super) enum Permission {
    Granted,
    Edited(Value),
    /// The call does not run: this is its result.
    Answered(ToolResult),
}

fn denied(reason: &str) -> Permission {
    let message = format!("the call was denied: {reason}");
    Permission::Answered(ToolResult::refused(
        Outcome::Denied,
        ErrorKind::Failed,
        message,
    ))
}

#[cold]
fn undecided(panic: &(dyn Any + Send)) -> Permission {
    match denied("the one who was asked could not decide") {
        Permission::Answered(result) => Permission::Answered(ToolResult {
            cause: run::panicked(panic).cause,
            ..result
        }),
        other => other,
    }
}
