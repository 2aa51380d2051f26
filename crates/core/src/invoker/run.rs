//! Runs a tool within its limits; panics of tools and layers become failed results.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
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

/// A tool that was started; most return at once.
pub(super) enum StartedCall<L> {
    Done(ToolResult),
    Pending(PendingOutput, L),
}

/// The output of a tool that has not returned.
pub(super) enum PendingOutput {
    Future(BoxFuture<'static, Result<ToolOutput, ToolError>>),
    Stream(BoxStream<'static, Result<ToolResult, ToolError>>),
}

/// Starts a tool; a panic becomes a failed result.
///
/// The permit is dropped if the tool has returned, and kept with a pending one.
pub(super) fn start_catching_panics<L>(
    permit: L,
    run: impl FnOnce() -> Result<StartedHandler, ToolError>,
) -> StartedCall<L> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(StartedHandler::Done(output))) => StartedCall::from_output(output, permit),
        Ok(Ok(StartedHandler::Pending(future))) => {
            StartedCall::Pending(PendingOutput::Future(future), permit)
        }
        Ok(Err(error)) => StartedCall::Done(error.into()),
        Err(panic) => StartedCall::Done(panic_result(panic.as_ref())),
    }
}

impl<L> StartedCall<L> {
    fn from_output(output: Result<ToolOutput, ToolError>, permit: L) -> Self {
        match output {
            Ok(ToolOutput::Complete(result)) => Self::Done(result),
            Ok(ToolOutput::Stream(updates)) => {
                Self::Pending(PendingOutput::Stream(updates), permit)
            }
            Err(error) => Self::Done(error.into()),
        }
    }
}

/// Runs a tool within its limits.
pub(super) async fn run(
    prepared: Box<dyn PreparedCall>,
    tool: &RegisteredTool,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let work = async {
        match start_catching_panics((), || prepared.run(cx)) {
            StartedCall::Done(result) => result,
            StartedCall::Pending(output, ()) => await_result(output, cx).await,
        }
    };
    run_cancelling_on_drop(tool, limit, cx, concurrency::run_with_permit(tool, cx, work)).await
}

/// Polls a tool that was started once: most async tools are ready then, and need no timer and no box around it.
///
/// A tool without a permit is polled only if one is free.
pub(super) async fn poll_started<'a>(
    output: PendingOutput,
    permit: Permit<'a>,
    tool: &'a RegisteredTool,
) -> StartedCall<Permit<'a>> {
    let PendingOutput::Future(future) = output else {
        return StartedCall::Pending(output, permit);
    };
    let permit = match permit {
        Permit::Deferred => match tool.permits.try_acquire() {
            Ok(permit) => Permit::Held(permit),
            Err(_) => return StartedCall::Pending(PendingOutput::Future(future), permit),
        },
        permit => permit,
    };
    let mut future = CatchDropPanic(Some(future));
    let poll = poll_fn(|task| {
        let poll = || Pin::new(&mut future).poll(task);
        Poll::Ready(catch_unwind(AssertUnwindSafe(poll)))
    });
    match poll.await {
        Ok(Poll::Ready(output)) => StartedCall::from_output(output, permit),
        Ok(Poll::Pending) => match future.0.take() {
            Some(future) => StartedCall::Pending(PendingOutput::Future(future), permit),
            None => unreachable!("taken only when it is dropped"),
        },
        Err(panic) => StartedCall::Done(panic_result(panic.as_ref())),
    }
}

/// Awaits a tool that was started, within its limits.
pub(super) async fn finish_started(
    output: PendingOutput,
    permit: Permit<'_>,
    tool: &RegisteredTool,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let rest = await_result(output, cx);
    match permit {
        Permit::Deferred => {
            run_cancelling_on_drop(tool, limit, cx, concurrency::run_with_permit(tool, cx, rest))
                .await
        }
        Permit::Held(_) | Permit::HeldByThread => {
            run_cancelling_on_drop(tool, limit, cx, rest).await
        }
    }
}

async fn run_cancelling_on_drop(
    tool: &RegisteredTool,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
    work: impl Future<Output = ToolResult>,
) -> ToolResult {
    let cancel_guard = CancelOnDrop(&cx.run.cancel);
    let mut work = std::pin::pin!(work);
    match timeout::run_with_timeout(tool, limit, cx.scope, work.as_mut()).await {
        Ok(result) => {
            // The tool has returned: there is nothing to cancel.
            std::mem::forget(cancel_guard);
            result
        }
        Err(result) => {
            // Before the future is dropped, which may have to know that nobody runs the call again.
            cx.run.cancel.cancel();
            result
        }
    }
}

/// Cancels a tool that may still run on its own thread when the call times out or is dropped.
struct CancelOnDrop<'a>(&'a LazyCancellationToken);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Awaits the future of a started tool and the stream it may return.
async fn await_result(output: PendingOutput, cx: &CallContext<'_>) -> ToolResult {
    let updates = match output {
        PendingOutput::Stream(updates) => updates,
        PendingOutput::Future(future) => {
            let future = AssertUnwindSafe(CatchDropPanic(Some(future)));
            match future.catch_unwind().await {
                Ok(Ok(ToolOutput::Complete(result))) => return result,
                Ok(Ok(ToolOutput::Stream(updates))) => updates,
                Ok(Err(error)) => return error.into(),
                Err(panic) => return panic_result(panic.as_ref()),
            }
        }
    };
    let updates = CatchDropPanic(Some(updates));
    let last = AssertUnwindSafe(forward_updates(updates, cx)).catch_unwind().await;
    last.unwrap_or_else(|panic| panic_result(panic.as_ref()))
}

/// Runs layers, whose panics become failed results too.
pub(super) async fn run_layers(next: Next<'_>, scope: &CallScope) -> ToolResult {
    let run = async { CatchDropPanic(Some(next.run())).await };
    let run = AssertUnwindSafe(run).catch_unwind();
    match timeout::wait_with_timeout(None, scope, run).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => ToolResult {
            cause: panic_result(panic.as_ref()).cause,
            ..ToolResult::failure("something around the tool panicked")
        },
        Err(_) => timeout::cancelled_result(),
    }
}

/// A future or stream of a tool or layer, which may panic even when it is dropped.
struct CatchDropPanic<T>(Option<T>);

impl<T> Drop for CatchDropPanic<T> {
    fn drop(&mut self) {
        let inner = self.0.take();
        // The call has its result already, or was dropped: there is no result to report the panic in.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(inner)));
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

/// Sends preliminary results to the listener, and returns the last one.
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
        if let (Some(listener), Some(result)) = (&cx.scope.listener, last.replace(result)) {
            listener(CallEvent::Update {
                call_id: cx.call.id.clone(),
                result: result.for_call(&cx.call.id, &cx.call.name),
            });
        }
    }
    last.unwrap_or_else(|| ToolResult::failure("the tool ended without a result"))
}

#[cold]
pub(super) fn panic_result(panic: &(dyn std::any::Any + Send)) -> ToolResult {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // The message of a panic is for the host only: it may contain anything.
    let cause = PanicError(text.unwrap_or_default());
    ToolResult {
        cause: Some(std::sync::Arc::new(cause)),
        ..ToolResult::failure("the tool panicked")
    }
}

/// The message of a panic.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
struct PanicError(String);
