//! The request for a run, as far as the server reads it.

use serde::Deserialize;
use serde_json::Value;
use toolwright_chat::{ApprovalResponse, PendingApproval};
use toolwright_core::{CallId, Content, Role};

use crate::http::error_response::ErrorResponse;
use crate::protocols::native::denial_text;
use crate::protocols::question::{answer_question, is_question};
use toolwright_chat::MessagePart;

/// A request for a run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunAgentInput {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    messages: Vec<ThreadMessage>,
    #[serde(default)]
    pub(super) tools: Vec<Value>,
    #[serde(default)]
    context: Vec<ContextItem>,
    #[serde(default)]
    forwarded_props: Value,
    #[serde(default)]
    pub(super) resume: Vec<ResumeEntry>,
}

/// One message of a thread.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadMessage {
    role: String,
    #[serde(default)]
    content: Value,
    tool_call_id: Option<String>,
}

/// Additional context for the model.
#[derive(Deserialize)]
struct ContextItem {
    description: String,
    value: String,
}

/// A decision about a pending call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResumeEntry {
    pub(super) interrupt_id: String,
    status: ResumeStatus,
    payload: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResumeStatus {
    Resolved,
    Cancelled,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResumePayload {
    approved: bool,
    edited_args: Option<Value>,
    /// The answer to a question.
    answer: Option<Value>,
    reason: Option<String>,
}

impl RunAgentInput {
    /// The user messages since the last answer.
    pub(super) fn new_user_messages(&self) -> Result<Vec<MessagePart>, ErrorResponse> {
        let answered =
            |message: &ThreadMessage| matches!(message.role.as_str(), "assistant" | "tool");
        let from = self.messages.iter().rposition(answered);
        let newest = self.messages.iter().skip(from.map_or(0, |at| at + 1));
        let mut parts = parse_messages(newest)?;
        parts.retain(|part| part.role == Role::User);
        Ok(parts)
    }

    /// The result of a call that the client has run, if it is in the messages.
    pub(super) fn tool_result(&self, call: &CallId) -> Result<Option<Vec<Content>>, ErrorResponse> {
        let of = |message: &&ThreadMessage| {
            message.role == "tool" && message.tool_call_id.as_deref() == Some(call.as_str())
        };
        let result = self.messages.iter().rev().find(of);
        result.map(|message| parse_content(&message.content)).transpose()
    }

    /// The user and assistant messages of the whole thread, without tool calls.
    pub(super) fn all_messages(&self) -> Result<Vec<MessagePart>, ErrorResponse> {
        parse_messages(self.messages.iter())
    }

    /// The context of the application for the model: system messages and context items.
    pub(super) fn context_content(&self) -> Vec<Content> {
        let system_texts =
            |message: &&ThreadMessage| matches!(message.role.as_str(), "system" | "developer");
        let system_texts = self.messages.iter().filter(system_texts);
        let system_texts =
            system_texts.filter_map(|message| message.content.as_str().map(str::to_owned));
        let context_texts = self.context.iter();
        let context_texts = context_texts
            .map(|ContextItem { description, value }| format!("{description}: {value}"));
        system_texts.chain(context_texts).map(Content::text).collect()
    }

    /// The model in `forwardedProps`.
    pub(super) fn chosen_model(&self) -> Option<&str> {
        self.forwarded_props.get("model")?.as_str()
    }
}

fn parse_messages<'a>(
    messages: impl Iterator<Item = &'a ThreadMessage>,
) -> Result<Vec<MessagePart>, ErrorResponse> {
    let mut parts = Vec::new();
    for message in messages {
        let role = match message.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => continue,
        };
        let content = parse_content(&message.content)?;
        if !content.is_empty() {
            parts.push(MessagePart { role, content });
        }
    }
    Ok(parts)
}

fn parse_content(message: &Value) -> Result<Vec<Content>, ErrorResponse> {
    match message {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Content::text(text)]),
        Value::Array(parts) => parts.iter().map(parse_part).collect(),
        _ => Err(ErrorResponse::bad_request("a message's `content` is a text or a list of parts")),
    }
}

fn parse_part(part: &Value) -> Result<Content, ErrorResponse> {
    let field =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = field(part, "type").unwrap_or_default();
    let source = part.get("source").cloned().unwrap_or_default();
    let of = field(&source, "type").unwrap_or_default();
    let (value, mime_type) = (field(&source, "value"), field(&source, "mimeType"));
    match (kind.as_str(), field(part, "text"), of.as_str(), value, mime_type) {
        ("text", Some(text), ..) => Ok(Content::text(text)),
        ("image", _, "data", Some(data), Some(mime_type)) => Ok(Content::Image { data, mime_type }),
        ("audio", _, "data", Some(data), Some(mime_type)) => Ok(Content::Audio { data, mime_type }),
        (_, _, "url", Some(uri), _) => Ok(Content::link(&uri, &uri)),
        _ => Err(ErrorResponse::bad_request(format!(
            "a part of the kind `{kind}` cannot be read: send text, pictures and sounds as data, or a URL"
        ))),
    }
}

impl ResumeEntry {
    /// The response to the call that the decision is about.
    pub(super) fn response(&self, approval: &PendingApproval) -> Result<ApprovalResponse, String> {
        if matches!(self.status, ResumeStatus::Cancelled) {
            return Ok(approval.deny(denial_text(None)));
        }
        let payload = self.payload.clone();
        let payload = payload.ok_or("`payload` has to contain `approved`")?;
        let ResumePayload { approved, edited_args, answer, reason } =
            serde_json::from_value(payload).map_err(|error| format!("`payload`: {error}"))?;
        match (approved, edited_args, answer) {
            (false, ..) => Ok(approval.deny(denial_text(reason.as_deref()))),
            (true, _, Some(answer)) if is_question(approval) => {
                Ok(answer_question(approval, &answer))
            }
            (true, _, Some(_)) => Err("`answer` is for questions, and this is a call".to_owned()),
            (true, None, None) => Ok(approval.approve()),
            (true, Some(arguments @ Value::Object(_)), None) => Ok(approval.edit(arguments)),
            (true, Some(_), None) => Err("`editedArgs` has to be an object".to_owned()),
        }
    }
}
