//! What has been said before: steps as each vendor streams them, and what their calls came to.
//!
//! The files in `answers` hold one frame per line, as the vendors' own documents show them. They are read by the protocols
//! themselves, so that what goes back is what would go back.

use std::fs;
use std::sync::Arc;

use futures::StreamExt as _;
use toolwright::chat::{
    Item, ItemKind, Message, ModelEvent, ModelId, ModelRequest, Step, StopReason, Usage,
};
use toolwright::{Content, ErrorKind, Outcome, ToolCall, ToolResult};

use crate::line::RecordingTransport;
use crate::real;
use crate::tools;

/// The answers, each with a vendor and a model that would give it.
const ANSWERS: &[(&str, &str, &str)] = &[
    ("openai", "openai", "gpt-5"),
    ("openai-chat", "openai-chat", "gpt-5"),
    ("refusal", "openai-chat", "gpt-5"),
    ("deepseek", "deepseek", "deepseek-reasoner"),
    ("groq", "groq", "openai/gpt-oss-120b"),
    ("mistral", "mistral", "magistral-medium-latest"),
    ("openrouter", "openrouter", "anthropic/claude-sonnet-4.5"),
    ("vllm", "vllm", "some-model"),
    ("anthropic", "anthropic", "claude-sonnet-4-5"),
    ("anthropic-mcp", "anthropic", "claude-sonnet-4-5"),
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

/// An answer as its vendor streams it, read back.
async fn step(answer: &str, vendor: &str, model: &str) -> Step {
    let file = format!("tests/request_types/answers/{answer}.jsonl");
    let text = fs::read_to_string(real::root().join(&file)).unwrap();
    let frames = text.lines().map(|frame| match vendor {
        "ollama" => format!("{frame}\n"),
        _ => format!("data: {frame}\n\n"),
    });
    let model = RecordingTransport::answering(frames.collect()).model(vendor, model);
    let mut request = ModelRequest::default();
    request.tools = tools::all();
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

/// A step that nobody's protocol wrote.
pub(crate) fn scripted(items: Vec<Item>) -> Message {
    let id = ModelId::new("script", "");
    Message::Step(Arc::new(Step::new(
        id,
        items,
        StopReason::Calls,
        Usage::default(),
    )))
}

/// A step and a result for each of its calls.
pub(crate) fn answered(step: Step) -> [Message; 2] {
    let mut results: Vec<ToolResult> = step
        .calls()
        .map(|call| result(call, ToolResult::success("Rainy, 22C")))
        .collect();
    // Whoever asks for approval is answered in the same way.
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

/// What a call came to.
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
