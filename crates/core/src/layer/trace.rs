//! One span per call, named by the OpenTelemetry conventions for tool calls.

use std::future::Future;

use tracing::{Instrument as _, Level, field, span};

use crate::call::ToolCall;
use crate::call::result::ToolResult;

/// Returns true if a subscriber records spans.
pub(crate) fn is_enabled() -> bool {
    tracing::enabled!(Level::INFO)
}

/// Runs the call in a span; records arguments and result only if `content` is true.
pub(crate) async fn run_in_span(
    call: &ToolCall,
    content: bool,
    next: impl Future<Output = ToolResult>,
) -> ToolResult {
    let span = span!(
        Level::INFO,
        "execute_tool",
        otel.name = format!("execute_tool {}", call.name),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name.as_str(),
        gen_ai.tool.call.id = call.id.as_str(),
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.arguments = field::Empty,
        gen_ai.tool.call.result = field::Empty,
        outcome = field::Empty,
        error.r#type = field::Empty,
    );
    if content {
        span.record("gen_ai.tool.call.arguments", call.arguments.as_str());
    }
    let result = next.instrument(span.clone()).await;
    span.record("outcome", field::display(result.outcome));
    if result.is_error() {
        span.record("error.type", field::display(result.outcome));
    }
    if content {
        span.record("gen_ai.tool.call.result", &*result.text());
    }
    if let Some(cause) = &result.cause {
        let cause = toolwright_schema::redact(&cause.to_string()).into_owned();
        span.in_scope(|| tracing::warn!(cause, "tool failed"));
    }
    result
}
