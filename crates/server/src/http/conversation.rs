//! One conversation of an endpoint: as it stands, as it goes on, and what people say and decide in it.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_chat::{ApprovalResponse, ApprovalVerdict};
use toolwright_core::{CallId, Content, Grant, Role};

use super::{body, json as answer, socket, sse};
use crate::endpoint::{Live, random};
use crate::event::PeerId;
use crate::guest::Guest;
use crate::job::{Job, Message, Task};
use crate::journal::write_journal;
use crate::problem::Problem;
use crate::reader::Reader;
use crate::room::Room;
use crate::template::Params;
use crate::visit::Visit;

pub(super) async fn show(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    Path(params): Path<Params>,
    Query(from): Query<From>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let room = entered(&live, params, &guest).await?;
    if !headers.contains_key(header::UPGRADE) {
        room.settle().await;
        let snapshot = room.snapshot().await?;
        return answer(StatusCode::OK, &snapshot);
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(wrong) => return Err(Problem::invalid(format!("the upgrade: {wrong}"))),
    };
    let peer = match from.peer {
        Some(peer) => peer.into(),
        None => random()?.into(),
    };
    let most = live.app.limits.message;
    let upgrade = upgrade.max_message_size(most).max_frame_size(most);
    Ok(upgrade.on_upgrade(move |socket| socket::talk(socket, room, guest, from.after, peer)))
}

/// The room, with whatever an earlier process left unfinished going on in it.
async fn entered(live: &Arc<Live>, params: Params, guest: &Guest) -> Result<Arc<Room>, Problem> {
    let room = live.room(params, &guest.owner())?;
    room.wake(guest).await?;
    Ok(room)
}

#[derive(Deserialize)]
pub(super) struct From {
    after: Option<u64>,
    peer: Option<String>,
}

pub(super) async fn events(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    Path(params): Path<Params>,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let room = entered(&live, params, &guest).await?;
    // A browser that comes back by itself says it here, and knows better than the address it began with.
    let last = headers.get("last-event-id");
    let last = last.and_then(|last| last.to_str().ok()?.parse().ok());
    let peer = from.peer.map(PeerId::from);
    let visit = Visit::begin(&room, guest.clone(), peer.clone());
    let reader = Reader::new(room, last.or(from.after), peer);
    Ok(sse::events(reader, visit, guest))
}

/// Something that is said: a text, a prompt of the registry, or both.
#[derive(Deserialize)]
pub(super) struct Prompted {
    text: Option<String>,
    model: Option<String>,
    prompt: Option<Named>,
    peer: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Prompted {
    /// Has it answered; tells whether it has to wait, and the number of the newest event.
    pub(super) async fn submit(
        self,
        room: &Arc<Room>,
        guest: Guest,
        peer: Option<PeerId>,
    ) -> Result<(bool, u64), Problem> {
        let peer = peer.or(self.peer.as_deref().map(PeerId::from));
        let message = self.message(&room.live, &guest).await?;
        room.wake(&guest).await?;
        let job = Job::new(Task::Prompt(message), guest, peer);
        let seq = room.log().newest();
        let queued = room.accept(job).await?;
        Ok((queued, seq))
    }

    async fn message(self, live: &Live, guest: &Guest) -> Result<Message, Problem> {
        let mut parts = Vec::new();
        if let Some(Named { name, arguments }) = self.prompt {
            let arguments = body::arguments(arguments);
            let scope = guest.scope();
            let rendered = guest.invoker().render_in(&scope, name, &arguments);
            let rendered = rendered.await.map_err(|failure| {
                let message = failure.text().into_owned();
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "prompt", message)
            })?;
            parts.push((rendered.role, rendered.content));
        }
        if let Some(text) = self.text.filter(|text| !text.trim().is_empty()) {
            parts.push((Role::User, vec![Content::text(text)]));
        }
        if parts.is_empty() {
            return Err(Problem::invalid("nothing is said: send `text`"));
        }
        let model = self.model.map(|name| live.app.models.find(&name));
        let model = model.transpose()?;
        Ok(Message { parts, model })
    }
}

pub(super) async fn prompt(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    Path(params): Path<Params>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let room = live.room(params, &guest.owner())?;
    let prompted: Prompted = body::read(&live.app.limits, &headers, body).await?;
    let (queued, seq) = prompted.submit(&room, guest, None).await?;
    answer(
        StatusCode::ACCEPTED,
        &json!({ "queued": queued, "seq": seq }),
    )
}

