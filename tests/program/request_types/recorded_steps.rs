//! Recorded steps of each vendor, with results for their calls.
//!
//! The files in `answers` have one frame per line, from the vendors' documentation. The protocols parse them, so that the
//! next request replays the vendors' own items.

use std::fs;
use std::sync::Arc;

use futures::StreamExt as _;
use test_support::real;
use toolwright::chat::{
    Item, ItemKind, Message, ModelEvent, ModelId, ModelRequest, Step, StopReason, Usage,
};
use toolwright::testing::{CannedResponse, CannedTransport};
use toolwright::{Content, ErrorKind, Outcome, ToolCall, ToolResult};

use super::model_over;
use super::tools;

/// The answers, each with its vendor and model.
const ANSWERS: &[(&str, &str, &str)] = &[
    ("openai", "openai", "gpt-5"),
    ("openai-tool-search", "openai", "gpt-5.4"),
    ("openai-custom", "openai", "gpt-5"),
    ("openai-chat", "openai-chat", "gpt-5"),
    ("openai-chat-custom", "openai-chat", "gpt-5"),
    ("refusal", "openai-chat", "gpt-5"),
    ("deepseek", "deepseek", "deepseek-reasoner"),
    ("groq", "groq", "openai/gpt-oss-120b"),
    ("mistral", "mistral", "magistral-medium-latest"),
    ("openrouter", "openrouter", "anthropic/claude-sonnet-4.5"),
    ("vllm", "vllm", "some-model"),
    ("anthropic", "anthropic", "claude-sonnet-4-5"),
    ("anthropic-mcp", "anthropic", "claude-sonnet-4-5"),
    ("anthropic-programs", "anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini", "gemini-3-pro-preview"),
    ("ollama", "ollama", "qwen3"),
];

/// All answers by their names.
pub(crate) async fn steps() -> Vec<(&'static str, Step)> {
    let mut steps = Vec::new();
    for (answer, vendor, model) in ANSWERS {
        steps.push((*answer, step(answer, vendor, model).await));
    }
    steps
}

/// The parsed step of a recorded answer.
async fn step(answer: &str, vendor: &str, model: &str) -> Step {
    let file = format!("tests/program/request_types/answers/{answer}.jsonl");
    let text = fs::read_to_string(real::root().join(&file)).unwrap();
    let frames = text.lines().map(|frame| match vendor {
        "ollama" => format!("{frame}\n"),
        _ => format!("data: {frame}\n\n"),
    });
    let response = CannedResponse::ok(frames.collect::<String>());
    let model = model_over(&CannedTransport::new([response]), vendor, model);
    let mut request = ModelRequest::default();
    request.tools = tools::all();
    if model.tool_deferral().is_some() {
        tools::defer_all(&mut request);
    }
    let mut items = Vec::new();
    let mut finished = None;
    let mut events = model.stream(request);
    while let Some(event) = events.next().await {
        match event.unwrap_or_else(|error| panic!("{file}: {error:?}")) {
            ModelEvent::Item(item) => items.push(item),
            ModelEvent::Finished { stop, usage } => finished = Some((stop, usage)),
            _ => {}
        }
    }
    let (stop, usage) = finished.expect("an answer ends");
    Step::new(model.id().clone(), items, stop, usage)
}

/// A step that no protocol has produced.
pub(crate) fn scripted(items: Vec<Item>) -> Message {
    let id = ModelId::new("script", "");
    Message::Step(Arc::new(Step::new(id, items, StopReason::Calls, Usage::default())))
}

/// A step and a result for each of its calls.
pub(crate) fn answered(step: Step) -> [Message; 2] {
    let outcome = |call: &ToolCall| match call.name.as_str() {
        tools::SEARCH => tools::found(&["get_weather", "tree", "get_weather"]),
        _ => ToolResult::success("Rainy, 22C"),
    };
    let mut results: Vec<ToolResult> =
        step.calls().map(|call| result(call, outcome(call))).collect();
    // Hosted approvals get a result in the same way.
    results.extend(step.items.iter().filter_map(|item| match &item.kind {
        ItemKind::HostedApproval { id, tool, .. } => {
            let call = ToolCall::new(tool.as_str(), "{}").with_id(id.as_str());
            let denied = ToolResult::from_outcome(Outcome::Denied, ErrorKind::Failed, "not today");
            Some(result(&call, denied))
        }
        _ => None,
    }));
    [Message::Step(Arc::new(step)), Message::Results(results)]
}

/// The result of a call.
pub(crate) fn result(call: &ToolCall, mut result: ToolResult) -> ToolResult {
    result.call_id = call.id.clone();
    result.tool = call.name.clone();
    result
}

pub(crate) fn user(text: &str) -> Message {
    Message::User(vec![Content::text(text)])
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(name, arguments).with_id(id)
}
