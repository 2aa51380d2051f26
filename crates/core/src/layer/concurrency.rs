//! Only so many calls of one tool run at once; the others wait their turn.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::SemaphorePermit;

use crate::context::CallContext;
use crate::registry::Entry;
use crate::result::ToolResult;

/// Leave to run, for as long as it is held; a blocking tool's thread holds its own.
pub(crate) struct Leave<'a>(#[expect(dead_code, reason = "held")] Option<SemaphorePermit<'a>>);

/// Takes a permit of the tool if one is free.
pub(crate) fn at_once<'a>(entry: &'a Entry, cx: &CallContext<'_>) -> Option<Leave<'a>> {
    let permits = &entry.permits;
    if entry.policy.blocking {
        cx.permit.put(Arc::clone(permits).try_acquire_owned().ok()?);
        return Some(Leave(None));
    }
    permits.try_acquire().ok().map(Some).map(Leave)
}

/// Waits for a permit of the tool, then for `next`.
pub(crate) async fn around(
    entry: &Entry,
    cx: &CallContext<'_>,
    next: impl Future<Output = ToolResult>,
) -> ToolResult {
    let permits = &entry.permits;
    if entry.policy.blocking {
        // The thread takes it along, and gives it back when it really ends.
        if let Ok(permit) = Arc::clone(permits).acquire_owned().await {
            cx.permit.put(permit);
        }
        return next.await;
    }
    // Never closed, so never refused.
    let _permit = permits.acquire().await;
    next.await
}
