//! ModelRequest in, the JSON body of `POST /v1/messages` out.

use serde_json::{Map, Value, json};
use toolwright_chat::{HostedTool, ModelRequest, ToolChoice};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::Plan;
use toolwright_core::{McpGroup, WebSearch};

use super::message;
use super::model::{Thinking, Traits};
use crate::json;

/// The hosted search that all models take; later ones run code, whose container would have to be kept between requests.
const WEB_SEARCH: &str = "web_search_20250305";

/// The API refuses to think with less.
const LEAST_BUDGET: u32 = 1_024;

pub(super) fn body(
    request: &ModelRequest,
    tools: &Plan,
    model: &str,
    cache: bool,
) -> Map<String, Value> {
    let traits = Traits::of(model);
    let options = &request.options;
    let messages = message::messages(&request.messages, tools, traits.signed);
    let definitions = definitions(request, tools, cache);
    let choice = choice(&request.tool_choice, tools).filter(|_| !definitions.is_empty());
    let forced = choice.is_some() && request.tool_choice != ToolChoice::None;
    let thought = Thought::new(request, traits, forced, &messages);

    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("model", model.into());
    set("max_tokens", thought.max_tokens.into());
    set("stream", true.into());
    if let Some(system) = system(request, cache) {
        set("system", system);
    }
    if !definitions.is_empty() {
        set("tools", definitions.into());
    }
    if let Some(choice) = choice {
        set("tool_choice", choice);
    }
    let servers = servers(request);
    if !servers.is_empty() {
        set("mcp_servers", servers.into());
    }
    set("messages", messages.into());
    let sampling = [
        ("temperature", options.temperature),
        ("top_p", options.top_p),
    ];
    for (name, number) in sampling {
        let Some(number) = number.and_then(json::number) else {
            continue;
        };
        if traits.sampling && thought.setting.is_none() {
            set(name, number);
        } else {
            tracing::warn!(model, "{name} is left out: the model does not take it");
        }
    }
    if let Some(setting) = thought.setting {
        set("thinking", setting);
    }
    let mut output = Map::new();
    if let Some(effort) = thought.effort {
        output.insert("effort".to_owned(), effort.into());
    }
    if let Some(form) = &request.response_format {
        output.insert("format".to_owned(), format(&form.schema));
    }
    if !output.is_empty() {
        set("output_config", output.into());
    }
    body.extend(options.extra.clone());
    body
}

/// The answer's form; the API holds every answer to it, so it takes only what its strict mode knows.
pub(super) fn format(schema: &Schema) -> Value {
    let lowered = answer_dialect(schema).and_then(|dialect| schema.lower(dialect).ok());
    let schema = lowered.map_or_else(|| schema.as_value(), |lowered| lowered.schema());
    json!({"type": "json_schema", "schema": schema})
}

/// The dialect that an answer comes in: whoever reads the answer lifts it from there.
pub(super) fn answer_dialect(schema: &Schema) -> Option<Dialect> {
    [Dialect::ANTHROPIC_STRICT, Dialect::ANTHROPIC]
        .into_iter()
        .find(|dialect| schema.lower(*dialect).is_ok())
}

fn system(request: &ModelRequest, cache: bool) -> Option<Value> {
    let text = request.system.as_deref()?;
    if text.trim().is_empty() {
        return None;
    }
    let mut block = json!({"type": "text", "text": text});
    if cache {
        keep(&mut block);
    }
    Some(vec![block].into())
}

/// Our tools, then those that the vendor runs.
fn definitions(request: &ModelRequest, tools: &Plan, cache: bool) -> Vec<Value> {
    let mut definitions: Vec<Value> = serde_json::from_str(tools.text()).unwrap_or_default();
    let hosted = request.hosted_tools.iter().filter_map(|tool| match tool {
        HostedTool::WebSearch(search) => Some(web_search(search)),
        HostedTool::Mcp(group) => Some(json!({"type": "mcp_toolset", "mcp_server_name": group.name})),
        _ => None,
    });
    definitions.extend(hosted);
    if let Some(last) = definitions.last_mut().filter(|_| cache) {
        keep(last);
    }
    definitions
}

