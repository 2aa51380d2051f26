//! Converts an output item to an [`ItemKind`].

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use toolwright_chat::ItemKind;

use super::wire::{Item, Part, WebSearchAction, text_or_json};

/// The kind of an item other than a function call.
pub(super) fn item_kind(item: Item) -> ItemKind {
    match item.kind.as_deref().unwrap_or_default() {
        "message" => message_kind(&item),
        "reasoning" => ItemKind::Reasoning { text: reasoning_text(&item) },
        "mcp_approval_request" => ItemKind::HostedApproval {
            id: item.id.unwrap_or_default(),
            server: item.server_label.unwrap_or_default(),
            tool: item.name.unwrap_or_default(),
            arguments: item.arguments.unwrap_or_default(),
        },
        "mcp_call" => mcp_call_kind(item),
        "mcp_list_tools" => mcp_list_tools_kind(item),
        "web_search_call" => {
            let failed = has_failed(&item);
            let (input, output) = item.action.map(search_input_and_sources).unwrap_or_default();
            hosted_kind("web_search", input, output, failed)
        }
        "file_search_call" => {
            let failed = has_failed(&item);
            let input = item.queries.unwrap_or_default().join("\n");
            hosted_kind("file_search", input, String::new(), failed)
        }
        "code_interpreter_call" => {
            let failed = has_failed(&item);
            let logs = item.outputs.unwrap_or_default().into_iter();
            let logs: Vec<String> = logs.filter_map(|output| output.logs).collect();
            let input = item.code.unwrap_or_default();
            hosted_kind("code_interpreter", input, logs.join("\n"), failed)
        }
        "image_generation_call" => {
            let failed = has_failed(&item);
            let input = item.revised_prompt.unwrap_or_default();
            hosted_kind("image_generation", input, String::new(), failed)
        }
        _ => ItemKind::Other,
    }
}

/// The text of reasoning: its summary, and its content where the vendor sends it.
pub(super) fn reasoning_text(item: &Item) -> String {
    let parts = [&item.summary, &item.content].into_iter().flatten().flatten();
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

fn mcp_call_kind(item: Item) -> ItemKind {
    let failed = has_failed(&item);
    let tool = [item.server_label, item.name].into_iter().flatten();
    let tool: Vec<String> = tool.filter(|name| !name.is_empty()).collect();
    let error = item.error.and_then(|error| text_or_json(&error));
    let output = item.output.filter(|output| !output.is_empty()).or(error);
    hosted_kind(
        &tool.join("."),
        item.arguments.unwrap_or_default(),
        output.unwrap_or_default(),
        failed,
    )
}

/// The tools of a server, as a hosted call: if listing them fails, nothing else of the server works.
fn mcp_list_tools_kind(item: Item) -> ItemKind {
    let failed = has_failed(&item);
    let names = item.tools.unwrap_or_default().into_iter();
    let names: Vec<String> = names.filter_map(|tool| tool.name).collect();
    let error = item.error.and_then(|error| text_or_json(&error));
    let output = error.unwrap_or_else(|| names.join(", "));
    let input = item.server_label.unwrap_or_default();
    hosted_kind("mcp_list_tools", input, output, failed)
}

/// The query of a search, and the URLs of its sources.
fn search_input_and_sources(action: WebSearchAction) -> (String, String) {
    let query = action.query.filter(|query| !query.is_empty());
    let queries = || action.queries.map(|queries| queries.join("\n"));
    let page = [action.url, action.pattern].into_iter().flatten();
    let page: Vec<String> = page.collect();
    let input = query.or_else(queries).unwrap_or_else(|| page.join(" "));
    let sources = action.sources.unwrap_or_default().into_iter();
    let sources: Vec<String> = sources.filter_map(|source| source.url).collect();
    (input, sources.join("\n"))
}

fn has_failed(item: &Item) -> bool {
    let status = item.status.as_deref();
    item.error.is_some() || matches!(status, Some("failed" | "incomplete"))
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
    let mut item: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
    for (name, value) in fields {
        item.insert(name.to_owned(), value);
    }
    to_raw_value(&item).ok()
}
