//! What the tests share: a registry, an invoker and a call in one line each.

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
pub(crate) fn assert_rejected(result: &ToolResult, said: &[&str]) {
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

/// How often something happened.
#[derive(Clone, Default)]
pub(crate) struct CallCounter(Arc<AtomicUsize>);

impl CallCounter {
    /// Counts once more, and returns how often it was before.
    pub(crate) fn increment(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A tool that returns how often it ran before, and that count.
pub(crate) fn counting_tool(tool: ToolBuilder) -> (Tool, CallCounter) {
    let runs = CallCounter::default();
    let counted = runs.clone();
    let tool = tool
        .run(move |_, _| counted.increment().to_string())
        .unwrap();
    (tool, runs)
}

/// Somebody who decides by a function, and how often they were asked.
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
