//! Writes the JSON body of `POST /v1/messages`.

use serde_json::{Map, Value, json};
use toolwright_chat::{HostedTool, ModelRequest, ToolChoice};
use toolwright_core::schema::Schema;
use toolwright_core::wire::ToolPlan;
use toolwright_core::{McpServerConfig, WebSearchConfig};

use super::model_traits::{ModelTraits, Thinking};
use super::{Anthropic, messages};
use crate::protocol::response_format::lower_schema;
use crate::protocol::{Protocol as _, json};

/// The hosted search that all models support; later versions run code, whose container would have to be kept between requests.
const WEB_SEARCH_TYPE: &str = "web_search_20250305";

/// The API rejects a smaller budget.
const MIN_THINKING_BUDGET: u32 = 1_024;

pub(super) fn request_body(
    request: &ModelRequest,
    tools: &ToolPlan,
    model: &str,
    cache: bool,
) -> Map<String, Value> {
    let traits = ModelTraits::for_model(model);
    let options = &request.options;
    let messages = messages::messages(&request.messages, tools, traits.requires_signature);
    let definitions = tool_definitions(request, tools, cache);
    let choice = tool_choice(&request.tool_choice, tools).filter(|_| !definitions.is_empty());
    let forced = choice.is_some() && request.tool_choice != ToolChoice::None;
    let thinking = ThinkingSettings::new(request, traits, forced, &messages);

    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("model", model.into());
    set("max_tokens", thinking.max_tokens.into());
    set("stream", true.into());
    if let Some(system) = system_blocks(request, cache) {
        set("system", system);
    }
    if !definitions.is_empty() {
        set("tools", definitions.into());
    }
    if let Some(choice) = choice {
        set("tool_choice", choice);
    }
    let servers = mcp_servers(request);
    if !servers.is_empty() {
        set("mcp_servers", servers.into());
    }
    set("messages", messages.into());
    let sampling = [("temperature", options.temperature), ("top_p", options.top_p)];
    for (name, number) in sampling {
        let Some(number) = number.and_then(json::number_from_f32) else {
            continue;
        };
        if traits.accepts_sampling && thinking.thinking.is_none() {
            set(name, number);
        } else {
            tracing::warn!(model, "{name} is left out: the model does not take it");
        }
    }
    if let Some(setting) = thinking.thinking {
        set("thinking", setting);
    }
    let mut output = Map::new();
    if let Some(effort) = thinking.effort {
        output.insert("effort".to_owned(), effort.into());
    }
    if let Some(format) = &request.response_format {
        output.insert("format".to_owned(), response_format(&format.schema));
    }
    if !output.is_empty() {
        set("output_config", output.into());
    }
    body.extend(options.extra.clone());
    body
}

/// The response format; the API enforces it, so it supports only the keywords of strict mode.
pub(super) fn response_format(schema: &Schema) -> Value {
    let dialect = Anthropic::default().response_format_dialect(schema);
    json!({"type": "json_schema", "schema": lower_schema(schema, dialect)})
}

fn system_blocks(request: &ModelRequest, cache: bool) -> Option<Value> {
    let text = request.system.as_deref()?;
    if text.trim().is_empty() {
        return None;
    }
    let mut block = json!({"type": "text", "text": text});
    if cache {
        set_cache_control(&mut block);
    }
    Some(vec![block].into())
}

/// The tools, then the hosted tools.
fn tool_definitions(request: &ModelRequest, tools: &ToolPlan, cache: bool) -> Vec<Value> {
    let mut definitions = tools.definitions().to_vec();
    let hosted = request.hosted_tools.iter().filter_map(|tool| match tool {
        HostedTool::WebSearch(search) => Some(web_search_tool(search)),
        HostedTool::Mcp(group) => {
            Some(json!({"type": "mcp_toolset", "mcp_server_name": group.name}))
        }
        _ => None,
    });
    definitions.extend(hosted);
    if let Some(last) = definitions.last_mut().filter(|_| cache) {
        set_cache_control(last);
    }
    definitions
}

