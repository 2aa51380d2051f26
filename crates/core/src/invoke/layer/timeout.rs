//! A tool that takes too long, or that nobody waits for any more, is given up.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::sleep;

use crate::context::Scope;
use crate::error::ErrorKind;
use crate::result::{Outcome, ToolResult};
use crate::tool::Tool;

/// Waits for `next`, but not for ever; `Err` is the result of a call that was given up.
pub(in crate::invoke) async fn around(
    tool: &Tool,
    limit: Option<Duration>,
    scope: &Scope,
    next: impl Future<Output = ToolResult>,
) -> Result<ToolResult, ToolResult> {
    if scope
        .cancel
        .as_ref()
        .is_some_and(|token| token.is_cancelled())
    {
        return Err(cancelled());
    }
    let mut next = pin!(next);
    // Most tools return at once: only those that do not are worth a timer.
    if let Poll::Ready(result) = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await {
        return Ok(result);
    }
    let expired = async {
        match limit {
            Some(limit) => sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let gone = async {
        match &scope.cancel {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        result = next => Ok(result),
        () = gone => Err(cancelled()),
        () = expired => Err(timed_out(tool, limit.unwrap_or_default())),
    }
}

pub(in crate::invoke) fn cancelled() -> ToolResult {
    let message = "the call was cancelled".to_owned();
    ToolResult::refused(Outcome::Cancelled, ErrorKind::Failed, message)
}

fn timed_out(tool: &Tool, limit: Duration) -> ToolResult {
    let mut message = format!("timed out after {limit:?}");
    if tool.0.options.blocking {
        message.push_str("; it may still be running");
    }
    ToolResult::refused(Outcome::TimedOut, ErrorKind::Failed, message)
}
