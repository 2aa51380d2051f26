//! Only so many calls of one tool run at once; the others wait their turn.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::SemaphorePermit;

use crate::call::context::CallContext;
use crate::call::result::ToolResult;
use crate::registry::RegisteredTool;
use crate::tool::policy::DEFAULT_CONCURRENCY;

/// Leave to run.
pub(crate) enum Permit<'a> {
    /// For as long as it is held.
    Held(#[expect(dead_code, reason = "held, not looked at")] SemaphorePermit<'a>),
    /// Held by a thread of the tool's own.
    HeldByThread,
    /// To be waited for by what does not return at once: only that can pile up.
    Deferred,
}

/// Takes a permit of the tool if it needs one now and one is free.
pub(crate) fn try_acquire<'a>(
    entry: &'a RegisteredTool,
    cx: &CallContext<'_>,
) -> Option<Permit<'a>> {
    let permits = &entry.permits;
    if entry.policy.blocking {
        cx.blocking_permit
            .put(Arc::clone(permits).try_acquire_owned().ok()?);
        return Some(Permit::HeldByThread);
    }
    if entry.policy.concurrency == DEFAULT_CONCURRENCY {
        return Some(Permit::Deferred);
    }
    permits.try_acquire().ok().map(Permit::Held)
}

/// Waits for a permit of the tool, then for `next`.
pub(crate) async fn run_with_permit(
    entry: &RegisteredTool,
    cx: &CallContext<'_>,
    next: impl Future<Output = ToolResult>,
) -> ToolResult {
    let permits = &entry.permits;
    if entry.policy.blocking {
        // The thread takes it along, and gives it back when it really ends.
        if let Ok(permit) = Arc::clone(permits).acquire_owned().await {
            cx.blocking_permit.put(permit);
        }
        return next.await;
    }
    // Never closed, so never refused.
    let _permit = permits.acquire().await;
    next.await
}
