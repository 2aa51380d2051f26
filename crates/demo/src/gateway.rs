//! Requests in which tools have to be searched for: the tools that were found are read from the results of the searches, and
//! their calls go through `call_tool`.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use toolwright_chat::{Item, ItemKind, Message, ModelRequest, Step, ToolChoice};
use toolwright_core::{RegisteredTool, Registry, Tool, ToolCall, ToolResult};
use toolwright_search::{FoundTool, Gateway, ToolIndex};

use crate::history::History;
use crate::text::head;
use crate::{Decision, decide};

/// How many tools a search returns, and the size of its query in bytes.
const LIMIT: usize = 8;
const MAX_QUERY: usize = 400;

/// Decides what to do if the request has the tools of a gateway: searches once for every question, and then decides as if the
/// request had the tools that were found.
pub(crate) fn decide_with_search(request: &ModelRequest) -> Option<Decision> {
    let gateway = Gateway::find(&request.tools)?;
    let history = History::new(&request.messages);
    let turn = history.last_turn();
    let is_search = |(call, _): &(&ToolCall, _)| gateway.is_search(call.name.as_str());
    let has_searched = turn.is_none_or(|turn| history.calls(turn).iter().any(is_search));
    let is_named = matches!(request.tool_choice, ToolChoice::Named(_) | ToolChoice::None);
    if !has_searched && !is_named {
        let question = turn.map(|turn| history.question(turn)).unwrap_or_default();
        let arguments = json!({"query": head(&question, MAX_QUERY), "limit": LIMIT});
        let search = (gateway.search_name().to_owned(), arguments.to_string());
        return Some(Decision::Call(vec![search]));
    }
    let offered = request.tools.iter().filter(|tool| !gateway.contains(tool.spec().name.as_str()));
    let offered: Vec<RegisteredTool> = offered.cloned().collect();
    let names: HashSet<&str> = offered.iter().map(|tool| tool.spec().name.as_str()).collect();
    let mut found = found_tools(&request.messages, &gateway);
    found.retain(|tool| !names.contains(tool.spec().name.as_str()));
    let messages = request.messages.iter().filter_map(|message| resolve(message, &gateway));
    let mut known = request.clone();
    known.messages = messages.collect();
    known.tools = offered.iter().cloned().chain(found).collect();
    let index = ToolIndex::new(known.tools.iter().map(RegisteredTool::spec));
    Some(match decide(&known, &index, true) {
        Decision::Call(calls) => {
            let calls =
                calls.into_iter().map(|(name, arguments)| match names.contains(name.as_str()) {
                    true => (name, arguments),
                    false => (gateway.call_name().to_owned(), named_arguments(&name, &arguments)),
                });
            Decision::Call(calls.collect())
        }
        answer => answer,
    })
}

/// Returns the arguments of `call_tool`.
fn named_arguments(name: &str, arguments: &str) -> String {
    format!(r#"{{"name":{},"arguments":{arguments}}}"#, json!(name))
}

/// Returns the tools in the results of searches; the newest definition of each.
fn found_tools(messages: &[Message], gateway: &Gateway) -> Vec<RegisteredTool> {
    let registry = Registry::new();
    for message in messages.iter().rev() {
        let Message::Results(results) = message else {
            continue;
        };
        for result in results.iter().rev().filter(|result| is_search_result(result, gateway)) {
            for found in FoundTool::read(&result.text()) {
                let tool = Tool::builder(&*found.name, &*found.description)
                    .imported(true)
                    .schema_text(found.input_schema.get())
                    .and_then(|tool| tool.run(|_, _| ""));
                // A second one of the same name is an older definition.
                if let Ok(tool) = tool {
                    let _ = registry.add(tool);
                }
            }
        }
    }
    registry.snapshot().iter().cloned().collect()
}

fn is_search_result(result: &ToolResult, gateway: &Gateway) -> bool {
    gateway.is_search(result.tool.as_str())
}

/// Returns a message with the calls of the tools that were named, and without searches.
fn resolve(message: &Message, gateway: &Gateway) -> Option<Message> {
    match message {
        Message::Step(step) => {
            let items = step.items.iter().filter_map(|item| match &item.kind {
                ItemKind::Call { call } if gateway.is_search(call.name.as_str()) => None,
                ItemKind::Call { call } => Some(match gateway.named_call(call) {
                    Some(named) => {
                        let call = ToolCall::new(named.tool, named.arguments).with_id(&call.id);
                        Item::call(call)
                    }
                    None => item.clone(),
                }),
                _ => Some(item.clone()),
            });
            let items: Vec<Item> = items.collect();
            let (model, stop) = (step.model.clone(), step.stop.clone());
            (!items.is_empty())
                .then(|| Message::Step(Arc::new(Step::new(model, items, stop, step.usage))))
        }
        Message::Results(results) => {
            let results = results.iter().filter(|result| !is_search_result(result, gateway));
            let results: Vec<ToolResult> = results.cloned().collect();
            (!results.is_empty()).then_some(Message::Results(results))
        }
        other => Some(other.clone()),
    }
}
