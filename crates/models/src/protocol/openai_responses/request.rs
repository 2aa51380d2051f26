//! Writes the JSON body of `POST /responses`.

use serde_json::{Map, Value, json};
use toolwright_chat::{HostedTool, ModelOptions, ModelRequest, ToolChoice};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{McpServerConfig, WebSearchConfig};

use super::OpenAiResponses;
use super::input::input_items;
use crate::protocol::Protocol as _;
use crate::protocol::call_identifiers::valid_name;
use crate::protocol::json::{merge_objects, number_from_f32};
use crate::protocol::response_format::lower_schema;

pub(super) fn request_body(
    request: &ModelRequest,
    plan: &ToolPlan,
    model: &str,
) -> Map<String, Value> {
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    set("model", json!(model));
    set("stream", json!(true));
    set("store", json!(false));
    if supports_encrypted_reasoning(model) {
        set("include", json!(["reasoning.encrypted_content"]));
    }
    if let Some(system) = request.system.as_ref().filter(|text| !text.is_empty()) {
        set("instructions", json!(system));
    }
    set("input", Value::Array(input_items(&request.messages, plan)));
    let tools = tool_definitions(request, plan);
    if !tools.is_empty() {
        set("tools", Value::Array(tools));
        if let Some(choice) = tool_choice(request, plan) {
            set("tool_choice", choice);
        }
    }
    if let Some(format) = &request.response_format {
        set("text", json!({"format": response_format(&format.name, &format.schema)}));
    }
    write_options(&request.options, &mut body);
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
    tools.extend(request.hosted_tools.iter().filter_map(|hosted| match hosted {
        HostedTool::WebSearch(search) => Some(web_search_tool(search)),
        HostedTool::Mcp(group) => Some(mcp_tool(group)),
        _ => None,
    }));
    tools
}

fn web_search_tool(search: &WebSearchConfig) -> Value {
    let mut location = Map::new();
    location.insert("type".to_owned(), json!("approximate"));
    let fields = [("city", &search.city), ("country", &search.country), ("region", &search.region)];
    for (name, value) in fields {
        if let Some(value) = value {
            location.insert(name.to_owned(), json!(value));
        }
    }
    json!({"type": search_type(search), "user_location": location})
}

/// The type of the search; Anthropic's types, as `web_search_20250305`, are unknown to OpenAI.
fn search_type(search: &WebSearchConfig) -> &str {
    let date = search.kind.strip_prefix("web_search_").unwrap_or_default();
    let is_foreign = !date.is_empty() && date.bytes().all(|byte| byte.is_ascii_digit());
    if is_foreign { "web_search" } else { &search.kind }
}

fn mcp_tool(group: &McpServerConfig) -> Value {
    let mut tool = Map::new();
    let mut set = |name: &str, value: &str| {
        tool.insert(name.to_owned(), json!(value));
    };
    set("type", "mcp");
    set("server_label", &group.name);
    set("server_url", &group.url);
    if let Some(description) = &group.description {
        set("server_description", description);
    }
    if let Some(authorization) = &group.authorization {
        set("authorization", authorization.expose());
    }
    // Calls are approved by Toolwright, not by the vendor.
    set("require_approval", "always");
    Value::Object(tool)
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
        return json!({"type": "function", "name": wire_name});
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

fn write_options(options: &ModelOptions, body: &mut Map<String, Value>) {
    if let Some(effort) = &options.effort {
        body.insert("reasoning".to_owned(), json!({"effort": effort}));
    }
    if let Some(max_tokens) = options.max_tokens {
        body.insert("max_output_tokens".to_owned(), json!(max_tokens));
    }
    for (name, value) in [("temperature", options.temperature), ("top_p", options.top_p)] {
        if let Some(value) = value.and_then(number_from_f32) {
            body.insert(name.to_owned(), value);
        }
    }
    merge_objects(body, &options.extra);
}
