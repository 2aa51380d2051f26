//! [`ToolCaller`]: calls other tools from inside a tool.

use std::fmt;

use futures::future::BoxFuture;

use crate::call::context::{CallContext, CallScope, MAX_CALL_DEPTH, TOO_DEEP};
use crate::call::result::{Outcome, ToolResult};
use crate::call::{Arguments, CallId, ToolCall, ToolName};
use crate::error::{ErrorKind, ToolError};
use crate::invoker::Invoker;
use crate::tool::param::Param;

/// Calls other tools from inside a tool: child calls of its own call.
///
/// A child call is a call like any other: for the same caller, of the same tools, validated, approved and audited. In a turn of
/// a chat it is recorded and counts towards the limits of the turn, too.
///
/// # Examples
///
/// ```
/// use toolwright::{ToolCaller, json, tool};
///
/// /// Adds up the prices of two items.
/// #[tool(replayable)]
/// async fn total(first: String, second: String, tools: ToolCaller) -> Result<f64, String> {
///     let mut total = 0.0;
///     for item in [first, second] {
///         let price = tools.call("price", json!({ "item": item })).await;
///         total += price.text().parse::<f64>().map_err(|_| format!("no price: {}", price.text()))?;
///     }
///     Ok(total)
/// }
/// ```
#[derive(Clone)]
pub struct ToolCaller {
    parent: CallId,
    invoker: Invoker,
    /// The scope of the child calls.
    scope: CallScope,
}

impl ToolCaller {
    pub(crate) fn new(parent: &CallId, invoker: &Invoker, scope: CallScope) -> Self {
        let depth = scope.depth + 1;
        Self {
            parent: parent.clone(),
            invoker: invoker.clone(),
            scope: CallScope { depth, is_child: true, is_repeated: false, ..scope },
        }
    }

    /// Calls a tool; every call has a result, also a failed one.
    ///
    /// Calls are numbered in the order of these method calls, not in the order in which the futures are polled. Dropping the
    /// future cancels the call.
    pub fn call(
        &self,
        tool: impl Into<ToolName>,
        arguments: impl Into<Arguments>,
    ) -> BoxFuture<'static, ToolResult> {
        self.call_with(tool.into(), arguments.into(), false)
    }

    /// Calls a tool from one that has had no effect yet, and has none until it gets the result.
    ///
    /// If the call needs approval, a turn pauses for it, and then runs the tool that makes it again from its beginning, though it
    /// is not `replayable`.
    pub fn call_before_effect(
        &self,
        tool: impl Into<ToolName>,
        arguments: impl Into<Arguments>,
    ) -> BoxFuture<'static, ToolResult> {
        self.call_with(tool.into(), arguments.into(), true)
    }

    fn call_with(
        &self,
        tool: ToolName,
        arguments: Arguments,
        before_effect: bool,
    ) -> BoxFuture<'static, ToolResult> {
        if let Some(handler) = &self.scope.child_calls {
            return handler(tool, arguments, before_effect);
        }
        let call = ToolCall::new(tool, arguments);
        let id = format!("{}.{}", self.parent, call.id);
        let call = call.with_id(id);
        let (invoker, scope) = (self.invoker.clone(), self.scope.clone());
        Box::pin(async move {
            if scope.depth > MAX_CALL_DEPTH {
                let denied = ToolResult::from_outcome(Outcome::Denied, ErrorKind::Failed, TOO_DEEP);
                return denied.for_call(&call.id, &call.name);
            }
            invoker.invoke_in(&scope, &call).await
        })
    }
}

impl Param for ToolCaller {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        let scope = cx.scope.clone().cancel_on(cx.cancellation_token());
        Ok(Self::new(cx.call_id(), cx.invoker, scope))
    }
}

impl fmt::Debug for ToolCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCaller").field("parent", &self.parent).finish_non_exhaustive()
    }
}
