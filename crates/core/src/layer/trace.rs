//! One span per call, under the names that OpenTelemetry gives to tool calls.

use std::future::Future;

use tracing::{Instrument as _, Level, field, span};

use crate::call::ToolCall;
use crate::result::ToolResult;

/// Tells whether anybody listens.
pub(crate) fn is_wanted() -> bool {
    tracing::enabled!(Level::INFO)
}

/// Runs the call in a span; arguments and results are not in it.
pub(crate) async fn around(call: &ToolCall, next: impl Future<Output = ToolResult>) -> ToolResult {
    let span = span!(
        Level::INFO,
        "execute_tool",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name.as_str(),
        gen_ai.tool.call.id = call.id.as_str(),
        outcome = field::Empty,
    );
    let result = next.instrument(span.clone()).await;
    span.record("outcome", field::display(result.outcome));
    if let Some(cause) = &result.cause {
        let cause = toolwright_schema::redact(&cause.to_string()).into_owned();
        span.in_scope(|| tracing::warn!(cause, "tool failed"));
    }
    result
}
