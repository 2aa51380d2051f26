//! Parses a request, and rejects parameters that cannot be honoured.

use serde::Deserialize;
use serde_json::Value;
use toolwright_chat::{ModelOptions, ToolChoice};
use toolwright_core::Role;

use super::error::OpenAiError;
use super::history::{RequestMessage, parse_messages};
use super::response_format::parse_response_format;
use crate::conversation::room_command::IncomingMessage;
use crate::conversation::unstored::UnstoredConversation;
use crate::endpoint::EndpointRuntime;
use crate::endpoint::client_tools::{ClientTools, parse_client_tools};

/// The body of a request; fields that are not listed are ignored.
#[derive(Deserialize)]
pub(super) struct CompletionBody {
    pub(super) model: String,
    messages: Vec<RequestMessage>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    tools: Option<Vec<Value>>,
    tool_choice: Option<Value>,
    max_completion_tokens: Option<u32>,
    max_tokens: Option<u32>,
    temperature: Option<f32>,
    top_p: Option<f32>,
    reasoning_effort: Option<String>,
    n: Option<u32>,
    #[serde(default)]
    stop: Value,
    #[serde(default)]
    response_format: Value,
    #[serde(default)]
    functions: Value,
    logprobs: Option<bool>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

/// A parsed request.
pub(super) struct ChatRequest {
    pub(super) message: IncomingMessage,
    pub(super) conversation: UnstoredConversation,
    /// The client's own tools.
    pub(super) tools: ClientTools,
}

impl CompletionBody {
    pub(super) fn is_streamed(&self) -> bool {
        self.stream == Some(true)
    }

    /// Returns true if the usage is part of the response: always, unless the response is streamed.
    pub(super) fn includes_usage(&self) -> bool {
        let options = self.stream_options.as_ref();
        !self.is_streamed() || options.is_some_and(|options| options.include_usage)
    }

    /// The error of a parameter that is not supported and must not be ignored.
    fn unsupported_param(&self) -> Option<OpenAiError> {
        let (param, message) = if self.n.is_some_and(|n| n != 1) {
            ("n", "there is one answer to a request here")
        } else if !self.stop.is_null() {
            ("stop", "stop sequences cannot be set here")
        } else if !self.functions.is_null() {
            ("functions", "send `tools`")
        } else if self.logprobs == Some(true) {
            ("logprobs", "log probabilities are not supported here")
        } else {
            return None;
        };
        Some(OpenAiError::invalid_param(param, message))
    }

    fn options(&self) -> Option<ModelOptions> {
        let mut options = ModelOptions::default();
        options.max_tokens = self.max_completion_tokens.or(self.max_tokens);
        options.temperature = self.temperature;
        options.top_p = self.top_p;
        options.effort.clone_from(&self.reasoning_effort);
        (options != ModelOptions::default()).then_some(options)
    }
}

impl ChatRequest {
    /// Parses a request to an endpoint.
    pub(super) fn parse(
        request: CompletionBody,
        endpoint: &EndpointRuntime,
    ) -> Result<Self, OpenAiError> {
        if let Some(refusal) = request.unsupported_param() {
            return Err(refusal);
        }
        let names = super::model_names(endpoint);
        let model = if request.model == endpoint.model.id().to_string() {
            None
        } else if names.contains(&request.model) {
            Some(endpoint.server.models.find(&request.model)?)
        } else {
            return Err(OpenAiError::model_not_found(&request.model, &names));
        };
        let (content, mut conversation) = parse_messages(&request.messages)?;
        let tools = request.tools.as_deref().unwrap_or_default();
        let tools = parse_client_tools(tools, endpoint)
            .map_err(|(at, why)| OpenAiError::invalid_param(format!("tools[{at}]"), why))?;
        let choice = request.tool_choice.as_ref().map(parse_tool_choice);
        conversation.tool_choice = choice.transpose()?;
        conversation.options = request.options();
        conversation.format = parse_response_format(&request.response_format)?;
        let mut message = IncomingMessage::with_role(Role::User, content);
        message.model = model;
        Ok(Self { message, conversation, tools })
    }
}

fn parse_tool_choice(sent: &Value) -> Result<ToolChoice, OpenAiError> {
    let named = sent.get("function").and_then(|function| function.get("name"));
    match (sent.as_str(), named.and_then(Value::as_str)) {
        (Some("auto"), _) => Ok(ToolChoice::Auto),
        (Some("none"), _) => Ok(ToolChoice::None),
        (Some("required"), _) => Ok(ToolChoice::Required),
        (None, Some(name)) => Ok(ToolChoice::Named(name.to_owned())),
        _ => {
            let message = r#"send "auto", "none", "required" or {"type": "function", "function": {"name": …}}"#;
            Err(OpenAiError::invalid_param("tool_choice", message))
        }
    }
}
