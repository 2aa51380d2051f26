//! Writes the JSON body of `POST /responses`.

use serde_json::{Value, json};
use toolwright_chat::{HostedTool, ModelRequest, ToolChoice};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{McpServerConfig, WebSearchConfig};

use super::input::input_items;
use super::{OpenAiResponses, tool_search};
use crate::protocol::Protocol as _;
use crate::protocol::call_identifiers::valid_name;
use crate::protocol::json::{JsonObject, merge_objects, number, object, unless_empty};
use crate::protocol::response_format::lower_schema;

pub(super) fn request_body(request: &ModelRequest, plan: &ToolPlan, model: &str) -> JsonObject {
    let options = &request.options;
    let system = request.system.as_deref().filter(|text| !text.is_empty());
    let include =
        supports_encrypted_reasoning(model).then(|| json!(["reasoning.encrypted_content"]));
    let tools = tool_definitions(request, plan);
    let choice = tool_choice(request, plan).filter(|_| !tools.is_empty());
    let format = request.response_format.as_ref();
    let format =
        format.map(|format| json!({"format": response_format(&format.name, &format.schema)}));
    let mut body = object([
        ("model", model.into()),
        ("stream", true.into()),
        ("store", false.into()),
        ("include", include.into()),
        ("instructions", system.into()),
        ("input", input_items(request, plan).into()),
        ("tools", unless_empty(tools)),
        ("tool_choice", choice.into()),
        ("text", format.into()),
        ("reasoning", options.effort.as_ref().map(|effort| json!({"effort": effort})).into()),
        ("max_output_tokens", options.max_tokens.into()),
        ("temperature", number(options.temperature)),
        ("top_p", number(options.top_p)),
    ]);
    merge_objects(&mut body, &options.extra);
    body
}

/// Returns false for models without reasoning, which reject a request for it.
fn supports_encrypted_reasoning(model: &str) -> bool {
    const WITHOUT: [&str; 4] = ["gpt-3.5", "gpt-4", "chatgpt-4o", "gpt-5-chat"];
    let base = model.strip_prefix("ft:").unwrap_or(model);
    !WITHOUT.iter().any(|name| base.starts_with(name))
}

fn tool_definitions(request: &ModelRequest, plan: &ToolPlan) -> Vec<Value> {
    let mut tools = plan.definitions().to_vec();
    tool_search::replace_definition(&mut tools, plan);
    tools.extend(request.hosted_tools.iter().filter_map(|hosted| match hosted {
        HostedTool::WebSearch(search) => Some(web_search_tool(search)),
        HostedTool::Mcp(group) => Some(mcp_tool(group)),
        _ => None,
    }));
    tools
}

fn web_search_tool(search: &WebSearchConfig) -> Value {
    let location = object([
        ("type", "approximate".into()),
        ("city", search.city.as_deref().into()),
        ("country", search.country.as_deref().into()),
        ("region", search.region.as_deref().into()),
    ]);
    json!({"type": search_type(search), "user_location": location})
}

/// The type of the search; Anthropic's types, as `web_search_20250305`, are unknown to OpenAI.
fn search_type(search: &WebSearchConfig) -> &str {
    let date = search.kind.strip_prefix("web_search_").unwrap_or_default();
    let is_foreign = !date.is_empty() && date.bytes().all(|byte| byte.is_ascii_digit());
    if is_foreign { "web_search" } else { &search.kind }
}

fn mcp_tool(group: &McpServerConfig) -> Value {
    let tool = object([
        ("type", "mcp".into()),
        ("server_label", group.name.as_str().into()),
        ("server_url", group.url.as_str().into()),
        ("server_description", group.description.as_deref().into()),
        ("authorization", group.authorization.as_ref().map(|secret| secret.expose()).into()),
        // Calls are approved by Toolwright, not by the vendor.
        ("require_approval", "always".into()),
    ]);
    tool.into()
}

fn tool_choice(request: &ModelRequest, plan: &ToolPlan) -> Option<Value> {
    match &request.tool_choice {
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Named(name) => Some(named_tool_choice(name, request, plan)),
        _ => None,
    }
}

fn named_tool_choice(name: &str, request: &ModelRequest, plan: &ToolPlan) -> Value {
    if let Some(wire_name) = plan.wire_name(name) {
        let kind = if plan.custom_param(wire_name).is_some() { "custom" } else { "function" };
        return json!({"type": kind, "name": wire_name});
    }
    let hosted = request.hosted_tools.iter().find_map(|hosted| match hosted {
        HostedTool::WebSearch(search) if search.kind == name || name == "web_search" => {
            Some(json!({"type": search_type(search)}))
        }
        HostedTool::Mcp(group) if group.name == name => {
            Some(json!({"type": "mcp", "server_label": name}))
        }
        _ => None,
    });
    // An unknown name is sent unchanged, for the vendor to reject.
    hosted.unwrap_or_else(|| json!({"type": "function", "name": name}))
}

/// The response format, strict if that loses nothing.
pub(super) fn response_format(name: &str, schema: &Schema) -> Value {
    let dialect = OpenAiResponses.response_format_dialect(schema);
    json!({
        "type": "json_schema",
        "name": valid_name(name, "answer"),
        "schema": lower_schema(schema, dialect),
        "strict": dialect.is_some_and(Dialect::is_strict),
    })
}
