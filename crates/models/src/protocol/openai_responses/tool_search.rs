//! The API's own form of a search for tools that the client runs: its definition, its call and its output.

use serde_json::{Value, json};
use toolwright_core::ToolCall;
use toolwright_core::wire::{PlannedTool, ToolPlan};

use super::wire;
use crate::protocol::call_identifiers::valid_name;
use crate::protocol::custom_call::gpt_version;
use crate::protocol::json::arguments_object;

/// The type of an item in which the model searches.
const CALL_TYPE: &str = "tool_search_call";

/// The first version of `gpt-` models that search for tools.
const FIRST_VERSION: (u32, u32) = (5, 4);

/// Returns true if a model searches for tools; its small and its chat variants do not.
pub(super) fn is_supported(model: &str) -> bool {
    gpt_version(model).is_some_and(|(version, variant)| {
        let is_excluded = ["nano", "chat"].iter().any(|excluded| variant.contains(excluded));
        version >= FIRST_VERSION && !is_excluded
    })
}

/// Replaces the definition of the tool that searches by that of the API.
pub(super) fn replace_definition(definitions: &mut [Value], plan: &ToolPlan) {
    let search = plan.search_tool().and_then(|name| plan.wire_name(name));
    let is_search =
        |definition: &&mut Value| definition.get("name").and_then(Value::as_str) == search;
    if let Some(definition) = definitions.iter_mut().find(is_search).filter(|_| search.is_some()) {
        *definition = json!({
            "type": "tool_search",
            "execution": "client",
            "description": definition.get("description"),
            "parameters": definition.get("parameters"),
        });
    }
}

/// Returns the name of the tool that an item searches with, if the client runs that search.
pub(super) fn called_tool<'a>(item: &wire::Item, plan: &'a ToolPlan) -> Option<&'a str> {
    let is_ours = item.kind == CALL_TYPE && item.execution == "client";
    plan.wire_name(plan.search_tool().filter(|_| is_ours)?)
}

/// A search as the API sent it, or made from the call of the tool that searches.
pub(super) fn search_call(raw: Option<Value>, call: &ToolCall, id: &str, plan: &ToolPlan) -> Value {
    let is_search = |raw: &Value| raw.get("type").and_then(Value::as_str) == Some(CALL_TYPE);
    let mut search = raw.filter(is_search).unwrap_or_else(|| {
        let arguments = plan.lower(call.clone()).arguments;
        json!({
            "type": CALL_TYPE,
            "execution": "client",
            "arguments": arguments_object(arguments.as_str()),
            "status": "completed",
        })
    });
    if let Some(fields) = search.as_object_mut() {
        fields.insert("call_id".to_owned(), id.into());
    }
    search
}

/// The output of a search: the API loads these definitions. It has no place for an error.
pub(super) fn search_output(id: &str, found: &[&PlannedTool], plan: &ToolPlan) -> Value {
    let definitions = match plan.has_namespaces() {
        true => namespaces(found),
        false => found.iter().filter_map(|tool| tool.deferred_definition()).collect(),
    };
    json!({
        "type": "tool_search_output",
        "call_id": id,
        "execution": "client",
        "status": "completed",
        "tools": definitions,
    })
}

/// The definitions in one namespace for each bundle. The names of tools are unique without it, so calls are resolved by them.
fn namespaces(found: &[&PlannedTool]) -> Vec<Value> {
    let mut namespaces: Vec<(String, Vec<Value>)> = Vec::new();
    for tool in found {
        let Some(definition) = tool.deferred_definition() else { continue };
        // Of the path of a Rust type, its name.
        let name = tool.bundle.rsplit("::").next().unwrap_or_default();
        let name = valid_name(name, "tools");
        match namespaces.iter_mut().find(|(known, _)| *known == name) {
            Some((_, definitions)) => definitions.push(definition),
            None => namespaces.push((name, vec![definition])),
        }
    }
    let written = namespaces.into_iter().map(|(name, definitions)| {
        json!({
            "type": "namespace",
            "name": name,
            "description": format!("The tools of {name}."),
            "tools": definitions,
        })
    });
    written.collect()
}

#[cfg(test)]
mod tests {
    use super::is_supported;

    #[test]
    fn models_search_from_version_five_point_four() {
        for model in
            ["gpt-5.4", "gpt-5.4-mini", "gpt-5.10-pro", "gpt-6", "ft:gpt-5.5-2026-04-23:me"]
        {
            assert!(is_supported(model), "{model}");
        }
        for model in
            ["gpt-5", "gpt-5-mini", "gpt-5.3-codex", "gpt-5.4-nano", "gpt-4o", "o3", "my-model"]
        {
            assert!(!is_supported(model), "{model}");
        }
    }
}
