//! Front ends of Vercel's AI SDK: `POST /api/chat`, resuming a stream, and the same over a WebSocket.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;
use toolwright_chat::{ApprovalResponse, PendingApproval};
use toolwright_conversation::{ConversationError, PeerId};
use toolwright_core::{CallId, Content, Role};

use super::native::denial_text;
use super::question::{answer_question, is_question};
use super::sse;
use super::turn_stream::ProtocolStream;
use crate::auth::request_context::RequestContext;
use crate::conversation::access::{OpenConversation, Operation};
use crate::conversation::room::Room;
use crate::conversation::room_command::{CommandKind, IncomingMessage, RoomCommand};
use crate::conversation::subscriber::Subscriber;
use crate::endpoint::EndpointRuntime;
use crate::endpoint::path_template::{ID_PARAM, PathParams};
use crate::http::body;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Path;
use crate::protocols::ai_sdk::encoder::AiSdkEncoder;

pub(crate) mod encoder;
pub(crate) mod websocket;

/// The request of a front end.
#[derive(Deserialize)]
pub(crate) struct UiChatRequest {
    pub(crate) id: Option<String>,
    #[serde(default)]
    messages: Vec<UiMessage>,
    model: Option<String>,
}

/// A message of the request.
#[derive(Deserialize)]
struct UiMessage {
    id: Option<String>,
    role: String,
    #[serde(default)]
    parts: Vec<UiPart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UiPart {
    r#type: String,
    text: Option<String>,
    url: Option<String>,
    media_type: Option<String>,
    tool_call_id: Option<String>,
    state: Option<String>,
    output: Option<Value>,
    approval: Option<UiApproval>,
}

#[derive(Deserialize)]
struct UiApproval {
    id: String,
    #[serde(default)]
    approved: bool,
    reason: Option<String>,
    /// The approval token that came with the request for approval, as JSON.
    signature: Option<String>,
}

/// A turn in the queue of its room: what the response needs to stream its events once it starts.
pub(crate) struct SubmittedTurn {
    pub(crate) conversation: OpenConversation,
    peer: PeerId,
    is_decision: bool,
    started: oneshot::Receiver<Result<u64, ConversationError>>,
    pending_approvals: Vec<PendingApproval>,
    continued_message_id: Option<String>,
    known_calls: Vec<CallId>,
}

pub(crate) async fn post_chat(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    params: Option<Path<PathParams>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let request: UiChatRequest = body::read_json(&endpoint.server.limits, &headers, body).await?;
    let params = params.map(|Path(params)| params).unwrap_or_default();
    let submitted =
        submit_chat(&endpoint, context.clone(), params, request, random_peer_id()?).await?;
    let conversation = submitted.conversation.clone();
    let stream = submitted.into_stream().await?;
    Ok(stream_response(&endpoint, context, &conversation, stream))
}

/// `POST PATH/chat` where the path has no parameters: the id of the conversation is in the body.
pub(crate) async fn post_chat_without_id(
    endpoint: State<Arc<EndpointRuntime>>,
    context: Extension<RequestContext>,
    Path(params): Path<PathParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    match params.last() {
        Some((_, last)) if last == "chat" => {
            post_chat(endpoint, context, None, headers, body).await
        }
        _ => Err(ErrorResponse::method_not_allowed()),
    }
}

/// A peer id for a request without one.
pub(crate) fn random_peer_id() -> Result<PeerId, ErrorResponse> {
    Ok(crate::endpoint::random_id()?.into())
}

fn stream_response(
    endpoint: &EndpointRuntime,
    context: RequestContext,
    conversation: &OpenConversation,
    stream: ProtocolStream<AiSdkEncoder>,
) -> Response {
    let version =
        (HeaderName::from_static("x-vercel-ai-ui-message-stream"), HeaderValue::from_static("v1"));
    let ended = conversation.wait_ended(&context);
    sse::stream_response(stream, endpoint, None, context, ended, [version])
}

/// Submits the last message, or the decisions in it.
pub(crate) async fn submit_chat(
    endpoint: &Arc<EndpointRuntime>,
    context: RequestContext,
    mut params: PathParams,
    request: UiChatRequest,
    peer: PeerId,
) -> Result<SubmittedTurn, ErrorResponse> {
    if endpoint.template.collection_path().is_some() && params.is_empty() {
        let id = request.id.clone();
        let id = id.ok_or_else(|| ErrorResponse::bad_request("send `id`, the conversation's"))?;
        params.push((ID_PARAM.to_owned(), id));
    }
    let conversation = endpoint.open_conversation(params, &context, Operation::Participate).await?;
    let room = Arc::clone(&conversation.room);
    room.recover_unfinished_turn(&context).await?;
    let pending = room.pending_approvals(&context).await?;
    let last = request.messages.last();
    let continued = last.filter(|message| message.role == "assistant");
    let kind = match continued {
        Some(message) => CommandKind::Decisions(approval_responses(message, &pending)?),
        None => {
            let mut message = last_user_message(last)?;
            message.choose_model(&endpoint.server.models, request.model.as_deref())?;
            CommandKind::Message(message)
        }
    };
    let parts = continued.into_iter().flat_map(|message| &message.parts);
    let known = parts.filter_map(|part| part.tool_call_id.as_deref().map(CallId::from));
    let known = known.collect();
    let is_decision = continued.is_some();
    let continued = continued.and_then(|message| message.id.clone());
    let mut command = RoomCommand::new(kind, context, Some(PeerId::clone(&peer)));
    let started = command.started_receiver();
    room.admit(command).await?;
    Ok(SubmittedTurn {
        conversation,
        peer,
        is_decision,
        started,
        pending_approvals: pending,
        continued_message_id: continued,
        known_calls: known,
    })
}

impl SubmittedTurn {
    /// Waits until the turn starts, and streams it from there.
    pub(crate) async fn into_stream(self) -> Result<ProtocolStream<AiSdkEncoder>, ErrorResponse> {
        let after = self.started.await.map_err(|_| ConversationError::not_taken())??;
        let room = self.conversation.room;
        let answer = room.event_log().turn().answer_id;
        let subscriber = match self.is_decision {
            // The first request that has sent it may have had another peer.
            true => Subscriber::for_all_recipients(Arc::clone(&room), after),
            false => Subscriber::new(Arc::clone(&room), Some(after), Some(self.peer)),
        };
        let message = self.continued_message_id.unwrap_or_else(|| answer_message_id(answer));
        let calls =
            self.pending_approvals.into_iter().map(|pending_approval| pending_approval.call);
        let encoder = AiSdkEncoder::new(message, calls.collect(), self.known_calls);
        Ok(ProtocolStream::new(subscriber, encoder))
    }
}

/// The id of the assistant message of an answer.
fn answer_message_id(answer: u64) -> String {
    format!("answer-{answer}")
}

/// The last message, if it is a user message with content.
fn last_user_message(last: Option<&UiMessage>) -> Result<IncomingMessage, ErrorResponse> {
    let no_message = || {
        ErrorResponse::bad_request("the last of `messages` has to be a user message with content")
    };
    let last = last.filter(|message| message.role == "user");
    let content = last.ok_or_else(no_message)?.parts.iter().filter_map(part_content);
    let content: Vec<Content> = content.collect();
    match content.is_empty() {
        true => Err(no_message()),
        false => Ok(IncomingMessage::with_role(Role::User, content)),
    }
}

fn part_content(part: &UiPart) -> Option<Content> {
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

/// The decisions in a message about pending calls.
fn approval_responses(
    message: &UiMessage,
    pending: &[PendingApproval],
) -> Result<Vec<ApprovalResponse>, ErrorResponse> {
    let mut responses = Vec::new();
    for part in &message.parts {
        // The front end answers a question as it gives the output of a tool of its own.
        let asked = |call: &&PendingApproval| {
            is_question(call) && part.tool_call_id.as_deref() == Some(call.call.id.as_str())
        };
        if part.state.as_deref() == Some("output-available")
            && let (Some(question), Some(output)) = (pending.iter().find(asked), &part.output)
        {
            responses.push(answer_question(question, output));
            continue;
        }
        let Some(approval) =
            part.approval.as_ref().filter(|_| part.state.as_deref() == Some("approval-responded"))
        else {
            continue;
        };
        let Some(pending_approval) = pending
            .iter()
            .find(|pending_approval| pending_approval.call.id.as_str() == approval.id)
        else {
            continue;
        };
        let mut pending_approval = pending_approval.clone();
        if let Some(token) = &approval.signature {
            let read = serde_json::from_str(token);
            pending_approval.token =
                read.map_err(|_| ErrorResponse::conflict("`signature` is not what it was"))?;
        }
        let text = approval.reason.as_deref();
        responses.push(match (approval.approved, text) {
            (true, Some(answer)) if is_question(&pending_approval) => {
                answer_question(&pending_approval, &answer.into())
            }
            (true, _) => pending_approval.approve(),
            (false, _) => pending_approval.deny(denial_text(approval.reason.as_deref())),
        });
    }
    match responses.is_empty() {
        true => Err(ErrorResponse::conflict("nothing of what was decided waits for a decision")),
        false => Ok(responses),
    }
}

pub(crate) async fn resume_stream(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    Path(params): Path<PathParams>,
) -> Result<Response, ErrorResponse> {
    let conversation = endpoint.open_conversation(params, &context, Operation::Read).await?;
    conversation.room.recover_unfinished_turn(&context).await?;
    match running_turn_stream(&conversation.room) {
        Some(stream) => Ok(stream_response(&endpoint, context, &conversation, stream)),
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// The running turn, from its beginning.
pub(crate) fn running_turn_stream(room: &Arc<Room>) -> Option<ProtocolStream<AiSdkEncoder>> {
    let (turn, pending) = {
        let log = room.event_log();
        (log.turn().clone(), log.pending().to_vec())
    };
    if !turn.running {
        return None;
    }
    let calls = pending.into_iter().map(|pending_approval| pending_approval.call).collect();
    let encoder = AiSdkEncoder::new(answer_message_id(turn.answer_id), calls, Vec::new());
    let subscriber = Subscriber::for_all_recipients(Arc::clone(room), turn.seq_before);
    Some(ProtocolStream::new(subscriber, encoder))
}
