//! Ready arguments in, a raw result out: whatever a tool does is contained here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};

use super::layer::{concurrency, timeout};
use crate::context::{CallContext, CallEvent, CancelSlot};
use crate::define::{Ready, Running};
use crate::encode::Encoded;
use crate::error::ToolError;
use crate::result::ToolResult;
use crate::tool::Tool;

/// Runs a tool within its limits.
pub(super) async fn run(
    ready: Box<dyn Ready>,
    tool: &Tool,
    limit: Option<Duration>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let abandoned = Abandoned(cx.cancel);
    let work = concurrency::around(tool, cx, contained(ready, cx));
    match timeout::around(tool, limit, cx.scope, work).await {
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

/// Runs the function; a panic becomes a failure like any other.
async fn contained(ready: Box<dyn Ready>, cx: &CallContext<'_>) -> ToolResult {
    let started = catch_unwind(AssertUnwindSafe(|| ready.run(cx)));
    let encoded = match started {
        Err(panic) => return panicked(panic.as_ref()),
        Ok(Err(error)) => return error.into(),
        Ok(Ok(Running::Done(encoded))) => encoded,
        Ok(Ok(Running::Later(future))) => match AssertUnwindSafe(future).catch_unwind().await {
            Ok(encoded) => encoded,
            Err(panic) => return panicked(panic.as_ref()),
        },
    };
    match encoded {
        Ok(Encoded::Now(result)) => result,
        Ok(Encoded::Stream(updates)) => {
            let last = AssertUnwindSafe(last_of(updates, cx)).catch_unwind().await;
            last.unwrap_or_else(|panic| panicked(panic.as_ref()))
        }
        Err(error) => error.into(),
    }
}

/// Passes preliminary results on, and returns the last one.
async fn last_of(
    mut updates: futures::stream::BoxStream<'static, Result<ToolResult, ToolError>>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let mut last = None;
    while let Some(update) = updates.next().await {
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
