//! Limits the concurrent calls of one tool; further calls wait.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::SemaphorePermit;

use crate::call::context::CallContext;
use crate::call::result::ToolResult;
use crate::registry::RegisteredTool;
use crate::tool::policy::DEFAULT_CONCURRENCY;

/// The permission to start a call.
pub(crate) enum Permit<'a> {
    /// A permit, released on drop.
    Held(#[expect(dead_code, reason = "held until dropped")] SemaphorePermit<'a>),
    /// The permit is held by the thread of a blocking tool.
    HeldByThread,
    /// Acquired later, if the tool does not return at once: only pending calls can pile up.
    Deferred,
}

/// Acquires a permit of the tool without waiting; `None` if none is free.
pub(crate) fn try_acquire<'a>(
    tool: &'a RegisteredTool,
    cx: &CallContext<'_>,
) -> Option<Permit<'a>> {
    let permits = &tool.permits;
    if tool.policy.blocking {
        cx.run.blocking_permit.put(Arc::clone(permits).try_acquire_owned().ok()?);
        return Some(Permit::HeldByThread);
    }
    if tool.policy.concurrency == DEFAULT_CONCURRENCY {
        return Some(Permit::Deferred);
    }
    permits.try_acquire().ok().map(Permit::Held)
}

/// Waits for a permit of the tool, then runs `next`.
pub(crate) async fn run_with_permit(
    tool: &RegisteredTool,
    cx: &CallContext<'_>,
    next: impl Future<Output = ToolResult>,
) -> ToolResult {
    let permits = &tool.permits;
    if tool.policy.blocking {
        // Moved to the thread, which releases it at its end.
        if let Ok(permit) = Arc::clone(permits).acquire_owned().await {
            cx.run.blocking_permit.put(permit);
        }
        return next.await;
    }
    // The semaphore is never closed, so this cannot fail.
    let _permit = permits.acquire().await;
    next.await
}
