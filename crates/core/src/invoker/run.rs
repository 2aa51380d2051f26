//! Ready arguments in, a raw result out: whatever a tool does is contained here.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};

use crate::call::context::{CallContext, CallEvent, CallScope, LazyCancellationToken};
use crate::call::result::ToolResult;
use crate::error::ToolError;
use crate::layer::concurrency::{self, Permit};
use crate::layer::{Next, timeout};
use crate::registry::RegisteredTool;
use crate::tool::definition::{PreparedCall, StartedHandler};
use crate::tool::encode::ToolOutput;

/// A tool that was started: most have returned already.
pub(super) enum StartedCall<L> {
    Done(ToolResult),
    Pending(StartedHandler, L),
}

/// Starts a tool; a panic becomes a failure like any other.
///
/// The leave it runs with is passed on to what goes on, and given back by what is done.
pub(super) fn start_catching_panics<L>(
    leave: L,
    run: impl FnOnce() -> Result<StartedHandler, ToolError>,
) -> StartedCall<L> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(StartedHandler::Done(Ok(ToolOutput::Complete(result))))) => StartedCall::Done(result),
        Ok(Ok(StartedHandler::Done(Err(error))) | Err(error)) => StartedCall::Done(error.into()),
        Ok(Ok(running)) => StartedCall::Pending(running, leave),
        Err(panic) => StartedCall::Done(panic_result(panic.as_ref())),
    }
}

/// Runs a tool within its limits.
pub(super) async fn run(
    ready: Box<dyn PreparedCall>,
    entry: &RegisteredTool,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let work = async {
        match start_catching_panics((), || ready.run(cx)) {
            StartedCall::Done(result) => result,
            StartedCall::Pending(running, ()) => await_result(running, cx).await,
        }
    };
    run_cancelling_on_drop(
        entry,
        limit,
        cx,
        concurrency::run_with_permit(entry, cx, work),
    )
    .await
}

/// Goes on with a tool that was started, within its limits.
pub(super) async fn finish_started(
    running: StartedHandler,
    leave: Permit<'_>,
    entry: &RegisteredTool,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let rest = await_result(running, cx);
    match leave {
        Permit::Deferred => {
            run_cancelling_on_drop(
                entry,
                limit,
                cx,
                concurrency::run_with_permit(entry, cx, rest),
            )
            .await
        }
        Permit::Held(_) | Permit::HeldByThread => {
            run_cancelling_on_drop(entry, limit, cx, rest).await
        }
    }
}

async fn run_cancelling_on_drop(
    entry: &RegisteredTool,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
    work: impl Future<Output = ToolResult>,
) -> ToolResult {
    let abandoned = CancelOnDrop(cx.cancel);
    match timeout::run_with_timeout(entry, limit, cx.scope, work).await {
        Ok(result) => {
            // The tool has ended by itself: there is nobody left to tell.
            std::mem::forget(abandoned);
            result
        }
        Err(given_up) => given_up,
    }
}

/// Tells a tool that may go on without us, when this call is given up or dropped.
struct CancelOnDrop<'a>(&'a LazyCancellationToken);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Awaits what a started tool has left to do.
async fn await_result(running: StartedHandler, cx: &CallContext<'_>) -> ToolResult {
    let encoded = match running {
        StartedHandler::Done(encoded) => encoded,
        StartedHandler::Pending(future) => {
            let future = AssertUnwindSafe(CatchDropPanic(Some(future)));
            match future.catch_unwind().await {
                Ok(encoded) => encoded,
                Err(panic) => return panic_result(panic.as_ref()),
            }
        }
    };
    match encoded {
        Ok(ToolOutput::Complete(result)) => result,
        Ok(ToolOutput::Stream(updates)) => {
            let updates = CatchDropPanic(Some(updates));
            let last = AssertUnwindSafe(forward_updates(updates, cx))
                .catch_unwind()
                .await;
            last.unwrap_or_else(|panic| panic_result(panic.as_ref()))
        }
        Err(error) => error.into(),
    }
}

/// Goes through layers, which may do what a tool may: whatever it is, it is contained here.
pub(super) async fn run_layers(next: Next<'_>, scope: &CallScope) -> ToolResult {
    let going = async {
        let going = CatchDropPanic(Some(next.run()));
        going.await
    };
    let going = AssertUnwindSafe(going).catch_unwind();
    match timeout::wait_with_timeout(None, scope, going).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => ToolResult {
            cause: panic_result(panic.as_ref()).cause,
            ..ToolResult::failure("something around the tool panicked")
        },
        Err(_) => timeout::cancelled_result(),
    }
}

/// What a tool or a layer left us, which may panic even when it is dropped.
struct CatchDropPanic<T>(Option<T>);

impl<T> Drop for CatchDropPanic<T> {
    fn drop(&mut self) {
        let left = self.0.take();
        // Nobody waits for it any more: there is no result that could tell.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(left)));
    }
}

impl<F: Future + Unpin> Future for CatchDropPanic<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match &mut self.0 {
            Some(future) => Pin::new(future).poll(cx),
            None => Poll::Pending,
        }
    }
}

/// Passes preliminary results on, and returns the last one.
async fn forward_updates(
    mut updates: CatchDropPanic<BoxStream<'static, Result<ToolResult, ToolError>>>,
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
            result.call_id = cx.call.id.clone();
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
pub(super) fn panic_result(panic: &(dyn std::any::Any + Send)) -> ToolResult {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // What a panic says is for the host: it may show anything the tool had in hand.
    let cause = PanicError(text.unwrap_or_default());
    ToolResult {
        cause: Some(std::sync::Arc::new(cause)),
        ..ToolResult::failure("the tool panicked")
    }
}

/// What a panic said.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
struct PanicError(String);
