//! What a front end sends for a run, as far as it is read here.

use serde::Deserialize;
use serde_json::Value;
use toolwright_chat::ApprovalVerdict;
use toolwright_core::{CallId, Content, Role};

use crate::http::conversation::denied;
use crate::problem::Problem;

/// A request for a run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Input {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    messages: Vec<Sent>,
    #[serde(default)]
    pub(super) tools: Vec<Value>,
    #[serde(default)]
    context: Vec<About>,
    #[serde(default)]
    forwarded_props: Value,
    #[serde(default)]
    pub(super) resume: Vec<Resume>,
}

/// One message of a thread.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    role: String,
    #[serde(default)]
    content: Value,
    tool_call_id: Option<String>,
}

/// Something the front end wants the model to know.
#[derive(Deserialize)]
struct About {
    description: String,
    value: String,
}

/// What somebody decided about a call that waited.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resume {
    pub(super) interrupt_id: String,
    status: Status,
    payload: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Resolved,
    Cancelled,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    approved: bool,
    edited_args: Option<Value>,
    reason: Option<String>,
}

/// What is said, and by whom.
type Parts = Vec<(Role, Vec<Content>)>;

impl Input {
    /// What the person said since the last answer.
    pub(super) fn said_since(&self) -> Result<Parts, Problem> {
        let answered = |sent: &Sent| matches!(sent.role.as_str(), "assistant" | "tool");
        let from = self.messages.iter().rposition(answered);
        let newest = self.messages.iter().skip(from.map_or(0, |at| at + 1));
        let mut parts = parts(newest)?;
        parts.retain(|(role, _)| *role == Role::User);
        Ok(parts)
    }

    /// What came of a call that the client runs itself, where it says so.
    pub(super) fn result_of(&self, call: &CallId) -> Result<Option<Vec<Content>>, Problem> {
        let of = |sent: &&Sent| {
            sent.role == "tool" && sent.tool_call_id.as_deref() == Some(call.as_str())
        };
        let result = self.messages.iter().rev().find(of);
        result.map(|sent| content(&sent.content)).transpose()
    }

    /// What was said in the whole thread, without the tools that were called.
    pub(super) fn all(&self) -> Result<Parts, Problem> {
        parts(self.messages.iter())
    }

    /// What the application tells the model besides.
    pub(super) fn told(&self) -> Vec<Content> {
        let says = |sent: &&Sent| matches!(sent.role.as_str(), "system" | "developer");
        let says = self.messages.iter().filter(says);
        let says = says.filter_map(|sent| sent.content.as_str().map(str::to_owned));
        let about = self.context.iter();
        let about = about.map(|About { description, value }| format!("{description}: {value}"));
        says.chain(about).map(Content::text).collect()
    }

    /// The model that was chosen.
    pub(super) fn model(&self) -> Option<&str> {
        self.forwarded_props.get("model")?.as_str()
    }
}

fn parts<'a>(messages: impl Iterator<Item = &'a Sent>) -> Result<Parts, Problem> {
    let mut parts = Vec::new();
    for sent in messages {
        let role = match sent.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => continue,
        };
        let content = content(&sent.content)?;
        if !content.is_empty() {
            parts.push((role, content));
        }
    }
    Ok(parts)
}

fn content(sent: &Value) -> Result<Vec<Content>, Problem> {
    match sent {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Content::text(text)]),
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ => Err(Problem::invalid(
            "a message's `content` is a text or a list of parts",
        )),
    }
}

fn part(part: &Value) -> Result<Content, Problem> {
    let field =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = field(part, "type").unwrap_or_default();
    let source = part.get("source").cloned().unwrap_or_default();
    let of = field(&source, "type").unwrap_or_default();
    let (value, mime_type) = (field(&source, "value"), field(&source, "mimeType"));
    match (
        kind.as_str(),
        field(part, "text"),
        of.as_str(),
        value,
        mime_type,
    ) {
        ("text", Some(text), ..) => Ok(Content::text(text)),
        ("image", _, "data", Some(data), Some(mime_type)) => Ok(Content::Image { data, mime_type }),
        ("audio", _, "data", Some(data), Some(mime_type)) => Ok(Content::Audio { data, mime_type }),
        (_, _, "url", Some(uri), _) => Ok(Content::link(&uri, &uri)),
        _ => Err(Problem::invalid(format!(
            "a part of the kind `{kind}` cannot be read: send text, pictures and sounds as data, or a URL"
        ))),
    }
}

impl Resume {
    /// How it was decided.
    pub(super) fn verdict(&self) -> Result<ApprovalVerdict, String> {
        if matches!(self.status, Status::Cancelled) {
            let reason = denied(None);
            return Ok(ApprovalVerdict::Deny { reason });
        }
        let payload = self.payload.clone();
        let payload = payload.ok_or("`payload` has to say whether it is `approved`")?;
        let Payload {
            approved,
            edited_args,
            reason,
        } = serde_json::from_value(payload).map_err(|error| format!("`payload`: {error}"))?;
        match (approved, edited_args) {
            (false, _) => {
                let reason = denied(reason.as_deref());
                Ok(ApprovalVerdict::Deny { reason })
            }
            (true, None) => Ok(ApprovalVerdict::Approve),
            (true, Some(arguments @ Value::Object(_))) => Ok(ApprovalVerdict::Edit { arguments }),
            (true, Some(_)) => Err("`editedArgs` has to be an object".to_owned()),
        }
    }
}
