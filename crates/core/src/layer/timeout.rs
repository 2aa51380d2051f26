//! Ends a call that takes too long or is cancelled.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::sleep;

use crate::call::context::CallScope;
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;
use crate::registry::RegisteredTool;

/// Waits for a tool up to the limit; `Err` is the result of a call that timed out or was cancelled.
pub(crate) async fn run_with_timeout(
    tool: &RegisteredTool,
    limit: Option<Duration>,
    scope: &CallScope,
    next: impl Future<Output = ToolResult>,
) -> Result<ToolResult, ToolResult> {
    wait_with_timeout(limit, scope, next).await.map_err(|error| match error {
        WaitError::Cancelled => cancelled_result(),
        WaitError::TimedOut(limit) => timed_out_result(tool, limit),
    })
}

/// Why the wait ended.
pub(crate) enum WaitError {
    Cancelled,
    TimedOut(Duration),
}

/// Waits for `next` until the limit is reached or the scope is cancelled.
pub(crate) async fn wait_with_timeout<T>(
    limit: Option<Duration>,
    scope: &CallScope,
    next: impl Future<Output = T>,
) -> Result<T, WaitError> {
    if scope.is_cancelled() {
        return Err(WaitError::Cancelled);
    }
    let mut next = pin!(next);
    // A future that is ready at once needs no timer.
    if let Poll::Ready(value) = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await {
        return Ok(value);
    }
    let expired = async {
        match limit {
            Some(limit) => {
                sleep(limit).await;
                limit
            }
            None => std::future::pending().await,
        }
    };
    let cancelled = async {
        match &scope.cancel {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        value = next => Ok(value),
        () = cancelled => Err(WaitError::Cancelled),
        limit = expired => Err(WaitError::TimedOut(limit)),
    }
}

pub(crate) fn cancelled_result() -> ToolResult {
    let message = "the call was cancelled".to_owned();
    ToolResult::from_outcome(Outcome::Cancelled, ErrorKind::Failed, message)
}

fn timed_out_result(tool: &RegisteredTool, limit: Duration) -> ToolResult {
    let mut message = format!("timed out after {limit:?}");
    if tool.policy.blocking {
        message.push_str("; it may still be running");
    }
    ToolResult::from_outcome(Outcome::TimedOut, ErrorKind::Failed, message)
}
