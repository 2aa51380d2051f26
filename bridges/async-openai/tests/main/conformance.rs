//! Both APIs of async-openai: its types where calls are run by hand, its client where the loop runs them.

use std::sync::Arc;

use assistant_tools as _;
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestMessage,
    ChatCompletionRequestToolMessageContent, ChatCompletionRequestUserMessageContent,
    ChatCompletionRequestUserMessageContentPart, ChatCompletionTools, FunctionCall,
};
use async_openai::types::responses::{
    FunctionCallOutput, FunctionToolCall, InputContent, InputItem, Item, OutputItem, Tool,
};
use conformance::{CONVERSATION, CallOutcome, Framework, ListedTool};
use serde_json::{Value, json};
use toolwright::chat::{Chat, Model};
use toolwright::schema::Dialect;
use toolwright::{
    ApprovalDecision, ApprovalRequest, Approver, BoxFuture, Bridge, BridgeError, Content, Invoker,
    Registry, ToolCall, tool,
};
use toolwright_async_openai::{model, tools};

mod carried;

/// Chat Completions.
struct OverChat;

impl Framework for OverChat {
    const NAME: &'static str = "async-openai";

    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
        let shown = tools(bridge)?.chat().into_iter().filter_map(|tool| match tool {
            ChatCompletionTools::Function(tool) => Some(ListedTool {
                name: tool.function.name,
                description: tool.function.description.unwrap_or_default(),
                schema: tool.function.parameters.unwrap_or_default(),
                strict: tool.function.strict,
                ..ListedTool::default()
            }),
            ChatCompletionTools::Custom(_) => None,
        });
        Ok(shown.collect())
    }

    async fn call(bridge: &Bridge, call: ToolCall) -> Option<CallOutcome> {
        let tools = tools(bridge).ok()?;
        let call = chat_call("call_1", call.name.as_str(), &call.arguments.to_string());
        let mut heard = CallOutcome::default();
        for message in tools.invoke_chat(&[call]).await {
            match message {
                ChatCompletionRequestMessage::Tool(message) => {
                    heard.text = message_text(&message.content)
                }
                ChatCompletionRequestMessage::User(message) => {
                    heard.media = addresses(&message.content).iter().map(|a| kind(a)).collect();
                }
                _ => return None,
            }
        }
        Some(heard)
    }

    async fn run_conversation(bridge: &Bridge, address: &str) -> Vec<String> {
        let client = client(address);
        let model = model("openai-chat:gpt-5", move |request| {
            let client = client.clone();
            async move { client.chat().create_stream(request).await }
        });
        run_conversation(bridge, model.ok()).await
    }
}

/// Responses.
struct OverResponses;

impl Framework for OverResponses {
    const NAME: &'static str = "async-openai";

    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
        let tools = tools(bridge)?.responses().into_iter();
        let shown = tools.filter_map(|tool| match tool {
            Tool::Function(tool) => Some(ListedTool {
                name: tool.name,
                description: tool.description.unwrap_or_default(),
                schema: tool.parameters.unwrap_or_default(),
                strict: tool.strict,
                ..ListedTool::default()
            }),
            _ => None,
        });
        Ok(shown.collect())
    }

    async fn call(bridge: &Bridge, call: ToolCall) -> Option<CallOutcome> {
        let tools = tools(bridge).ok()?;
        let call = FunctionToolCall {
            name: call.name.to_string(),
            arguments: call.arguments.to_string(),
            call_id: "call_1".to_owned(),
            ..FunctionToolCall::default()
        };
        let mut items = tools.invoke_responses(&[OutputItem::FunctionCall(call)]).await;
        let Some(InputItem::Item(Item::FunctionCallOutput(answer))) = items.pop() else {
            return None;
        };
        let parts = match answer.output {
            FunctionCallOutput::Text(text) => vec![text.into()],
            FunctionCallOutput::Content(parts) => parts,
        };
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                InputContent::InputText(part) => texts.push(part.text),
                InputContent::InputImage(part) => media.push(kind(&part.image_url?)),
                InputContent::InputFile(_) => return None,
            }
        }
        Some(CallOutcome { text: texts.join("\n"), media, ..CallOutcome::default() })
    }

    async fn run_conversation(bridge: &Bridge, address: &str) -> Vec<String> {
        let client = client(address);
        let model = model("openai:gpt-5", move |request| {
            let client = client.clone();
            async move { client.responses().create_stream(request).await }
        });
        run_conversation(bridge, model.ok()).await
    }
}

conformance::suite!(OverChat);

mod over_responses {
    use super::OverResponses;

    conformance::suite!(OverResponses);
}

mod over_byot {
    use super::*;

    /// Chat Completions in JSON, and nothing else.
    struct OverJson;

    impl Framework for OverJson {
        const NAME: &'static str = "async-openai";

        fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
            OverChat::listed_tools(bridge)
        }

        async fn call(bridge: &Bridge, call: ToolCall) -> Option<CallOutcome> {
            OverChat::call(bridge, call).await
        }

        async fn run_conversation(bridge: &Bridge, address: &str) -> Vec<String> {
            let client = client(address);
            let model = model("openai-chat:gpt-5", move |request: Value| {
                let client = client.clone();
                async move { client.chat().create_stream_byot::<_, Value>(request).await }
            });
            run_conversation(bridge, model.ok()).await
        }
    }

    conformance::cases! { OverJson: the_agent_loop_answers_the_four_questions }
}

fn client(address: &str) -> Client<OpenAIConfig> {
    let config = OpenAIConfig::new().with_api_base(format!("{address}/v1"));
    Client::with_config(config.with_api_key("none"))
}