/// Requests that everything up to and including this block is cached for the next request.
fn set_cache_control(block: &mut Value) {
    if let Some(fields) = block.as_object_mut() {
        fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

fn web_search_tool(search: &WebSearchConfig) -> Value {
    // Other vendors' types are unknown to this one; their settings are the same.
    let kind = if search.kind.strip_prefix("web_search_").is_some_and(is_date) {
        &search.kind
    } else {
        WEB_SEARCH_TYPE
    };
    let mut tool = json!({"type": kind, "name": "web_search"});
    let mut location = Map::new();
    let fields = [("city", &search.city), ("country", &search.country), ("region", &search.region)];
    for (name, value) in fields {
        if let Some(value) = value {
            location.insert(name.to_owned(), value.as_str().into());
        }
    }
    if !location.is_empty()
        && let Some(fields) = tool.as_object_mut()
    {
        location.insert("type".to_owned(), "approximate".into());
        fields.insert("user_location".to_owned(), location.into());
    }
    tool
}

/// Returns true for a date as this vendor writes it; OpenAI's `2025_08_26` is not.
fn is_date(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn mcp_servers(request: &ModelRequest) -> Vec<Value> {
    let servers = request.hosted_tools.iter().filter_map(|tool| match tool {
        HostedTool::Mcp(group) => Some(mcp_server(group)),
        _ => None,
    });
    servers.collect()
}

fn mcp_server(group: &McpServerConfig) -> Value {
    let mut server = json!({"type": "url", "url": group.url, "name": group.name});
    if let Some(secret) = &group.authorization
        && let Some(fields) = server.as_object_mut()
    {
        let token = without_bearer_scheme(secret.expose());
        fields.insert("authorization_token".to_owned(), token.into());
    }
    server
}

/// The API adds `Bearer` itself.
fn without_bearer_scheme(authorization: &str) -> &str {
    match authorization.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim_start(),
        _ => authorization,
    }
}

fn tool_choice(choice: &ToolChoice, tools: &ToolPlan) -> Option<Value> {
    match choice {
        ToolChoice::None => Some(json!({"type": "none"})),
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Named(name) => {
            // An unknown name is sent unchanged, for the vendor to reject.
            let name = tools.wire_name(name).unwrap_or(name);
            Some(json!({"type": "tool", "name": name}))
        }
        _ => None,
    }
}

/// The fields of a request that depend on extended thinking.
struct ThinkingSettings<'a> {
    thinking: Option<Value>,
    effort: Option<&'a str>,
    max_tokens: u32,
}

impl<'a> ThinkingSettings<'a> {
    fn new(
        request: &'a ModelRequest,
        traits: ModelTraits,
        forced: bool,
        messages: &[Value],
    ) -> Self {
        let requested = request.options.max_tokens;
        let mut thinking = Self {
            thinking: None,
            effort: None,
            max_tokens: requested.unwrap_or(traits.default_max_tokens),
        };
        let Some(effort) = request.options.effort.as_deref() else {
            return thinking;
        };
        match traits.thinking {
            Thinking::Unsupported => {}
            Thinking::Adaptive => {
                thinking.effort = Some(if effort == "minimal" { "low" } else { effort });
                // The API rejects thinking with a forced call; the newest models think anyway.
                if !forced {
                    let setting = json!({"type": "adaptive", "display": "summarized"});
                    thinking.thinking = Some(setting);
                }
            }
            Thinking::Budget if forced || turn_started_without_thinking(messages) => {}
            Thinking::Budget => {
                let wanted = thinking_budget(effort);
                // Thinking tokens count towards `max_tokens`; at least half is left for the response.
                let budget = requested.map_or(wanted, |max| wanted.min(max / 2));
                if budget >= MIN_THINKING_BUDGET {
                    let setting = json!({"type": "enabled", "budget_tokens": budget});
                    thinking.thinking = Some(setting);
                    if requested.is_none() {
                        thinking.max_tokens = traits.default_max_tokens.saturating_add(budget);
                    }
                }
            }
        }
        thinking
    }
}

fn thinking_budget(effort: &str) -> u32 {
    match effort {
        "minimal" => MIN_THINKING_BUDGET,
        "low" => 4_000,
        "medium" => 8_000,
        _ => 16_000,
    }
}

/// Returns true in the middle of a turn that started without thinking, where the API does not allow it.
fn turn_started_without_thinking(messages: &[Value]) -> bool {
    let mut newest = messages.iter().rev();
    let results = newest.next().map(block_types).unwrap_or_default();
    if !results.contains(&"tool_result") {
        return false;
    }
    let step = newest.next().map(block_types).unwrap_or_default();
    !matches!(step.first(), Some(&("thinking" | "redacted_thinking")))
}

/// The types of a message's blocks.
fn block_types(message: &Value) -> Vec<&str> {
    let blocks = message.get("content").and_then(Value::as_array);
    let blocks = blocks.into_iter().flatten();
    blocks.filter_map(|block| block.get("type")?.as_str()).collect()
}
