//! [`Approver`]: decides about calls before they run.
//!
//! An approval is a signed [token](ApprovalToken): bound to the tool's fingerprint, the exact arguments and the
//! caller, valid for one call and a limited time. A call with an invalid token is denied.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::call::ToolCall;
use crate::call::context::Caller;
use crate::call::result::{ContentList, ToolResult};
use crate::tool::ToolSpec;
use crate::tool::approvers::Approvers;

mod pending_call;
pub(super) mod request_approval;
mod token;

pub use token::{ApprovalSigner, ApprovalToken};

/// Allows or denies calls: a person at a terminal, a page, a policy.
///
/// Without one, a call that needs approval is denied. A function that decides at once is an approver too.
///
/// # Cancellation
///
/// The future is dropped when the call is cancelled or the approval times out.
///
/// # Examples
///
/// ```
/// use toolwright::{ApprovalDecision, ApprovalRequest, Approver, BoxFuture, Invoker, Registry};
///
/// /// Approves small refunds.
/// fn decide(request: ApprovalRequest<'_>) -> ApprovalDecision {
///     match request.arguments["amount"].as_f64() {
///         Some(amount) if amount <= 20.0 => request.approve(),
///         _ => request.deny("ask the manager"),
///     }
/// }
///
/// let invoker = Invoker::builder(Registry::new()).approver(decide).build()?;
///
/// /// Waits for a person.
/// struct Clerk;
///
/// impl Approver for Clerk {
///     fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
///         Box::pin(async move { decide(request) })
///     }
/// }
///
/// let invoker = invoker.with_approver(Clerk);
/// # Ok::<(), toolwright::InvokerError>(())
/// ```
pub trait Approver: Send + Sync {
    /// Decides about one call whose arguments are known to be valid.
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision>;
}

impl<F: Fn(ApprovalRequest<'_>) -> ApprovalDecision + Send + Sync> Approver for F {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(std::future::ready(self(request)))
    }
}

/// The information that an approver decides on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// The call as the model sent it.
    pub call: &'a ToolCall,
    /// The tool; its title and description are for the approver to read.
    pub tool: &'a ToolSpec,
    /// The arguments exactly as the tool will receive them.
    pub arguments: &'a Value,
    /// The user or program that the call is made for.
    pub caller: &'a Caller,
    /// Who may decide: an approver that does not know who decides denies a call that others than the owner decide about.
    pub approvers: &'a Approvers,
    fingerprint: &'a str,
    signer: &'a ApprovalSigner,
}

/// A call that waits for a decision, without a time limit.
///
/// It owns the data of an [`ApprovalRequest`]. Made by [`Invoker::pending_call`](crate::Invoker::pending_call).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PendingCall {
    /// The call as the model sent it.
    pub call: ToolCall,
    /// The tool; its title and description are for the approver to read.
    pub tool: Arc<ToolSpec>,
    /// The arguments exactly as the tool will receive them.
    pub arguments: Value,
    /// Who may decide.
    pub approvers: Approvers,
    pub(crate) caller: Caller,
    pub(crate) fingerprint: Arc<str>,
    pub(crate) signer: Arc<ApprovalSigner>,
}

impl PendingCall {
    /// Returns the request for the approver.
    pub fn request(&self) -> ApprovalRequest<'_> {
        ApprovalRequest {
            call: &self.call,
            tool: &self.tool,
            arguments: &self.arguments,
            caller: &self.caller,
            approvers: &self.approvers,
            fingerprint: &self.fingerprint,
            signer: &self.signer,
        }
    }
}

/// The decision of an approver; made by the methods of [`ApprovalRequest`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// The call runs, if the token is valid for it.
    Approve(ApprovalToken),
    /// The call runs with other arguments, if they are valid and the token is for them.
    Edit {
        /// The arguments to run with.
        arguments: Value,
        /// The approval of these arguments.
        token: ApprovalToken,
    },
    /// The call does not run; the model reads the reason.
    Deny {
        /// The reason.
        reason: String,
    },
    /// The call does not run; this is its result.
    Answer(Box<ToolResult>),
}

impl<'a> ApprovalRequest<'a> {
    /// Returns the question for a person: the tool's name, its description and the arguments.
    pub fn question(&self) -> String {
        let arguments = serde_json::to_string_pretty(self.arguments).unwrap_or_default();
        format!(
            "May `{}` run?\n\n{}\n\nArguments:\n{arguments}",
            self.tool.display_name(),
            self.tool.description,
        )
    }

    /// Issues an approval of exactly this call, to be stored and passed later to
    /// [`CallScope::approval_token`](crate::CallScope::approval_token).
    pub fn issue_token(&self) -> ApprovalToken {
        self.signer.issue(self.fingerprint, self.arguments, self.caller)
    }

    /// Checks that a token is valid for exactly this call, without redeeming it.
    ///
    /// # Errors
    ///
    /// When it is not: the reason.
    pub fn verify_token(&self, token: &ApprovalToken) -> Result<(), &'static str> {
        self.signer.verify(token, self.fingerprint, self.arguments, self.caller)
    }

    /// Allows the call.
    pub fn approve(&self) -> ApprovalDecision {
        ApprovalDecision::Approve(self.issue_token())
    }

    /// Allows the call with other arguments, which are validated again.
    pub fn edit(&self, arguments: Value) -> ApprovalDecision {
        let token = self.signer.issue(self.fingerprint, &arguments, self.caller);
        ApprovalDecision::Edit { arguments, token }
    }

    /// Denies the call; the model reads the reason.
    pub fn deny(&self, reason: impl Into<String>) -> ApprovalDecision {
        ApprovalDecision::Deny { reason: reason.into() }
    }

    /// Returns a result without running the tool.
    pub fn answer(&self, content: impl Into<ContentList>) -> ApprovalDecision {
        ApprovalDecision::Answer(Box::new(ToolResult::success(content)))
    }
}
