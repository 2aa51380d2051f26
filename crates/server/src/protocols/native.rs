//! The native protocol over HTTP: reads a conversation, streams its events, and accepts messages and decisions.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_chat::{ApprovalResponse, ApprovalVerdict, MessagePart, check_turn_end};
use toolwright_conversation::{ConversationError, PeerId};
use toolwright_core::{ApprovalToken, CallId, Content, Role};

use self::events::EventFrames;
use self::journal_file::write_journal;
use super::sse;
use crate::auth::request_context::RequestContext;
use crate::conversation::access::{OpenConversation, Operation};
use crate::conversation::presence::Presence;
use crate::conversation::room::{Admitted, Room};
use crate::conversation::room_command::{CommandKind, IncomingMessage, RoomCommand};
use crate::conversation::subscriber::Subscriber;
use crate::endpoint::EndpointRuntime;
use crate::endpoint::path_template::PathParams;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::{Path, Query, WebSocketUpgrade};
use crate::http::{body, json_response as answer};

pub(crate) mod conversation_list;
mod events;
pub(crate) mod journal_file;
pub(crate) mod management;
mod websocket;

const NO_SUCH_ENTRY: &str = "this conversation has no entry with the id that `at` names";

/// The path of a conversation: to the entry of the id `at`, or to the newest one.
#[derive(Deserialize)]
pub(crate) struct PathQuery {
    at: Option<String>,
}

pub(crate) async fn show_or_upgrade(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
    Query(path): Query<PathQuery>,
    headers: HeaderMap,
    Query(from): Query<EventsQuery>,
    upgrade: Result<WebSocketUpgrade, ErrorResponse>,
) -> Result<Response, ErrorResponse> {
    let conversation = open_recovered(&endpoint, params, &context).await?;
    if !headers.contains_key(header::UPGRADE) {
        let room = &conversation.room;
        room.wait_until_recovered().await;
        let mut snapshot = room.snapshot_at(path.at.as_deref()).await?;
        (snapshot.id, snapshot.access) =
            (conversation.client_id(), Some(conversation.access_name()));
        if path.at.is_some() && snapshot.entries.is_empty() {
            return Err(ErrorResponse::not_found(NO_SUCH_ENTRY));
        }
        return answer(StatusCode::OK, &snapshot);
    }
    websocket::upgrade(upgrade?, conversation, context, from)
}

/// Opens a conversation to read it, and resumes the turn that an earlier process left unfinished.
async fn open_recovered(
    endpoint: &Arc<EndpointRuntime>,
    params: PathParams,
    context: &RequestContext,
) -> Result<OpenConversation, ErrorResponse> {
    let conversation = endpoint.open_conversation(params, context, Operation::Read).await?;
    conversation.room.recover_unfinished_turn(context).await?;
    Ok(conversation)
}

#[derive(Deserialize)]
pub(crate) struct EventsQuery {
    after: Option<u64>,
    peer: Option<String>,
}

pub(crate) async fn subscribe_events(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
    Query(from): Query<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    let conversation = open_recovered(&endpoint, params, &context).await?;
    // Set by a browser that reconnects; newer than the query of the original URL.
    let last = headers.get("last-event-id");
    let last = last.and_then(|last| last.to_str().ok()?.parse().ok());
    let peer = from.peer.map(PeerId::from);
    let presence = Presence::join(&conversation.room, context.clone(), peer.clone());
    let subscriber = Subscriber::new(Arc::clone(&conversation.room), last.or(from.after), peer)
        .client_id(conversation.client_id());
    let endpoint = Arc::clone(&subscriber.room.endpoint);
    let frames = EventFrames::new(subscriber, presence);
    let idle_timeout = endpoint.idle_timeout;
    let ended = conversation.wait_ended(&context);
    Ok(sse::stream_response(frames, &endpoint, idle_timeout, context, ended, []))
}

/// A message: a text, a prompt of the registry, or both.
#[derive(Deserialize)]
pub(crate) struct MessageRequest {
    text: Option<String>,
    model: Option<String>,
    prompt: Option<PromptReference>,
    peer: Option<String>,
    /// The id of the entry after which the message continues the conversation.
    after: Option<String>,
}

