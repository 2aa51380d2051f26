//! Who is asked before a dangerous call runs.

use futures::future::BoxFuture;
use serde_json::Value;

use crate::call::ToolCall;
use crate::context::Caller;
use crate::tool::ToolSpec;

/// Somebody who allows or denies calls: a person at a terminal, a page, a policy.
///
/// Without one, a call that needs approval is denied.
///
/// # Cancellation
///
/// The future is dropped when nobody waits for the call any more.
pub trait Approve: Send + Sync {
    /// Decides about one call whose arguments are known to be valid.
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision>;
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
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The call runs.
    Approve,
    /// The call does not run; the model reads why.
    Deny {
        /// Why not.
        reason: String,
    },
}

impl ApprovalRequest<'_> {
    pub(crate) fn new<'a>(
        call: &'a ToolCall,
        tool: &'a ToolSpec,
        arguments: &'a Value,
        caller: &'a Caller,
    ) -> ApprovalRequest<'a> {
        ApprovalRequest {
            call,
            tool,
            arguments,
            caller,
        }
    }
}
