//! Front ends made with the AI SDK: `POST /api/chat`, coming back to a stream, and the same over a WebSocket.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;
use toolwright_chat::{PendingApproval, ChatError, ApprovalResponse};
use toolwright_core::{CallId, Content, Role};

use super::body;
use super::conversation::denied;
use super::turn::{self, Told};
use crate::endpoint::Live;
use crate::event::PeerId;
use crate::guest::Guest;
use crate::job::{Job, Message, Task};
use crate::problem::Problem;
use crate::reader::Reader;
use crate::room::Room;
use crate::template::{ID, Params};
use crate::ui::ai_sdk::AiSdk;

/// What a front end sends.
#[derive(Deserialize)]
pub(super) struct Sent {
    pub(super) id: Option<String>,
    #[serde(default)]
    messages: Vec<Ui>,
    model: Option<String>,
}

/// One of its messages.
#[derive(Deserialize)]
struct Ui {
    id: Option<String>,
    role: String,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    r#type: String,
    text: Option<String>,
    url: Option<String>,
    media_type: Option<String>,
    tool_call_id: Option<String>,
    state: Option<String>,
    approval: Option<Approval>,
}

#[derive(Deserialize)]
struct Approval {
    id: String,
    #[serde(default)]
    approved: bool,
    reason: Option<String>,
    /// The token that came with the question.
    signature: Option<String>,
}

/// One turn that was asked for, and whether it can be.
pub(super) struct Begun {
    room: Arc<Room>,
    peer: PeerId,
    taken: oneshot::Receiver<Result<u64, ChatError>>,
    waiting: Vec<PendingApproval>,
    continued: Option<String>,
    known: Vec<CallId>,
}

pub(super) async fn send(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    params: Option<Path<Params>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let sent: Sent = body::read(&live.app.limits, &headers, body).await?;
    let params = params.map(|Path(params)| params).unwrap_or_default();
    let begun = begin(&live, guest.clone(), params, sent, peer()?).await?;
    let told = begun.told().await?;
    Ok(stream(&live, guest, told))
}

/// Somebody of whom nothing is known but that they asked.
pub(super) fn peer() -> Result<PeerId, Problem> {
    Ok(crate::endpoint::random()?.into())
}

fn stream(live: &Live, guest: Guest, told: Told<AiSdk>) -> Response {
    let version = (
        HeaderName::from_static("x-vercel-ai-ui-message-stream"),
        HeaderValue::from_static("v1"),
    );
    turn::stream(told, guest, live.heartbeat, [version])
}

/// Has what was sent answered.
pub(super) async fn begin(
    live: &Arc<Live>,
    guest: Guest,
    mut params: Params,
    sent: Sent,
    peer: PeerId,
) -> Result<Begun, Problem> {
    if live.template.collection().is_some() && params.is_empty() {
        let id = sent.id.clone();
        let id = id.ok_or_else(|| Problem::invalid("send `id`, the conversation's"))?;
        params.push((ID.to_owned(), id));
    }
    let room = live.room(params, &guest.owner())?;
    room.wake(&guest).await?;
    room.settle().await;
    let waiting = room.log().pending().to_vec();
    let last = sent.messages.last();
    let continued = last.filter(|message| message.role == "assistant");
    let task = match continued {
        Some(message) => Task::Decide(decisions(message, &waiting)?),
        None => {
            let mut message = said(last)?;
            message.model = sent
                .model
                .as_deref()
                .map(|name| live.app.models.find(name))
                .transpose()?;
            Task::Prompt(message)
        }
    };
    let parts = continued.into_iter().flat_map(|message| &message.parts);
    let known = parts.filter_map(|part| part.tool_call_id.as_deref().map(CallId::from));
    let known = known.collect();
    let continued = continued.and_then(|message| message.id.clone());
    let mut job = Job::new(task, guest, Some(PeerId::clone(&peer)));
    let taken = job.wait();
    room.accept(job).await?;
    Ok(Begun {
        room,
        peer,
        taken,
        waiting,
        continued,
        known,
    })
}

impl Begun {
    pub(super) fn room(&self) -> &Arc<Room> {
        &self.room
    }

