//! Converts an output item to an [`ItemKind`].

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use toolwright_chat::ItemKind;

use super::wire::{Item, Part, WebSearchAction};

use crate::protocol::json::JsonObject;

/// The kind of an item other than a function call.
pub(super) fn item_kind(item: Item) -> ItemKind {
    let failed = item.error.is_some() || matches!(item.status.as_str(), "failed" | "incomplete");
    match item.kind.as_str() {
        "message" => message_kind(&item),
        "reasoning" => ItemKind::Reasoning { text: reasoning_text(&item) },
        "mcp_approval_request" => ItemKind::HostedApproval {
            id: item.id,
            server: item.server_label,
            tool: item.name,
            arguments: item.arguments.0,
        },
        "mcp_call" => {
            let mut tool = vec![item.server_label, item.name];
            tool.retain(|name| !name.is_empty());
            let output = Some(item.output).filter(|output| !output.0.is_empty()).or(item.error);
            let output = output.unwrap_or_default().0;
            hosted_kind(&tool.join("."), item.arguments.0, output, failed)
        }
        // The tools of a server: if listing them fails, nothing else of the server works.
        "mcp_list_tools" => {
            let names: Vec<String> = item.tools.into_iter().filter_map(|tool| tool.name).collect();
            let output = item.error.map_or_else(|| names.join(", "), |error| error.0);
            hosted_kind("mcp_list_tools", item.server_label, output, failed)
        }
        "web_search_call" => {
            let (input, output) = search_input_and_sources(item.action);
            hosted_kind("web_search", input, output, failed)
        }
        "file_search_call" => {
            hosted_kind("file_search", item.queries.join("\n"), String::new(), failed)
        }
        "code_interpreter_call" => {
            let logs = item.outputs.into_iter().filter_map(|output| output.logs);
            let logs: Vec<String> = logs.collect();
            hosted_kind("code_interpreter", item.code, logs.join("\n"), failed)
        }
        "image_generation_call" => {
            hosted_kind("image_generation", item.revised_prompt, String::new(), failed)
        }
        _ => ItemKind::Other,
    }
}

/// The text of reasoning: its summary, and its content where the vendor sends it.
pub(super) fn reasoning_text(item: &Item) -> String {
    let parts = item.summary.iter().chain(item.content.iter().flatten());
    let texts: Vec<&str> = parts.filter_map(|part| part.text.as_deref()).collect();
    texts.join("\n\n")
}

fn message_kind(item: &Item) -> ItemKind {
    let parts = item.content.as_deref().unwrap_or_default();
    let join =
        |field: fn(&Part) -> Option<&str>| parts.iter().filter_map(field).collect::<String>();
    let text = join(|part| part.text.as_deref());
    // One message is one item: with a refusal in it, it is a refusal.
    if parts.iter().any(|part| part.refusal.is_some()) {
        let refusal = join(|part| part.refusal.as_deref());
        let text = if text.is_empty() { refusal } else { format!("{text}\n{refusal}") };
        return ItemKind::Refusal { text };
    }
    ItemKind::Text { text }
}

/// The query of a search, and the URLs of its sources.
fn search_input_and_sources(action: WebSearchAction) -> (String, String) {
    let query = Some(action.query).filter(|query| !query.is_empty());
    let queries = || action.queries.map(|queries| queries.join("\n"));
    let page = [action.url, action.pattern].into_iter().flatten();
    let page: Vec<String> = page.collect();
    let input = query.or_else(queries).unwrap_or_else(|| page.join(" "));
    let sources = action.sources.into_iter().filter_map(|source| source.url);
    let sources: Vec<String> = sources.collect();
    (input, sources.join("\n"))
}

fn hosted_kind(tool: &str, input: String, output: String, failed: bool) -> ItemKind {
    ItemKind::HostedCall { tool: tool.to_owned(), input, output, failed }
}

/// Sets some fields of an item; `None` if there are none to set.
pub(super) fn with_fields<'a>(
    raw: &RawValue,
    fields: impl IntoIterator<Item = (&'a str, Value)>,
) -> Option<Box<RawValue>> {
    let mut fields = fields.into_iter().peekable();
    fields.peek()?;
    let mut item: JsonObject = serde_json::from_str(raw.get()).ok()?;
    for (name, value) in fields {
        item.insert(name.to_owned(), value);
    }
    to_raw_value(&item).ok()
}