#[derive(Deserialize)]
struct PromptReference {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl MessageRequest {
    /// Submits the message; returns whether it is queued behind another turn and where, and the newest sequence number.
    pub(crate) async fn submit(
        self,
        room: &Arc<Room>,
        context: RequestContext,
        peer: Option<PeerId>,
    ) -> Result<(Admitted, u64), ErrorResponse> {
        let peer = peer.or(self.peer.as_deref().map(PeerId::from));
        let message = self.into_message(&room.endpoint, &context).await?;
        room.recover_unfinished_turn(&context).await?;
        if let Some(after) = &message.after {
            check_turn_end(&room.endpoint.store, &room.id, after).await?;
        }
        let command = RoomCommand::new(CommandKind::Message(message), context, peer);
        let seq = room.event_log().newest_seq();
        let admitted = room.admit(command).await?;
        Ok((admitted, seq))
    }

    async fn into_message(
        self,
        endpoint: &EndpointRuntime,
        context: &RequestContext,
    ) -> Result<IncomingMessage, ErrorResponse> {
        let mut parts = Vec::new();
        if let Some(PromptReference { name, arguments }) = self.prompt {
            let arguments = body::arguments_or_empty(arguments);
            let scope = context.call_scope();
            let rendered = context.invoker().render_prompt_in(&scope, name, &arguments);
            let rendered = rendered.await.map_err(|failure| {
                let message = failure.text().into_owned();
                ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, "prompt", message)
            })?;
            parts.push(MessagePart { role: rendered.role, content: rendered.content });
        }
        if let Some(text) = self.text.filter(|text| !text.trim().is_empty()) {
            parts.push(MessagePart { role: Role::User, content: vec![Content::text(text)] });
        }
        if parts.is_empty() {
            return Err(ErrorResponse::bad_request("the message is empty: send `text`"));
        }
        let mut message = IncomingMessage::empty();
        message.choose_model(&endpoint.server.models, self.model.as_deref())?;
        (message.parts, message.after) = (parts, self.after);
        Ok(message)
    }
}

/// The answer to a message.
#[derive(Serialize)]
struct MessageAccepted {
    queued: bool,
    seq: u64,
    position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<bool>,
}

pub(crate) async fn post_message(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let room = endpoint.open_conversation(params, &context, Operation::Participate).await?.room;
    let request: MessageRequest = body::read_json(&endpoint.server.limits, &headers, body).await?;
    let (admitted, seq) = request.submit(&room, context, None).await?;
    let Admitted { is_waiting, position, .. } = admitted;
    let accepted = MessageAccepted {
        queued: is_waiting,
        seq,
        position,
        // Accepted, and lost if the process ends.
        kept: (!room.endpoint.is_persistent()).then_some(false),
    };
    answer(StatusCode::ACCEPTED, &accepted)
}

