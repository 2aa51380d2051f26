//! An offer in, definitions for a request out; a response in, its calls run and the messages to go on with out.

use genai::chat::{
    ChatMessage, ChatResponse, ContentPart, StopReason, Tool, ToolCall, ToolResponse,
};
use serde_json::Value;
use toolwright::wire::Shape;
use toolwright::{Bridge, BridgeError, ExportedTools};

use crate::result::{replay_arguments, to_chat_messages, to_tool_response};

/// The names that genai sends to some provider as that provider's own tool, whatever its definition is.
pub(crate) const HOSTED_TOOL_NAMES: &str = "web_search googleSearch googleSearchRetrieval codeExecution urlContext \
    google_search code_execution url_context file_search computer_use google_maps mcp_server retrieval";

/// Offers an invoker's tools to the models behind genai.
///
/// # Errors
///
/// When the tools cannot be listed, or one of them cannot be offered.
pub fn tools(bridge: impl Into<Bridge>) -> Result<Tools, BridgeError> {
    let offer = bridge.into().export_as(Shape::OpenAiResponses)?;
    let mut names = offer.tools().iter().map(|tool| tool.name.as_str());
    if let Some(name) =
        names.find(|name| HOSTED_TOOL_NAMES.split(' ').any(|hosted| hosted == *name))
    {
        let reason = "genai takes the name for a tool that the provider runs";
        return Err(BridgeError::rejected(name, reason));
    }
    Ok(Tools(offer))
}

/// Tools as genai sends them, and the way back; cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools(ExportedTools);

impl Tools {
    /// Returns the definitions, for [`ChatRequest::with_tools`](genai::chat::ChatRequest::with_tools).
    pub fn definitions(&self) -> Vec<Tool> {
        let tools = self.0.tools().iter();
        tools
            .map(|tool| to_genai_tool(&tool.name, &tool.description, &tool.schema, tool.strict))
            .collect()
    }

    /// Runs calls, those that only read at the same time, and returns what came of them, in the order of the calls.
    pub async fn run(&self, calls: &[ToolCall]) -> Vec<ToolResponse> {
        let ran = self.0.invoke_all(calls.iter().map(to_tool_call)).await;
        calls.iter().zip(&ran).map(|(call, result)| to_tool_response(call, result)).collect()
    }

    /// Runs the calls of a response, and returns the messages to go on with: none, where it makes no calls.
    ///
    /// The first is the model's message with its reasoning and signatures; the results of its calls follow, as
    /// the provider behind the response wants it.
    pub async fn answer(&self, response: &ChatResponse) -> Vec<ChatMessage> {
        let Some(mut message) = response.clone().into_assistant_message_for_tool_use() else {
            return Vec::new();
        };
        let stop = response.stop_reason.as_ref();
        let cut_off = stop.is_some_and(|stop| {
            matches!(stop, StopReason::MaxTokens(_) | StopReason::ContentFilter(_))
        });
        let mut calls = response.content.clone().into_tool_calls();
        if cut_off
            && let Some(call) = calls.last_mut()
            && call.fn_arguments == ""
        {
            // No arguments are as good as `{}`, but not where the answer breaks off: half an object never runs.
            call.fn_arguments = "{".into();
        }
        for part in &mut message.content {
            if let ContentPart::ToolCall(call) = part {
                call.fn_arguments = replay_arguments(call.fn_arguments.take());
            }
        }
        let results = to_chat_messages(response.model_iden.adapter_kind, self.run(&calls).await);
        [vec![message], results].concat()
    }
}

/// A definition; if strict mode is not set, some providers enforce the schema and others do not.
pub(crate) fn to_genai_tool(name: &str, description: &str, schema: &Value, strict: bool) -> Tool {
    let tool = Tool::new(name).with_description(description);
    tool.with_schema(schema.clone()).with_strict(strict)
}

/// A call as the invoker reads it: what genai could not parse goes on as the text it came as.
pub(crate) fn to_tool_call(call: &ToolCall) -> toolwright::ToolCall {
    let arguments = match &call.fn_arguments {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    };
    toolwright::ToolCall::new(call.fn_name.as_str(), arguments).with_id(call.call_id.as_str())
}
