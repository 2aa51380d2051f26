//! An invoker's tools in the types of both APIs; calls as their messages and items carry them in, what answers them out.

use async_openai::types::chat::ChatCompletionMessageToolCalls as Call;
use async_openai::types::chat::{ChatCompletionRequestMessage, ChatCompletionTools};
use async_openai::types::responses::{FunctionToolCall, InputItem, OutputItem, Tool};
use serde::de::DeserializeOwned;
use toolwright::wire::Shape;
use toolwright::{Bridge, BridgeError, ExportedTools, ToolCall};

use crate::result::{to_chat_messages, to_output_item};

/// Offers tools to both APIs, as they are now.
///
/// The dialect of an OpenAI model is [`Dialect::OPENAI`](toolwright::schema::Dialect::OPENAI): say so with
/// [`Bridge::dialect`], and `strict` is asked for where that loses nothing.
///
/// # Errors
///
/// When the tools cannot be listed, or one of them cannot be offered.
pub fn tools(bridge: impl Into<Bridge>) -> Result<Tools, BridgeError> {
    let bridge = bridge.into();
    let offer = bridge.export_as(Shape::OpenAiChat)?;
    Ok(Tools {
        chat_tools: decode_definitions(&offer)?,
        responses_tools: decode_definitions(&bridge.export_as(Shape::OpenAiResponses)?)?,
        offer,
    })
}

/// Tools as async-openai's requests take them, and what answers their calls.
///
/// Only calls of functions are run: what else a request offered, as custom tools or a shell, is for its author to answer.
///
/// # Examples
///
/// ```no_run
/// use async_openai::Client;
/// use async_openai::types::chat::{
///     ChatCompletionRequestAssistantMessageArgs, ChatCompletionRequestMessage, ChatCompletionRequestUserMessage,
///     CreateChatCompletionRequestArgs,
/// };
/// use toolwright::schema::Dialect;
/// use toolwright::{Bridge, Invoker, Registry};
///
/// # async fn ask() -> Result<Option<String>, Box<dyn std::error::Error>> {
/// let invoker = Invoker::new(&Registry::discover()?)?;
/// let bridge = Bridge::new(&invoker).dialect(Dialect::OPENAI);
/// let tools = toolwright_async_openai::tools(&bridge)?;
/// let client = Client::new();
/// let question = ChatCompletionRequestUserMessage::from("What is the weather in Paris?");
/// let mut messages: Vec<ChatCompletionRequestMessage> = vec![question.into()];
/// loop {
///     let mut request = CreateChatCompletionRequestArgs::default();
///     request.model("gpt-5").messages(messages.clone()).tools(tools.chat());
///     let answer = client.chat().create(request.build()?).await?.choices.swap_remove(0).message;
///     let Some(calls) = answer.tool_calls else {
///         return Ok(answer.content);
///     };
///     let said = ChatCompletionRequestAssistantMessageArgs::default().tool_calls(calls.clone()).build()?;
///     messages.push(said.into());
///     messages.extend(tools.invoke_chat(&calls).await);
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Tools {
    chat_tools: Vec<ChatCompletionTools>,
    responses_tools: Vec<Tool>,
    // One serves both: only what is written differs, not what is lifted.
    offer: ExportedTools,
}

impl Tools {
    /// Returns the tools of a Chat Completions request.
    pub fn chat(&self) -> Vec<ChatCompletionTools> {
        self.chat_tools.clone()
    }

    /// Returns the tools of a Responses request.
    pub fn responses(&self) -> Vec<Tool> {
        self.responses_tools.clone()
    }

    /// Runs the calls of a message, and returns what comes behind that message: a tool message for each, in the order of the
    /// calls, and the pictures among the results in a message of their own, because no tool message carries them.
    pub async fn invoke_chat(&self, calls: &[Call]) -> Vec<ChatCompletionRequestMessage> {
        let calls = calls.iter().filter_map(|call| match call {
            Call::Function(call) => Some((&call.id, &call.function)),
            Call::Custom(_) => None,
        });
        let made = calls.map(|(id, call)| to_tool_call(id, &call.name, &call.arguments));
        to_chat_messages(self.offer.invoke_all(made).await)
    }

    /// Runs the calls among the items of a response, and returns their outputs, in the order of the calls: the input of a
    /// request with `previous_response_id`.
    pub async fn invoke_responses(&self, items: &[OutputItem]) -> Vec<InputItem> {
        let calls = items.iter().filter_map(|item| match item {
            OutputItem::FunctionCall(call) => Some(call),
            _ => None,
        });
        let made =
            |call: &FunctionToolCall| to_tool_call(&call.call_id, &call.name, &call.arguments);
        let results = self.offer.invoke_all(calls.clone().map(made)).await;
        calls.zip(&results).map(to_output_item).collect()
    }

    /// Runs the calls among the items of a response, and returns what comes behind the input that led to it: all items as they
    /// came, reasoning before the calls it led to, then the outputs.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use async_openai::Client;
    /// use async_openai::types::responses::{CreateResponseArgs, EasyInputMessage, InputItem, OutputItem};
    ///
    /// # async fn ask(tools: toolwright_async_openai::Tools) -> Result<Option<String>, Box<dyn std::error::Error>> {
    /// let client = Client::new();
    /// let mut input: Vec<InputItem> = vec![EasyInputMessage::from("What is the weather in Paris?").into()];
    /// loop {
    ///     let mut request = CreateResponseArgs::default();
    ///     request.model("gpt-5").input(input.clone()).tools(tools.responses());
    ///     let response = client.responses().create(request.build()?).await?;
    ///     if !response.output.iter().any(|item| matches!(item, OutputItem::FunctionCall(_))) {
    ///         return Ok(response.output_text());
    ///     }
    ///     input.extend(tools.replay_responses(response.output).await);
    /// }
    /// # }
    /// ```
    pub async fn replay_responses(&self, items: Vec<OutputItem>) -> Vec<InputItem> {
        let outputs = self.invoke_responses(&items).await;
        items.into_iter().map(Into::into).chain(outputs).collect()
    }
}

fn to_tool_call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(name, arguments).with_id(id)
}

fn decode_definitions<T: DeserializeOwned>(offer: &ExportedTools) -> Result<Vec<T>, BridgeError> {
    serde_json::from_str(offer.tools_json()).map_err(|error| BridgeError::rejected("tools", error))
}
