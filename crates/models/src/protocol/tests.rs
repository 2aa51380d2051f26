//! Helpers of the protocols' unit tests, and one error in all protocols.

use std::sync::Arc;

use toolwright_chat::{Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::{ToolPlan, ToolPlanner, import_definitions};

use super::Protocol;
use super::anthropic::Anthropic;
use super::gemini::Gemini;
use super::ollama::Ollama;
use super::openai_chat::{OpenAiChat, Quirks};
use super::openai_responses::OpenAiResponses;

/// The plan for tools in any known JSON format.
pub(super) fn plan_tools(protocol: &impl Protocol, definitions: &str) -> Arc<ToolPlan> {
    let tools = import_definitions(definitions).unwrap().into_iter();
    let tools: Vec<_> = tools.map(Result::unwrap).collect();
    let planner = ToolPlanner::new(protocol.dialect()).shape(protocol.tool_shape());
    let planner = planner.custom_tools(protocol.supports_custom_tools("gpt-5"));
    Arc::new(planner.plan(&tools))
}

/// Parses the frames of a complete response, each with its event's name.
pub(super) fn parse_response<'a>(
    protocol: &impl Protocol,
    plan: Arc<ToolPlan>,
    frames: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<ModelEvent>, ModelError> {
    let mut parser = protocol.parser(plan);
    for (name, data) in frames {
        parser.parse_frame(name, data)?;
    }
    parser.end_of_stream()?;
    Ok(std::mem::take(parser.events()))
}

pub(super) fn items(events: &[ModelEvent]) -> Vec<Item> {
    let items = events.iter().filter_map(|event| match event {
        ModelEvent::Item(item) => Some(item.clone()),
        _ => None,
    });
    items.collect()
}

pub(super) fn kinds(events: &[ModelEvent]) -> Vec<ItemKind> {
    items(events).into_iter().map(|item| item.kind).collect()
}

pub(super) fn calls(events: &[ModelEvent]) -> Vec<ToolCall> {
    let calls = kinds(events).into_iter().filter_map(|kind| match kind {
        ItemKind::Call { call } => Some(call),
        _ => None,
    });
    calls.collect()
}

pub(super) fn finished(events: &[ModelEvent]) -> (StopReason, Usage) {
    match events.last() {
        Some(ModelEvent::Finished { stop, usage }) => (stop.clone(), *usage),
        other => panic!("the last event is {other:?}"),
    }
}

#[test]
fn status_504_is_a_timeout_in_every_protocol() {
    let chat = OpenAiChat { vendor: "openai-chat", quirks: Quirks::OPENAI };
    let body = r#"{"error":{"message":"upstream timed out","code":"server_error"}}"#;
    for body in ["", "<html>Gateway Timeout</html>", body] {
        for error in [
            OpenAiResponses.parse_error(504, body),
            chat.parse_error(504, body),
            Anthropic.parse_error(504, body),
            Gemini.parse_error(504, body),
            Ollama.parse_error(504, body),
        ] {
            assert_eq!(error.kind, ModelErrorKind::Timeout, "{error}");
        }
    }
}
