//! Only so many calls of one tool run at once; the others wait their turn.

use std::future::Future;
use std::sync::Arc;

use crate::context::CallContext;
use crate::result::ToolResult;
use crate::tool::Tool;

/// Waits for a permit of the tool, then for `next`.
pub(in crate::invoke) async fn around(
    tool: &Tool,
    cx: &CallContext<'_>,
    next: impl Future<Output = ToolResult>,
) -> ToolResult {
    let permits = &tool.0.permits;
    if tool.0.options.blocking {
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