/// Asks for everything up to and including this block to be kept for the next request.
fn keep(block: &mut Value) {
    if let Some(fields) = block.as_object_mut() {
        fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

fn web_search(search: &WebSearch) -> Value {
    // Other vendors' names for it mean nothing here, and their settings are the same.
    let kind = if search.kind.strip_prefix("web_search_").is_some_and(is_date) {
        &search.kind
    } else {
        WEB_SEARCH
    };
    let mut tool = json!({"type": kind, "name": "web_search"});
    let mut location = Map::new();
    let places = [
        ("city", &search.city),
        ("country", &search.country),
        ("region", &search.region),
    ];
    for (name, place) in places {
        if let Some(place) = place {
            location.insert(name.to_owned(), place.as_str().into());
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

/// Whether it is written as this vendor dates its tools; OpenAI's `2025_08_26` is not.
fn is_date(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|letter| letter.is_ascii_digit())
}

fn servers(request: &ModelRequest) -> Vec<Value> {
    let servers = request.hosted_tools.iter().filter_map(|tool| match tool {
        HostedTool::Mcp(group) => Some(server(group)),
        _ => None,
    });
    servers.collect()
}

fn server(group: &McpGroup) -> Value {
    let mut server = json!({"type": "url", "url": group.url, "name": group.name});
    if let Some(secret) = &group.authorization
        && let Some(fields) = server.as_object_mut()
    {
        let token = bare(secret.expose());
        fields.insert("authorization_token".to_owned(), token.into());
    }
    server
}

/// The API writes the word `Bearer` itself.
fn bare(authorization: &str) -> &str {
    match authorization.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim_start(),
        _ => authorization,
    }
}

fn choice(choice: &ToolChoice, tools: &Plan) -> Option<Value> {
    match choice {
        ToolChoice::None => Some(json!({"type": "none"})),
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Named(name) => {
            // A name that is not among the tools goes out as it is: the vendor says what is wrong with it.
            let name = tools.wire_name(name).unwrap_or(name);
            Some(json!({"type": "tool", "name": name}))
        }
        _ => None,
    }
}

/// How much the model is to think, and how much room that leaves.
struct Thought<'a> {
    setting: Option<Value>,
    effort: Option<&'a str>,
    max_tokens: u32,
}

impl<'a> Thought<'a> {
    fn new(request: &'a ModelRequest, traits: Traits, forced: bool, messages: &[Value]) -> Self {
        let given = request.options.max_tokens;
        let mut thought = Self {
            setting: None,
            effort: None,
            max_tokens: given.unwrap_or(traits.max_tokens),
        };
        let Some(effort) = request.options.effort.as_deref() else {
            return thought;
        };
        match traits.thinking {
            Thinking::Never => {}
            Thinking::Adaptive => {
                thought.effort = Some(if effort == "minimal" { "low" } else { effort });
                // Whoever must call a tool must not be told to think first; the newest do so anyway.
                if !forced {
                    let setting = json!({"type": "adaptive", "display": "summarized"});
                    thought.setting = Some(setting);
                }
            }
            Thinking::Budget if forced || begins_without_thoughts(messages) => {}
            Thinking::Budget => {
                let wanted = budget(effort);
                // Thoughts count as part of the answer, which needs some room as well.
                let budget = given.map_or(wanted, |most| wanted.min(most / 2));
                if budget >= LEAST_BUDGET {
                    let setting = json!({"type": "enabled", "budget_tokens": budget});
                    thought.setting = Some(setting);
                    if given.is_none() {
                        thought.max_tokens = traits.max_tokens.saturating_add(budget);
                    }
                }
            }
        }
        thought
    }
}

fn budget(effort: &str) -> u32 {
    match effort {
        "minimal" => LEAST_BUDGET,
        "low" => 4_000,
        "medium" => 8_000,
        _ => 16_000,
    }
}

/// Whether the model is in the middle of a turn that it began without thinking, which it cannot take up later.
fn begins_without_thoughts(messages: &[Value]) -> bool {
    let mut newest = messages.iter().rev();
    let answers = newest.next().map(kinds).unwrap_or_default();
    if !answers.contains(&"tool_result") {
        return false;
    }
    let step = newest.next().map(kinds).unwrap_or_default();
    !matches!(step.first(), Some(&("thinking" | "redacted_thinking")))
}

/// The types of a message's blocks.
fn kinds(message: &Value) -> Vec<&str> {
    let blocks = message.get("content").and_then(Value::as_array);
    let blocks = blocks.into_iter().flatten();
    blocks
        .filter_map(|block| block.get("type")?.as_str())
        .collect()
}