pub(crate) async fn withdraw_message(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(mut params): Path<PathParams>,
) -> Result<Response, ErrorResponse> {
    // Not a parameter of the endpoint's own path.
    let position = params.pop().and_then(|(_, position)| position.parse().ok());
    let position = position.ok_or_else(|| ErrorResponse::not_found("a position is a number"))?;
    let room = endpoint.open_conversation(params, &context, Operation::Participate).await?.room;
    room.withdraw_message(position, &context).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A decision about a pending call.
#[derive(Deserialize)]
pub(crate) struct DecisionRequest {
    call: CallReference,
    token: ApprovalToken,
    verdict: String,
    arguments: Option<Value>,
    reason: Option<String>,
    answer: Option<String>,
    peer: Option<String>,
}

/// A call: its id, or the whole call as in `pending`.
#[derive(Deserialize)]
#[serde(untagged)]
enum CallReference {
    Id(CallId),
    Call { id: CallId },
}

impl DecisionRequest {
    /// Resumes the turn with the decision; returns the sequence number before its first event.
    pub(crate) async fn submit(
        self,
        room: &Arc<Room>,
        context: RequestContext,
        peer: Option<PeerId>,
    ) -> Result<u64, ErrorResponse> {
        let peer = peer.or(self.peer.as_deref().map(PeerId::from));
        room.recover_unfinished_turn(&context).await?;
        let response = self.into_response()?;
        let mut command = RoomCommand::new(CommandKind::Decisions(vec![response]), context, peer);
        let started = command.started_receiver();
        room.admit(command).await?;
        match started.await {
            Ok(started) => Ok(started?),
            Err(_) => Err(ConversationError::not_taken().into()),
        }
    }

    /// Returns true if it is a decision about this call.
    pub(crate) fn is_about(&self, id: &CallId) -> bool {
        let (CallReference::Id(call) | CallReference::Call { id: call }) = &self.call;
        call == id
    }

    fn into_response(self) -> Result<ApprovalResponse, ErrorResponse> {
        let bad_request = |message: &str| Err(ErrorResponse::bad_request(message));
        let verdict = match (self.verdict.as_str(), self.arguments, self.answer) {
            ("approve", ..) => ApprovalVerdict::Approve,
            ("deny", ..) => ApprovalVerdict::Deny { reason: denial_text(self.reason.as_deref()) },
            ("edit", Some(arguments @ Value::Object(_)), _) => ApprovalVerdict::Edit { arguments },
            ("edit", ..) => return bad_request("`edit` needs `arguments`, an object"),
            ("answer", _, Some(answer)) => {
                ApprovalVerdict::Answer { content: vec![Content::text(answer)] }
            }
            ("answer", ..) => return bad_request("`answer` needs `answer`, a text"),
            (other, ..) => {
                let message =
                    format!("`{other}` is no verdict: send approve, deny, edit or answer");
                return bad_request(&message);
            }
        };
        let (CallReference::Id(call) | CallReference::Call { id: call }) = self.call;
        Ok(ApprovalResponse::new(call, self.token, verdict))
    }
}

/// The result of a denied call, which the model reads.
pub(crate) fn denial_text(reason: Option<&str>) -> String {
    match reason.unwrap_or_default().trim() {
        "" => "not approved".to_owned(),
        reason => format!("not approved: {reason}"),
    }
}

pub(crate) async fn post_decision(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let room = endpoint.open_conversation(params, &context, Operation::Participate).await?.room;
    let request: DecisionRequest = body::read_json(&endpoint.server.limits, &headers, body).await?;
    let seq = request.submit(&room, context, None).await?;
    answer(StatusCode::ACCEPTED, &json!({ "seq": seq }))
}

pub(crate) async fn stop_turn(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
) -> Result<Response, ErrorResponse> {
    let room = endpoint.open_conversation(params, &context, Operation::Participate).await?.room;
    let stopped = room.stop_turn().await?;
    answer(StatusCode::ACCEPTED, &json!({ "stopped": stopped }))
}

pub(crate) async fn delete_conversation(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
) -> Result<Response, ErrorResponse> {
    let room = endpoint.open_conversation(params, &context, Operation::Manage).await?.room;
    if room.is_turn_running() {
        return Err(ErrorResponse::conflict("a turn runs in this conversation: stop it first"));
    }
    match room.endpoint.delete_conversation(&room.id).await? {
        true => {
            // A conversation that begins later under the same name has a title of its own anyway.
            let _ = endpoint.server.titles.remove(&room.id).await;
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        false => Err(ErrorResponse::no_such_conversation()),
    }
}

pub(crate) async fn export_journal(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
    Query(path): Query<PathQuery>,
) -> Result<Response, ErrorResponse> {
    let conversation = endpoint.open_conversation(params, &context, Operation::Read).await?;
    let room = &conversation.room;
    let entries = room.load_path(path.at.as_deref()).await?;
    if entries.is_empty() {
        return Err(match path.at {
            Some(_) => ErrorResponse::not_found(NO_SUCH_ENTRY),
            None => ErrorResponse::no_such_conversation(),
        });
    }
    let text = write_journal(&conversation.client_id(), &entries).map_err(|error| {
        let message = format!("the conversation cannot be written: {error}");
        ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    })?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/jsonl")),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_static(r#"attachment; filename="conversation.jsonl""#),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, text).into_response())
}