    /// Waits until it begins, and tells it from there on.
    pub(super) async fn told(self) -> Result<Told<AiSdk>, Problem> {
        let gone = |_| Problem::conflict("the conversation went on without it");
        let after = self.taken.await.map_err(gone)??;
        let answer = self.room.log().turn().answer;
        let message = self.continued.unwrap_or_else(|| named(answer));
        let calls = self.waiting.into_iter().map(|asked| asked.call);
        let translator = AiSdk::new(message, calls.collect(), self.known);
        let reader = Reader::new(self.room, Some(after), Some(self.peer));
        Ok(Told::new(reader, translator))
    }
}

/// The name of the message that an answer is.
fn named(answer: u64) -> String {
    format!("answer-{answer}")
}

/// What the person said last.
fn said(last: Option<&Ui>) -> Result<Message, Problem> {
    let nothing = || Problem::invalid("the last of `messages` has to be what the person said");
    let last = last.filter(|message| message.role == "user");
    let content = last.ok_or_else(nothing)?.parts.iter().filter_map(content);
    let content: Vec<Content> = content.collect();
    match content.is_empty() {
        true => Err(nothing()),
        false => Ok(Message::of(Role::User, content)),
    }
}

fn content(part: &Part) -> Option<Content> {
    match (part.r#type.as_str(), &part.text, &part.url) {
        ("text", Some(text), _) => Some(Content::text(text)),
        ("file", _, Some(url)) => {
            let kind = part.media_type.as_deref().unwrap_or_default();
            let data = url.strip_prefix("data:")?.split_once(";base64,")?.1;
            let (data, mime_type) = (data.to_owned(), kind.to_owned());
            match kind.split_once('/')?.0 {
                "image" => Some(Content::Image { data, mime_type }),
                "audio" => Some(Content::Audio { data, mime_type }),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What the person has decided about calls that wait.
fn decisions(message: &Ui, waiting: &[PendingApproval]) -> Result<Vec<ApprovalResponse>, Problem> {
    let mut decided = Vec::new();
    for part in &message.parts {
        let Some(approval) = part
            .approval
            .as_ref()
            .filter(|_| part.state.as_deref() == Some("approval-responded"))
        else {
            continue;
        };
        let Some(asked) = waiting
            .iter()
            .find(|asked| asked.call.id.as_str() == approval.id)
        else {
            continue;
        };
        let mut asked = asked.clone();
        if let Some(token) = &approval.signature {
            let read = serde_json::from_str(token);
            asked.token = read.map_err(|_| Problem::conflict("`signature` is not what it was"))?;
        }
        decided.push(match approval.approved {
            true => asked.approve(),
            false => asked.deny(denied(approval.reason.as_deref())),
        });
    }
    match decided.is_empty() {
        true => Err(Problem::conflict(
            "nothing of what was decided waits for a decision",
        )),
        false => Ok(decided),
    }
}

pub(super) async fn resume(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    Path(params): Path<Params>,
) -> Result<Response, Problem> {
    let room = live.room(params, &guest.owner())?;
    room.wake(&guest).await?;
    match resumed(&room) {
        Some(told) => Ok(stream(&live, guest, told)),
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// The turn that runs, from its beginning on.
pub(super) fn resumed(room: &Arc<Room>) -> Option<Told<AiSdk>> {
    let (turn, waiting) = {
        let log = room.log();
        (log.turn().clone(), log.pending().to_vec())
    };
    if !turn.runs {
        return None;
    }
    let calls = waiting.into_iter().map(|asked| asked.call).collect();
    let translator = AiSdk::new(named(turn.answer), calls, Vec::new());
    let reader = Reader::whole(Arc::clone(room), turn.after);
    Some(Told::new(reader, translator))
}

/// A frame as a front end sends it over a WebSocket.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Frame {
    Send {
        #[serde(rename = "requestId")]
        request: String,
        #[serde(flatten)]
        sent: Sent,
    },
    Resume {
        #[serde(rename = "requestId")]
        request: String,
        id: Option<String>,
    },
    Abort {
        #[serde(rename = "requestId")]
        request: String,
    },
}

/// An answer to one, with what belongs to its kind.
pub(super) fn reply(kind: &str, request: &str, more: &[(&str, Value)]) -> String {
    let mut frame = serde_json::Map::new();
    frame.insert("type".to_owned(), kind.into());
    frame.insert("requestId".to_owned(), request.into());
    for (name, value) in more {
        frame.insert((*name).to_owned(), value.clone());
    }
    Value::from(frame).to_string()
}