/// Gives no money back.
struct DenyingApprover;

impl Approver for DenyingApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move { request.deny("not today") })
    }
}

/// Asks all questions in one conversation; an answer that is none ends it.
async fn run_conversation(bridge: &Bridge, model: Option<Arc<dyn Model>>) -> Vec<String> {
    let mut answers = Vec::new();
    if let (Some(model), Ok(offer)) = (model, bridge.export()) {
        // The loop asks its own approver, not the invoker.s.
        let chat = Chat::builder(offer.invoker(), model).approver(DenyingApprover).build();
        for question in CONVERSATION {
            let ask = chat.message().conversation("talk").user(question.question);
            match ask.call().await {
                Ok(response) => answers.push(response.text()),
                Err(error) => {
                    answers.push(format!("{error:?}"));
                    break;
                }
            }
        }
    }
    answers
}

fn chat_call(id: &str, name: &str, arguments: &str) -> ChatCompletionMessageToolCalls {
    ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall {
        id: id.to_owned(),
        function: FunctionCall { name: name.to_owned(), arguments: arguments.to_owned() },
    })
}

fn message_text(content: &ChatCompletionRequestToolMessageContent) -> String {
    match content {
        ChatCompletionRequestToolMessageContent::Text(text) => text.clone(),
        ChatCompletionRequestToolMessageContent::Array(_) => String::new(),
    }
}

fn addresses(content: &ChatCompletionRequestUserMessageContent) -> Vec<String> {
    let ChatCompletionRequestUserMessageContent::Array(parts) = content else {
        return Vec::new();
    };
    let pictures = parts.iter().filter_map(|part| match part {
        ChatCompletionRequestUserMessageContentPart::ImageUrl(part) => {
            Some(part.image_url.url.clone())
        }
        _ => None,
    });
    pictures.collect()
}

/// The media type of a picture's address.
fn kind(address: &str) -> String {
    let kind = address.strip_prefix("data:").unwrap_or_default();
    kind.split(';').next().unwrap_or_default().to_owned()
}

/// Null fields mean the same as absent ones.
fn without_null(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            for field in fields.values_mut() {
                *field = without_null(field.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_null(item.take());
            }
        }
        _ => {}
    }
    value
}

/// Sums up two numbers.
#[tool(read_only)]
fn sum(a: i64, b: Option<i64>) -> i64 {
    a + b.unwrap_or(1)
}

/// Paints a pixel.
#[tool(read_only)]
fn paint(kind: Option<String>) -> Vec<Content> {
    let kind = kind.unwrap_or("image/png".to_owned());
    vec![Content::image(kind, b"\x89PNG")]
}

fn invoker() -> Invoker {
    let registry = Registry::new();
    for tool in [sum::tool(), paint::tool()] {
        registry.add(tool).unwrap();
    }
    Invoker::new(&registry).unwrap()
}

#[tokio::test]
async fn calls_of_one_message_are_answered_in_their_order() {
    let tools = tools(&invoker()).unwrap();
    let custom =
        json!({"type": "custom", "id": "c", "custom_tool": {"name": "theirs", "input": "x"}});
    let calls = [
        chat_call("b", "sum", r#"{"a":1}"#),
        serde_json::from_value(custom).unwrap(),
        chat_call("d", "paint", "{}"),
        chat_call("a", "sum", r#"{"a":"x"}"#),
        chat_call("e", "paint", r#"{"kind":"image/svg+xml"}"#),
    ];
    let messages = tools.invoke_chat(&calls).await;
    let messages = serde_json::to_value(messages).unwrap();
    let tool_message =
        |id: &str, content: &str| json!({"role": "tool", "tool_call_id": id, "content": content});
    let pixel =
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}});
    assert_eq!(
        without_null(messages),
        json!([
            tool_message("b", "2"),
            tool_message("d", "See below."),
            tool_message("a", "Error: invalid arguments for `sum`:\n/a: expected an integer, got \"x\""),
            tool_message("e", "[an image, image/svg+xml, 4 bytes, which cannot be shown here]"),
            {"role": "user", "content": [{"type": "text", "text": "From the result of paint:"}, pixel]},
        ])
    );
}

#[tokio::test]
async fn items_of_a_response_come_back_as_they_were_with_outputs_behind_them() {
    let bridge = Bridge::new(&invoker()).dialect(Dialect::OPENAI);
    let tools = tools(&bridge).unwrap();
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret"},
        {"type": "function_call", "id": "fc_1", "call_id": "b", "name": "sum", "arguments": "{\"a\":1,\"b\":null}",
         "status": "completed"},
        {"type": "function_call", "id": "fc_2", "call_id": "a", "name": "paint", "arguments": "{\"kind\":null}",
         "status": "completed", "caller": {"type": "program", "caller_id": "prog_1"}},
    ]);
    let output: Vec<OutputItem> = serde_json::from_value(items.clone()).unwrap();
    let replayed = tools.replay_responses(output.clone()).await;
    let replayed = without_null(serde_json::to_value(replayed).unwrap());
    let pixel = json!({"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw=="});
    let outputs = json!([
        {"type": "function_call_output", "call_id": "b", "output": "2"},
        {"type": "function_call_output", "call_id": "a", "output": [pixel],
         "caller": {"type": "program", "caller_id": "prog_1"}},
    ]);
    let all = [items, outputs.clone()].map(|list| list.as_array().unwrap().clone()).concat();
    assert_eq!(replayed, Value::Array(all));
    let only = tools.invoke_responses(&output).await;
    assert_eq!(without_null(serde_json::to_value(only).unwrap()), outputs);
}
