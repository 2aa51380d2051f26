//! A tool that takes too long, or that nobody waits for any more, is given up.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::sleep;

use crate::context::Scope;
use crate::error::ErrorKind;
use crate::registry::Entry;
use crate::result::{Outcome, ToolResult};

/// Waits for a tool, but not for ever; `Err` is the result of a call that was given up.
pub(crate) async fn around(
    entry: &Entry,
    limit: Option<Duration>,
    scope: &Scope,
    next: impl Future<Output = ToolResult>,
) -> Result<ToolResult, ToolResult> {
    wait(limit, scope, next).await.map_err(|why| match why {
        GivenUp::Cancelled => cancelled(),
        GivenUp::Expired(limit) => timed_out(entry, limit),
    })
}

/// Why nobody waits any more.
pub(crate) enum GivenUp {
    Cancelled,
    Expired(Duration),
}

/// Waits for `next` until the time is up or the scope is cancelled.
pub(crate) async fn wait<T>(
    limit: Option<Duration>,
    scope: &Scope,
    next: impl Future<Output = T>,
) -> Result<T, GivenUp> {
    if scope
        .cancel
        .as_ref()
        .is_some_and(|token| token.is_cancelled())
    {
        return Err(GivenUp::Cancelled);
    }
    let mut next = pin!(next);
    // What is ready at once is not worth a timer.
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
    let gone = async {
        match &scope.cancel {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        value = next => Ok(value),
        () = gone => Err(GivenUp::Cancelled),
        limit = expired => Err(GivenUp::Expired(limit)),
    }
}

pub(crate) fn cancelled() -> ToolResult {
    let message = "the call was cancelled".to_owned();
    ToolResult::refused(Outcome::Cancelled, ErrorKind::Failed, message)
}

fn timed_out(entry: &Entry, limit: Duration) -> ToolResult {
    let mut message = format!("timed out after {limit:?}");
    if entry.policy.blocking {
        message.push_str("; it may still be running");
    }
    ToolResult::refused(Outcome::TimedOut, ErrorKind::Failed, message)
}
