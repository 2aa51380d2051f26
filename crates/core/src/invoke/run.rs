//! Ready arguments in, a raw result out: whatever a tool does is contained here.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};

use crate::context::{CallContext, CallEvent, CancelSlot, Scope};
use crate::define::{Ready, Running};
use crate::encode::Encoded;
use crate::error::ToolError;
use crate::layer::concurrency::{self, Leave};
use crate::layer::{Next, timeout};
use crate::registry::Entry;
use crate::result::ToolResult;

/// A tool that was started: most have returned already.
pub(super) enum Started<L> {
    Done(ToolResult),
    GoesOn(Running, L),
}

/// Starts a tool; a panic becomes a failure like any other.
///
/// The leave it runs with is passed on to what goes on, and given back by what is done.
pub(super) fn start<L>(leave: L, run: impl FnOnce() -> Result<Running, ToolError>) -> Started<L> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(Running::Done(Ok(Encoded::Now(result))))) => Started::Done(result),
        Ok(Ok(Running::Done(Err(error))) | Err(error)) => Started::Done(error.into()),
        Ok(Ok(running)) => Started::GoesOn(running, leave),
        Err(panic) => Started::Done(panicked(panic.as_ref())),
    }
}

/// Runs a tool within its limits.
pub(super) async fn run(
    ready: Box<dyn Ready>,
    entry: &Entry,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let work = async {
        match start((), || ready.run(cx)) {
            Started::Done(result) => result,
            Started::GoesOn(running, ()) => rest(running, cx).await,
        }
    };
    within(entry, limit, cx, concurrency::around(entry, cx, work)).await
}

/// Goes on with a tool that was started, within its limits.
pub(super) async fn go_on(
    running: Running,
    leave: Leave<'_>,
    entry: &Entry,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let rest = rest(running, cx);
    match leave {
        Leave::NotYet => within(entry, limit, cx, concurrency::around(entry, cx, rest)).await,
        Leave::Held(_) | Leave::WithThread => within(entry, limit, cx, rest).await,
    }
}

async fn within(
    entry: &Entry,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
    work: impl Future<Output = ToolResult>,
) -> ToolResult {
    let abandoned = Abandoned(cx.cancel);
    match timeout::around(entry, limit, cx.scope, work).await {
        Ok(result) => {
            // The tool has ended by itself: there is nobody left to tell.
            std::mem::forget(abandoned);
            result
        }
        Err(given_up) => given_up,
    }
}

/// Tells a tool that may go on without us, when this call is given up or dropped.
struct Abandoned<'a>(&'a CancelSlot);

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Awaits what a started tool has left to do.
async fn rest(running: Running, cx: &CallContext<'_>) -> ToolResult {
    let encoded = match running {
        Running::Done(encoded) => encoded,
        Running::Later(future) => {
            let future = AssertUnwindSafe(Contained(Some(future)));
            match future.catch_unwind().await {
                Ok(encoded) => encoded,
                Err(panic) => return panicked(panic.as_ref()),
            }
        }
    };
    match encoded {
        Ok(Encoded::Now(result)) => result,
        Ok(Encoded::Stream(updates)) => {
            let updates = Contained(Some(updates));
            let last = AssertUnwindSafe(last_of(updates, cx)).catch_unwind().await;
            last.unwrap_or_else(|panic| panicked(panic.as_ref()))
        }
        Err(error) => error.into(),
    }
}

/// Goes through layers, which may do what a tool may: whatever it is, it is contained here.
pub(super) async fn through(next: Next<'_>, scope: &Scope) -> ToolResult {
    let going = async {
        let going = Contained(Some(next.run()));
        going.await
    };
    let going = AssertUnwindSafe(going).catch_unwind();
    match timeout::wait(None, scope, going).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => ToolResult {
            cause: panicked(panic.as_ref()).cause,
            ..ToolResult::failure("something around the tool panicked")
        },
        Err(_) => timeout::cancelled(),
    }
}

/// What a tool or a layer left us, which may panic even when it is dropped.
struct Contained<T>(Option<T>);

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        let left = self.0.take();
        // Nobody waits for it any more: there is no result that could tell.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(left)));
    }
}

impl<F: Future + Unpin> Future for Contained<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match &mut self.0 {
            Some(future) => Pin::new(future).poll(cx),
            None => Poll::Pending,
        }
    }
}

/// Passes preliminary results on, and returns the last one.
async fn last_of(
    mut updates: Contained<BoxStream<'static, Result<ToolResult, ToolError>>>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let mut last = None;
    while let Some(updates) = &mut updates.0
        && let Some(update) = updates.next().await
    {
        let result = match update {
            Ok(result) => result,
            Err(error) => return error.into(),
        };
        if let (Some(listener), Some(mut result)) = (&cx.scope.listener, last.replace(result)) {
            result.call = cx.call.id.clone();
            result.tool = cx.call.name.clone();
            listener(CallEvent::Update {
                call: cx.call.id.clone(),
                result,
            });
        }
    }
    last.unwrap_or_else(|| ToolResult::failure("the tool ended without a result"))
}

#[cold]
pub(super) fn panicked(panic: &(dyn std::any::Any + Send)) -> ToolResult {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // What a panic says is for the host: it may show anything the tool had in hand.
    let cause = Panic(text.unwrap_or_default());
    ToolResult {
        cause: Some(std::sync::Arc::new(cause)),
        ..ToolResult::failure("the tool panicked")
    }
}

/// What a panic said.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
struct Panic(String);
