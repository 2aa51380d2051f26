//! rig's strict sanitisers, and its Gemini wire, which sends schemas as they are.
//!
//! Only OpenAI's is public by itself. The others are reached by encoding a request that carries all tools, so that their
//! rows include the copy that rig makes of the tools and the text of the body.

use rig::{
    completion::{CompletionRequest, ToolDefinition},
    message::ToolName,
    providers::{
        anthropic::{AnthropicConfig, Messages, ToolInputStreaming},
        gemini::{GeminiConfig, completion::GenerateContent},
        openai::responses_api::ResponsesToolDefinition,
    },
    wire::{Body, Encoded, Mode, Wire},
};
use serde_json::Value;
use toolwright_bench::catalogue::ToolSample;

use crate::comparison::LoweringComparison;

/// Adds rig's row, where it has one.
pub fn add_rows(contest: LoweringComparison<'_>) -> LoweringComparison<'_> {
    match contest.dialect.name() {
        "openai-strict" => contest.add_per_tool("rig ResponsesToolDefinition", |tool| {
            let (name, description) = (tool.name.as_str(), tool.description.as_str());
            let parameters = tool.input.clone();
            ResponsesToolDefinition::strict_function(name, description, parameters).parameters
        }),
        "anthropic-strict" => {
            let wire = Messages {
                provider: AnthropicConfig::new("key"),
                model: "claude-sonnet-4-6".to_owned(),
                default_max_tokens: Some(1024),
                prompt_caching: false,
                static_prefix_cache_ttl: None,
                strict_tools: true,
                tool_input_streaming: ToolInputStreaming::Off,
            };
            encode(contest, "rig Messages::encode", wire, |body| {
                schemas(&body["tools"], "input_schema")
            })
        }
        "gemini" => {
            let wire = GenerateContent::new(GeminiConfig::new("key"), "gemini-2.5-flash");
            encode(contest, "rig GenerateContent::encode", wire, |body| {
                let declared = &body["tools"][0]["functionDeclarations"];
                schemas(declared, "parametersJsonSchema")
            })
        }
        _ => contest,
    }
}

fn encode<'a, W>(
    contest: LoweringComparison<'a>,
    name: &str,
    wire: W,
    read: fn(&Value) -> Vec<Value>,
) -> LoweringComparison<'a>
where
    W: Wire<Payload = Encoded, Op = rig::operation::Completion>,
{
    let tools = contest.tools;
    contest.add_row(
        name,
        || Some(request(tools)),
        move |request| {
            let encoded = wire.encode(request.take().unwrap(), Mode::Unary);
            encoded.unwrap().request.into_body()
        },
        |body| match body {
            Body::Bytes(text) => read(&serde_json::from_slice(text).unwrap()),
            _ => Vec::new(),
        },
    )
}

fn request(tools: &[ToolSample]) -> CompletionRequest {
    let definition = |tool: &ToolSample| {
        let name = ToolName::new(&tool.name).unwrap();
        ToolDefinition::new(name, &tool.description, tool.input.clone())
    };
    CompletionRequest::new("What is there to do?").tools(tools.iter().map(definition).collect())
}

fn schemas(tools: &Value, field: &str) -> Vec<Value> {
    let tools = tools.as_array().into_iter().flatten();
    tools.map(|tool| tool[field].clone()).collect()
}
