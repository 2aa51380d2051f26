//! What the tests share: a registry, an invoker and a call in one line each.

use toolwright::{Bundle, Invoker, Outcome, Registry, Tool, ToolCall, ToolResult};

pub(crate) fn registry(tools: impl Bundle) -> Registry {
    let registry = Registry::new();
    registry.add(tools).unwrap();
    registry
}

pub(crate) fn invoker(tools: impl Bundle) -> Invoker {
    Invoker::new(registry(tools)).unwrap()
}

/// Calls a tool by its own name.
pub(crate) async fn call(tool: Tool, arguments: &str) -> ToolResult {
    let call = ToolCall::new(tool.name(), arguments);
    invoker(tool).invoke(&call).await
}

/// A tool without parameters that returns its own name.
pub(crate) fn named(name: &str) -> Tool {
    let own = name.to_owned();
    Tool::builder(name, "Says its name.")
        .run(move |_, _| own.clone())
        .unwrap()
}

#[track_caller]
pub(crate) fn assert_ok(result: &ToolResult, text: &str) {
    assert_eq!(result.outcome, Outcome::Ok, "{}", result.text());
    assert_eq!(result.text(), text);
}

/// Asserts that the arguments were refused, with all of `said` in the message.
#[track_caller]
pub(crate) fn assert_refused(result: &ToolResult, said: &[&str]) {
    assert_eq!(
        result.outcome,
        Outcome::InvalidArguments,
        "{}",
        result.text()
    );
    for part in said {
        assert!(
            result.text().contains(part),
            "{part:?} in {}",
            result.text()
        );
    }
}
