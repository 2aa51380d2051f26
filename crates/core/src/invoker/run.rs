//! Runs a tool within its limits; panics of tools and layers become failed results.

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

/// A tool that was started; most return at once.
pub(super) enum StartedCall<L> {
    Done(ToolResult),
    Pending(StartedHandler, L),
}

/// Starts a tool; a panic becomes a failed result.
///
/// The permit is dropped if the tool has returned, and kept with a pending one.
pub(super) fn start_catching_panics<L>(
    permit: L,
    run: impl FnOnce() -> Result<StartedHandler, ToolError>,
) -> StartedCall<L> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(StartedHandler::Done(Ok(ToolOutput::Complete(result))))) => StartedCall::Done(result),
        Ok(Ok(StartedHandler::Done(Err(error))) | Err(error)) => StartedCall::Done(error.into()),
        Ok(Ok(handler)) => StartedCall::Pending(handler, permit),
        Err(panic) => StartedCall::Done(panic_result(panic.as_ref())),
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
            StartedCall::Pending(handler, ()) => await_result(handler, cx).await,
        }
    };
    run_cancelling_on_drop(tool, limit, cx, concurrency::run_with_permit(tool, cx, work)).await
}

/// Awaits a tool that was started, within its limits.
pub(super) async fn finish_started(
    handler: StartedHandler,
    permit: Permit<'_>,
    tool: &RegisteredTool,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let rest = await_result(handler, cx);
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
    match timeout::run_with_timeout(tool, limit, cx.scope, work).await {
        Ok(result) => {
            // The tool has returned: there is nothing to cancel.
            std::mem::forget(cancel_guard);
            result
        }
        Err(result) => result,
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
async fn await_result(handler: StartedHandler, cx: &CallContext<'_>) -> ToolResult {
    let output = match handler {
        StartedHandler::Done(output) => output,
        StartedHandler::Pending(future) => {
            let future = AssertUnwindSafe(CatchDropPanic(Some(future)));
            match future.catch_unwind().await {
                Ok(output) => output,
                Err(panic) => return panic_result(panic.as_ref()),
            }
        }
    };
    match output {
        Ok(ToolOutput::Complete(result)) => result,
        Ok(ToolOutput::Stream(updates)) => {
            let updates = CatchDropPanic(Some(updates));
            let last = AssertUnwindSafe(forward_updates(updates, cx)).catch_unwind().await;
            last.unwrap_or_else(|panic| panic_result(panic.as_ref()))
        }
        Err(error) => error.into(),
    }
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
