//! What the tests share: a registry whose calls are all approved, and calls by name.

use serde_json::Value;
use toolwright_core::{CallEvent, CallScope, Invoker, Registry, ToolCall, ToolResult};

/// Calls a tool without a caller.
pub(crate) async fn call(registry: &Registry, tool: &str, arguments: Value) -> ToolResult {
    call_in(registry, &CallScope::new(), tool, arguments).await
}

/// Calls a tool within a scope.
pub(crate) async fn call_in(
    registry: &Registry,
    scope: &CallScope,
    tool: &str,
    arguments: Value,
) -> ToolResult {
    let invoker = Invoker::new(registry).unwrap();
    invoker.invoke_in(scope, &ToolCall::new(tool, &arguments)).await
}

/// A scope that records progress.
pub(crate) fn scope_with_events() -> (CallScope, std::sync::mpsc::Receiver<CallEvent>) {
    let (heard, events) = std::sync::mpsc::channel();
    let scope = CallScope::new().on_event(move |event| drop(heard.send(event)));
    (scope, events)
}

/// The names of all tools, in order.
pub(crate) fn names(registry: &Registry) -> Vec<String> {
    let snapshot = registry.snapshot();
    snapshot.iter().map(|entry| entry.spec().name.to_string()).collect()
}
