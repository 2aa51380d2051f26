//! Helpers that call a tool with argument text.

use serde_json::Value;
use toolwright::{Bundle, Invoker, InvokerBuilder, Registry, Tool, ToolCall, ToolResult};

/// A registry of one bundle.
pub(crate) fn registry(bundle: impl Bundle) -> Registry {
    let registry = Registry::new();
    registry.add(bundle).unwrap();
    registry
}

/// Calls one tool of a bundle.
pub(crate) async fn call(bundle: impl Bundle, name: &str, arguments: Value) -> ToolResult {
    call_with(bundle, |builder| builder, name, arguments).await
}

/// Calls one tool of a bundle, with a configured invoker.
pub(crate) async fn call_with(
    bundle: impl Bundle,
    set_up: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
    name: &str,
    arguments: Value,
) -> ToolResult {
    let invoker = set_up(Invoker::builder(registry(bundle))).build().unwrap();
    invoker.invoke(&ToolCall::new(name, arguments.to_string())).await
}

/// The text of a call that must succeed.
pub(crate) async fn text(bundle: impl Bundle, name: &str, arguments: Value) -> String {
    let result = call(bundle, name, arguments).await;
    assert!(!result.is_error(), "{result:?}");
    result.text().into_owned()
}

/// The published schema of one parameter.
pub(crate) fn published(tool: &Tool, parameter: &str) -> Value {
    let properties = &tool.spec().input.as_value()["properties"];
    properties[parameter].clone()
}

/// The names of the required parameters.
pub(crate) fn required(tool: &Tool) -> Vec<String> {
    let params = tool.params().into_iter();
    let required = params.filter(|param| param.required);
    required.map(|param| param.name).collect()
}
