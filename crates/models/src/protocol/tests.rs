//! Helpers of the protocols' unit tests.

use std::sync::Arc;

use toolwright_chat::{Item, ItemKind, ModelError, ModelEvent, StopReason, Usage};
use toolwright_core::ToolCall;
use toolwright_core::wire::{ToolPlan, ToolPlanner, import_definitions};

use super::Protocol;

/// The plan for tools in any known JSON format.
pub(super) fn plan_tools(protocol: &impl Protocol, definitions: &str) -> Arc<ToolPlan> {
    let tools = import_definitions(definitions).unwrap().into_iter();
    let tools: Vec<_> = tools.map(Result::unwrap).collect();
    let planner = ToolPlanner::new(protocol.dialect()).shape(protocol.tool_shape());
    Arc::new(planner.plan(&tools))
}

/// Parses the frames of a complete response, each with its event's name.
pub(super) fn parse_response<'a>(
    protocol: &impl Protocol,
    plan: Arc<ToolPlan>,
    frames: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<ModelEvent>, ModelError> {
    let mut parser = protocol.parser(plan);
    let mut events = Vec::new();
    for (name, data) in frames {
        events.extend(parser.parse_frame(name, data)?);
    }
    events.extend(parser.end_of_stream()?);
    Ok(events)
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
