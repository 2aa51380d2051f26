//! Who is asked before a dangerous call runs, and what an approval is worth.
//!
//! An approval is a signed [`Grant`]: bound to the tool's fingerprint, the exact arguments and the
//! caller, good for one call, and only for a while. Whatever is wrong with it, the answer is no.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::call::ToolCall;
use crate::call::context::Caller;
use crate::call::result::{ContentList, ToolResult};
use crate::tool::ToolSpec;

mod pending_call;
pub(super) mod request_approval;
mod token;

pub use token::{ApprovalSigner, ApprovalToken};

/// Somebody who allows or denies calls: a person at a terminal, a page, a policy.
///
/// Without one, a call that needs approval is denied.
///
/// # Cancellation
///
/// The future is dropped when nobody waits for the call any more.
///
/// # Examples
///
/// ```
/// use futures::future::BoxFuture;
/// use toolwright::{ApprovalRequest, Approve, Decision};
///
/// /// Approves small refunds.
/// struct Clerk;
///
/// impl Approve for Clerk {
///     fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
///         Box::pin(async move {
///             match request.arguments["amount"].as_f64() {
///                 Some(amount) if amount <= 20.0 => request.approve(),
///                 _ => request.deny("ask the manager"),
///             }
///         })
///     }
/// }
/// ```
pub trait Approver: Send + Sync {
    /// Decides about one call whose arguments are known to be valid.
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision>;
}

/// What the one who decides is shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// The call as the model made it.
    pub call: &'a ToolCall,
    /// The tool: its title and description say what will happen.
    pub tool: &'a ToolSpec,
    /// The arguments exactly as the tool will receive them.
    pub arguments: &'a Value,
    /// On whose behalf the call is made.
    pub caller: &'a Caller,
    fingerprint: &'a str,
    signer: &'a ApprovalSigner,
}

/// A call that waits for somebody's decision, for as long as that takes.
///
/// It keeps all that [`ApprovalRequest`] shows. Made by [`Invoker::pending`](crate::Invoker::pending).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PendingCall {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The tool: its title and description say what will happen.
    pub tool: Arc<ToolSpec>,
    /// The arguments exactly as the tool will receive them.
    pub arguments: Value,
    pub(crate) caller: Caller,
    pub(crate) fingerprint: Arc<str>,
    pub(crate) signer: Arc<ApprovalSigner>,
}

impl PendingCall {
    /// What the one who decides is shown.
    pub fn request(&self) -> ApprovalRequest<'_> {
        ApprovalRequest {
            call: &self.call,
            tool: &self.tool,
            arguments: &self.arguments,
            caller: &self.caller,
            fingerprint: &self.fingerprint,
            signer: &self.signer,
        }
    }
}

/// What was decided; made by the methods of [`ApprovalRequest`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// The call runs, if the grant is for it.
    Approve(ApprovalToken),
    /// The call runs with other arguments, if they are valid and the grant is for them.
    Edit {
        /// The arguments to run with.
        arguments: Value,
        /// The approval of these arguments.
        grant: ApprovalToken,
    },
    /// The call does not run; the model reads why.
    Deny {
        /// Why not.
        reason: String,
    },
    /// The call does not run; the model reads this as its result.
    Answer(Box<ToolResult>),
}

impl<'a> ApprovalRequest<'a> {
    pub(crate) fn new(
        call: &'a ToolCall,
        tool: &'a ToolSpec,
        arguments: &'a Value,
        caller: &'a Caller,
        fingerprint: &'a str,
        approvals: &'a ApprovalSigner,
    ) -> Self {
        Self {
            call,
            tool,
            arguments,
            caller,
            fingerprint,
            signer: approvals,
        }
    }

    /// Says in words what somebody is asked: may this tool run, what will happen, with which arguments.
    pub fn question(&self) -> String {
        let arguments = serde_json::to_string_pretty(self.arguments).unwrap_or_default();
        format!(
            "May `{}` run?\n\n{}\n\nArguments:\n{arguments}",
            self.tool.display_name(),
            self.tool.description,
        )
    }

    /// Makes an approval of exactly this call, to be kept or brought later with
    /// [`CallScope::grant`](crate::CallScope::grant).
    pub fn issue_token(&self) -> ApprovalToken {
        self.signer
            .issue(self.fingerprint, self.arguments, self.caller)
    }

    /// Checks whether a grant that was made before is for exactly this call, without using it up.
    ///
    /// # Errors
    ///
    /// Why it is not.
    pub fn verify_token(&self, grant: &ApprovalToken) -> Result<(), &'static str> {
        self.signer
            .verify(grant, self.fingerprint, self.arguments, self.caller)
    }

    /// Allows the call.
    pub fn approve(&self) -> ApprovalDecision {
        ApprovalDecision::Approve(self.issue_token())
    }

    /// Allows the call with other arguments, which are validated again.
    pub fn edit(&self, arguments: Value) -> ApprovalDecision {
        let grant = self.signer.issue(self.fingerprint, &arguments, self.caller);
        ApprovalDecision::Edit { arguments, grant }
    }

    /// Refuses the call; the model reads why.
    pub fn deny(&self, reason: impl Into<String>) -> ApprovalDecision {
        ApprovalDecision::Deny {
            reason: reason.into(),
        }
    }

    /// Answers in the tool's place.
    pub fn answer(&self, content: impl Into<ContentList>) -> ApprovalDecision {
        ApprovalDecision::Answer(Box::new(ToolResult::success(content)))
    }
}