/// Somebody's decision about a call that waits.
#[derive(Deserialize)]
pub(super) struct Decision {
    call: CallRef,
    token: Grant,
    verdict: String,
    arguments: Option<Value>,
    reason: Option<String>,
    answer: Option<String>,
    peer: Option<String>,
}

/// A call: its id, or the whole call as `pending` shows it.
#[derive(Deserialize)]
#[serde(untagged)]
enum CallRef {
    Id(CallId),
    Call { id: CallId },
}

impl CallRef {
    fn id(&self) -> &CallId {
        match self {
            Self::Id(id) | Self::Call { id } => id,
        }
    }
}

impl Decision {
    /// Has the turn go on with it; returns the number before the first event of that.
    pub(super) async fn submit(
        self,
        room: &Arc<Room>,
        guest: Guest,
        peer: Option<PeerId>,
    ) -> Result<u64, Problem> {
        let peer = peer.or(self.peer.as_deref().map(PeerId::from));
        room.wake(&guest).await?;
        let decided =
            json!({ "call": self.call.id(), "token": self.token, "verdict": self.verdict()? });
        let decided = serde_json::from_value(decided);
        let decided: ApprovalResponse = decided.map_err(|error| Problem::invalid(error.to_string()))?;
        let mut job = Job::new(Task::Decide(vec![decided]), guest, peer);
        let taken = job.wait();
        room.accept(job).await?;
        match taken.await {
            Ok(taken) => Ok(taken?),
            Err(_) => Err(Problem::conflict(
                "the conversation went on without the decision",
            )),
        }
    }

    fn verdict(&self) -> Result<ApprovalVerdict, Problem> {
        match self.verdict.as_str() {
            "approve" => Ok(ApprovalVerdict::Approve),
            "deny" => {
                let reason = denied(self.reason.as_deref());
                Ok(ApprovalVerdict::Deny { reason })
            }
            "edit" => match &self.arguments {
                Some(arguments @ Value::Object(_)) => {
                    let arguments = arguments.clone();
                    Ok(ApprovalVerdict::Edit { arguments })
                }
                _ => Err(Problem::invalid("`edit` needs `arguments`, an object")),
            },
            "answer" => match &self.answer {
                Some(answer) => {
                    let content = vec![Content::text(answer)];
                    Ok(ApprovalVerdict::Answer { content })
                }
                None => Err(Problem::invalid("`answer` needs `answer`, a text")),
            },
            other => Err(Problem::invalid(format!(
                "`{other}` is no verdict: send approve, deny, edit or answer"
            ))),
        }
    }
}

/// What the model reads of a denial.
pub(super) fn denied(reason: Option<&str>) -> String {
    match reason.unwrap_or_default().trim() {
        "" => "not approved".to_owned(),
        reason => format!("not approved: {reason}"),
    }
}

pub(super) async fn decide(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    Path(params): Path<Params>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let room = live.room(params, &guest.owner())?;
    let decision: Decision = body::read(&live.app.limits, &headers, body).await?;
    let seq = decision.submit(&room, guest, None).await?;
    answer(StatusCode::ACCEPTED, &json!({ "seq": seq }))
}

pub(super) async fn stop(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    Path(params): Path<Params>,
) -> Result<Response, Problem> {
    let room = live.room(params, &guest.owner())?;
    let stopped = room.stop().await?;
    answer(StatusCode::ACCEPTED, &json!({ "stopped": stopped }))
}

pub(super) async fn delete(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    Path(params): Path<Params>,
) -> Result<Response, Problem> {
    let room = live.room(params, &guest.owner())?;
    if room.is_running() {
        return Err(Problem::conflict(
            "a turn runs in this conversation: stop it first",
        ));
    }
    match room.live.delete(&room.id).await? {
        true => Ok(StatusCode::NO_CONTENT.into_response()),
        false => Err(Problem::unknown("there is no such conversation")),
    }
}

pub(super) async fn export(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    Path(params): Path<Params>,
) -> Result<Response, Problem> {
    let room = live.room(params, &guest.owner())?;
    let mut entries = room.live.store.load(&room.id).await?;
    // The scopes of a principal are nobody else's business.
    entries.iter_mut().for_each(|entry| entry.principal = None);
    if entries.is_empty() {
        return Err(Problem::unknown("there is no such conversation"));
    }
    let text = write_journal(&room.name, &entries).map_err(|error| {
        let message = format!("the conversation cannot be written: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    })?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/jsonl"),
        ),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_static(r#"attachment; filename="conversation.jsonl""#),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, text).into_response())
}
