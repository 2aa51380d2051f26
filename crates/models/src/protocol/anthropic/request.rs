//! Writes the JSON body of `POST /v1/messages`.

use serde_json::{Value, json};
use toolwright_chat::{HostedTool, ModelRequest, ToolChoice};
use toolwright_core::schema::Schema;
use toolwright_core::wire::ToolPlan;
use toolwright_core::{McpServerConfig, WebSearchConfig};

use super::model_traits::{BASIC_WEB_SEARCH, ModelTraits, Thinking};
use super::{Anthropic, code_execution, messages};
use crate::protocol::Protocol as _;
use crate::protocol::json::{JsonObject, number, object, unless_empty};
use crate::protocol::response_format::lower_schema;

/// The API rejects a smaller budget.
const MIN_THINKING_BUDGET: u32 = 1_024;

pub(super) fn request_body(request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject {
    let traits = ModelTraits::for_model(model);
    let options = &request.options;
    let messages = messages::messages(request, tools, traits.requires_signature);
    let definitions = tool_definitions(request, tools, traits);
    let container = code_execution::hosted_tool(&definitions)
        .and_then(|_| code_execution::waiting_container(request));
    let choice = tool_choice(&request.tool_choice, tools).filter(|_| !definitions.is_empty());
    let forced = choice.is_some() && request.tool_choice != ToolChoice::None;
    let thinking = ThinkingSettings::new(request, traits, forced, &messages);

    let sampling = |name: &str, setting: Option<f32>| {
        let setting = number(setting);
        if setting.is_null() || traits.accepts_sampling && thinking.thinking.is_none() {
            return setting;
        }
        tracing::warn!(model, "{name} is left out: the model does not take it");
        Value::Null
    };
    let format = request.response_format.as_ref();
    let format = format.map(|format| response_format(&format.schema));
    let output_config = object([("effort", thinking.effort.into()), ("format", format.into())]);
    let mut body = object([
        ("model", model.into()),
        ("max_tokens", thinking.max_tokens.into()),
        ("stream", true.into()),
        ("system", system_blocks(request).into()),
        ("tools", unless_empty(definitions)),
        ("tool_choice", choice.into()),
        ("container", container.into()),
        ("mcp_servers", unless_empty(mcp_servers(request))),
        ("messages", messages.into()),
        ("temperature", sampling("temperature", options.temperature)),
        ("top_p", sampling("top_p", options.top_p)),
        ("thinking", thinking.thinking.into()),
        ("output_config", unless_empty(output_config)),
    ]);
    body.extend(options.extra.clone());
    body
}

/// The response format; the API enforces it, so it supports only the keywords of strict mode.
pub(super) fn response_format(schema: &Schema) -> Value {
    let dialect = Anthropic.response_format_dialect(schema);
    json!({"type": "json_schema", "schema": lower_schema(schema, dialect)})
}

fn system_blocks(request: &ModelRequest) -> Option<Value> {
    let text = request.system.as_deref()?;
    if text.trim().is_empty() {
        return None;
    }
    let mut block = json!({"type": "text", "text": text});
    set_cache_control(&mut block);
    Some(vec![block].into())
}

/// The tools, then the hosted tools, then the deferred ones, which are no part of the cached prefix.
fn tool_definitions(request: &ModelRequest, tools: &ToolPlan, traits: ModelTraits) -> Vec<Value> {
    let mut definitions = tools.definitions().to_vec();
    if traits.runs_programs {
        let all = tools.definitions().iter().chain(tools.deferred_definitions());
        definitions.extend(code_execution::hosted_tool(all));
    }
    let hosted = request.hosted_tools.iter().filter_map(|tool| match tool {
        HostedTool::WebSearch(search) => Some(web_search_tool(search, traits)),
        HostedTool::Mcp(group) => {
            Some(json!({"type": "mcp_toolset", "mcp_server_name": group.name}))
        }
        _ => None,
    });
    definitions.extend(hosted);
    if let Some(last) = definitions.last_mut() {
        set_cache_control(last);
    }
    definitions.extend_from_slice(tools.deferred_definitions());
    if !traits.runs_programs {
        code_execution::remove_callers(&mut definitions);
    }
    definitions
}

/// Requests that everything up to and including this block is cached for the next request.
fn set_cache_control(block: &mut Value) {
    if let Some(fields) = block.as_object_mut() {
        fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

fn web_search_tool(search: &WebSearchConfig, traits: ModelTraits) -> Value {
    // Other vendors' types are unknown to this one; their settings are the same.
    let is_own = search.kind.strip_prefix("web_search_").is_some_and(is_date);
    let kind = if is_own { search.kind.as_str() } else { traits.web_search };
    // Unless they are called directly, later versions run code, whose container would have to be kept between requests.
    let callers = (kind > BASIC_WEB_SEARCH).then(|| json!(["direct"]));
    let mut location = object([
        ("city", search.city.as_deref().into()),
        ("country", search.country.as_deref().into()),
        ("region", search.region.as_deref().into()),
    ]);
    if !location.is_empty() {
        location.insert("type".to_owned(), "approximate".into());
    }
    let tool = object([
        ("type", kind.into()),
        ("name", "web_search".into()),
        ("allowed_callers", callers.into()),
        ("user_location", unless_empty(location)),
    ]);
    tool.into()
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
    let token = group.authorization.as_ref().map(|secret| without_bearer_scheme(secret.expose()));
    let server = object([
        ("type", "url".into()),
        ("url", group.url.as_str().into()),
        ("name", group.name.as_str().into()),
        ("authorization_token", token.into()),
    ]);
    server.into()
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
        let max_tokens = requested.unwrap_or(traits.default_max_tokens);
        let without = Self { thinking: None, effort: None, max_tokens };
        let Some(effort) = request.options.effort.as_deref() else {
            return without;
        };
        match traits.thinking {
            Thinking::Adaptive => {
                let effort = if effort == "minimal" { "low" } else { effort };
                // The API rejects thinking with a forced call; the newest models think anyway.
                let setting = json!({"type": "adaptive", "display": "summarized"});
                Self { thinking: (!forced).then_some(setting), effort: Some(effort), max_tokens }
            }
            Thinking::Budget if !forced && !turn_started_without_thinking(messages) => {
                let wanted = thinking_budget(effort);
                // Thinking tokens count towards `max_tokens`; at least half is left for the response.
                let budget = requested.map_or(wanted, |max| wanted.min(max / 2));
                if budget < MIN_THINKING_BUDGET {
                    return without;
                }
                let setting = json!({"type": "enabled", "budget_tokens": budget});
                let default_max = traits.default_max_tokens.saturating_add(budget);
                let max_tokens = requested.unwrap_or(default_max);
                Self { thinking: Some(setting), effort: None, max_tokens }
            }
            _ => without,
        }
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
