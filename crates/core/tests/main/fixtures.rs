//! Helpers of the tests: a registry, an invoker and a call in one line each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use toolwright::{
    ApprovalDecision, ApprovalRequest, Approver, Bundle, Invoker, Outcome, Registry, Tool,
    ToolBuilder, ToolCall, ToolResult,
};

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
pub(crate) fn tool_named(name: &str) -> Tool {
    let own = name.to_owned();
    Tool::builder(name, "Says its name.").run(move |_, _| own.clone()).unwrap()
}

#[track_caller]
pub(crate) fn assert_ok(result: &ToolResult, text: &str) {
    assert_eq!(result.outcome, Outcome::Ok, "{}", result.text());
    assert_eq!(result.text(), text);
}

/// Asserts that the arguments were rejected, with all of `expected` in the message.
#[track_caller]
pub(crate) fn assert_rejected(result: &ToolResult, expected: &[&str]) {
    assert_eq!(result.outcome, Outcome::InvalidArguments, "{}", result.text());
    for part in expected {
        assert!(result.text().contains(part), "{part:?} in {}", result.text());
    }
}

/// A shared counter.
#[derive(Clone, Default)]
pub(crate) struct CallCounter(Arc<AtomicUsize>);

impl CallCounter {
    /// Increments the counter and returns the value before.
    pub(crate) fn increment(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A tool that returns the number of its earlier runs, and the counter.
pub(crate) fn counting_tool(tool: ToolBuilder) -> (Tool, CallCounter) {
    let runs = CallCounter::default();
    let counted = runs.clone();
    let tool = tool.run(move |_, _| counted.increment().to_string()).unwrap();
    (tool, runs)
}

/// An approver made of a function, and the number of its decisions.
pub(crate) struct FnApprover<F> {
    decide: F,
    asked: CallCounter,
}

impl<F: Fn(ApprovalRequest<'_>) -> ApprovalDecision> FnApprover<F> {
    pub(crate) fn new(decide: F) -> (Self, CallCounter) {
        let asked = CallCounter::default();
        let counted = asked.clone();
        (Self { decide, asked }, counted)
    }
}

impl<F: Fn(ApprovalRequest<'_>) -> ApprovalDecision + Send + Sync> Approver for FnApprover<F> {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        self.asked.increment();
        Box::pin(std::future::ready((self.decide)(request)))
    }
}
