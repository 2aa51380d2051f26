//! Converts the messages of a request into the system prompt, the history and the message of the turn.
//!
//! The history is not stored here, so the model receives it with every step of the turn, around the one message that the
//! turn is about.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use toolwright_chat::{Item, Message, ModelId, Step, StopReason, Usage};
use toolwright_core::{Content, ToolCall, ToolResult};

use super::error::OpenAiError;
use crate::conversation::unstored::UnstoredConversation;

/// One message of a request.
#[derive(Deserialize)]
pub(super) struct RequestMessage {
    role: String,
    #[serde(default)]
    content: Value,
    tool_calls: Option<Vec<RequestToolCall>>,
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
struct RequestToolCall {
    id: String,
    function: RequestFunction,
}

#[derive(Deserialize)]
struct RequestFunction {
    name: String,
    #[serde(default)]
    arguments: String,
}

/// Parses the messages of a request: the content of the turn's user message, and the conversation around it.
pub(super) fn parse_messages(
    messages: &[RequestMessage],
) -> Result<(Vec<Content>, UnstoredConversation), OpenAiError> {
    let (mut user_content, mut history) = (Vec::new(), UnstoredConversation::default());
    let mut system = Vec::new();
    let turn = messages.iter().rposition(|sent| sent.role == "user");
    let turn = turn
        .ok_or_else(|| OpenAiError::invalid_param("messages", "there is no message of a user"))?;
    let mut rest = messages.iter().enumerate().peekable();
    while let Some((at, sent)) = rest.next() {
        let content = parse_content(&sent.content, at)?;
        let message = match sent.role.as_str() {
            "system" | "developer" => {
                system.extend(
                    content.iter().filter_map(crate::protocols::content_text).map(str::to_owned),
                );
                continue;
            }
            "user" if at == turn => {
                user_content = content;
                continue;
            }
            "user" => Message::User(content),
            "assistant" => match &sent.tool_calls {
                Some(called) if !called.is_empty() => {
                    let results = std::iter::from_fn(|| rest.next_if(|(_, it)| it.role == "tool"));
                    let results: Vec<(usize, &RequestMessage)> = results.collect();
                    let messages = if at < turn {
                        &mut history.messages_before
                    } else {
                        &mut history.messages_after
                    };
                    messages.push(tool_call_step(content, called));
                    tool_results(called, &results, at)?
                }
                _ => Message::Assistant(content),
            },
            "tool" => {
                let message = "a message of a tool follows the assistant's that calls it";
                return Err(OpenAiError::invalid_param(format!("messages[{at}]"), message));
            }
            other => {
                let message =
                    format!("`{other}` is no role: system, developer, user, assistant or tool");
                return Err(OpenAiError::invalid_param(format!("messages[{at}].role"), message));
            }
        };
        let messages =
            if at < turn { &mut history.messages_before } else { &mut history.messages_after };
        messages.push(message);
    }
    history.system = (!system.is_empty()).then(|| system.join("\n\n"));
    Ok((user_content, history))
}

fn tool_call_step(content: Vec<Content>, called: &[RequestToolCall]) -> Message {
    let texts = content.into_iter().filter_map(|item| match item {
        Content::Text { text } => Some(Item::text(text)),
        _ => None,
    });
    let calls = called.iter().map(|call| {
        let RequestFunction { name, arguments } = &call.function;
        Item::call(ToolCall::new(name.as_str(), arguments.as_str()).with_id(call.id.as_str()))
    });
    let items = texts.chain(calls).collect();
    // The model that made the calls is not known; the step contains no provider items.
    let model = ModelId::new("caller", "");
    Message::Step(Arc::new(Step::new(model, items, StopReason::Calls, Usage::default())))
}

/// The results of a step's calls, in the order of the calls.
fn tool_results(
    called: &[RequestToolCall],
    sent: &[(usize, &RequestMessage)],
    at: usize,
) -> Result<Message, OpenAiError> {
    let mut results = Vec::new();
    for call in called {
        let found = sent.iter().find(|(_, sent)| sent.tool_call_id.as_ref() == Some(&call.id));
        let Some((place, found)) = found else {
            let message = format!("the call `{}` has no message of role tool after it", call.id);
            return Err(OpenAiError::invalid_param(format!("messages[{at}].tool_calls"), message));
        };
        let result = ToolResult::success(parse_content(&found.content, *place)?);
        results.push(result.for_call(call.id.as_str(), call.function.name.as_str()));
    }
    if sent.len() != called.len() {
        let message = "there are more messages of role tool than calls before them";
        return Err(OpenAiError::invalid_param(format!("messages[{at}].tool_calls"), message));
    }
    Ok(Message::Results(results))
}

fn parse_content(sent: &Value, at: usize) -> Result<Vec<Content>, OpenAiError> {
    match sent {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Content::text(text)]),
        Value::Array(parts) => {
            let read = parts.iter().map(|sent| parse_part(sent).ok_or_else(|| invalid_content(at)));
            read.collect()
        }
        _ => Err(invalid_content(at)),
    }
}

fn invalid_content(at: usize) -> OpenAiError {
    let message = "content is a text, or a list of `text`, `image_url` and `input_audio` parts";
    OpenAiError::invalid_param(format!("messages[{at}].content"), message)
}

fn parse_part(part: &Value) -> Option<Content> {
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    match text(part, "type")?.as_str() {
        "text" => Some(Content::text(text(part, "text")?)),
        "refusal" => Some(Content::text(text(part, "refusal")?)),
        "image_url" => {
            let url = text(part.get("image_url")?, "url")?;
            let Some(inline) = url.strip_prefix("data:") else {
                return Some(Content::link(&url, &url));
            };
            let (mime_type, data) = inline.split_once(";base64,")?;
            let (mime_type, data) = (mime_type.to_owned(), data.to_owned());
            Some(Content::Image { data, mime_type })
        }
        "input_audio" => {
            let audio = part.get("input_audio")?;
            let mime_type = format!("audio/{}", text(audio, "format")?);
            let data = text(audio, "data")?;
            Some(Content::Audio { data, mime_type })
        }
        _ => None,
    }
}
