//! Front ends of AG-UI: `POST /agui` runs the new messages or decisions of a thread.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use toolwright_chat::{ApprovalResponse, ApprovalVerdict, PendingApproval, StoreError, TailEnd};
use toolwright_conversation::ConversationError;
use toolwright_core::{CallId, Role};
use toolwright_schema::redact;

use self::input::{ResumeEntry, RunAgentInput};
use super::turn_stream::ProtocolStream;
use super::{Messages, ai_sdk, sse};
use crate::auth::request_context::{RequestContext, is_client_tool_call};
use crate::conversation::access::{OpenConversation, Operation};
use crate::conversation::room::Room;
use crate::conversation::room_command::{CommandKind, IncomingMessage, RoomCommand};
use crate::conversation::subscriber::Subscriber;
use crate::endpoint::client_tools;
use crate::endpoint::path_template::ID_PARAM;
use crate::endpoint::{EndpointRuntime, random_id};
use crate::http::error_response::ErrorResponse;
use crate::http::{ApiState, body};
use crate::protocols::ag_ui::encoder::{AgUiEncoder, run_error_event};
use crate::protocols::ag_ui::thread::{interrupt_id, thread_messages};

pub(crate) mod encoder;
mod input;
pub(crate) mod thread;

pub(crate) async fn run(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let endpoint = &state.endpoint;
    let input: RunAgentInput = body::read_json(&endpoint.server.limits, &headers, body).await?;
    match start_run(endpoint, context, &input).await {
        Ok(response) => Ok(response),
        Err(RunError::Protocol { code, message }) => {
            let mut events = Messages::default();
            events.push(run_error_event(code, &message));
            Ok(complete_stream_response(events))
        }
        Err(RunError::Http(error)) => Err(error),
    }
}

/// Why a run was not started.
enum RunError {
    /// Reported as a `RUN_ERROR` event.
    Protocol { code: &'static str, message: String },
    /// Reported as an HTTP error: the request is malformed, or the server cannot accept it.
    Http(ErrorResponse),
}

fn run_error<T>(code: &'static str, message: impl Into<String>) -> Result<T, RunError> {
    let message = message.into();
    Err(RunError::Protocol { code, message })
}

impl From<ErrorResponse> for RunError {
    fn from(error: ErrorResponse) -> Self {
        Self::Http(error)
    }
}

impl From<ConversationError> for RunError {
    fn from(error: ConversationError) -> Self {
        Self::Http(error.into())
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Http(error.into())
    }
}

async fn start_run(
    endpoint: &Arc<EndpointRuntime>,
    context: RequestContext,
    input: &RunAgentInput,
) -> Result<Response, RunError> {
    let params = vec![(ID_PARAM.to_owned(), input.thread_id.clone())];
    let conversation = endpoint.open_conversation(params, &context, Operation::Read).await?;
    let room = Arc::clone(&conversation.room);
    let tools = match client_tools::parse_client_tools(&input.tools, endpoint) {
        Ok(tools) => tools,
        Err((at, why)) => return run_error("tools", format!("tools[{at}]: {why}")),
    };
    let caller = context.clone().with_client_tools(tools);
    // With the client's tools: a call of one may be what the turn waits for.
    room.recover_unfinished_turn(&caller).await?;
    room.wait_until_recovered().await;
    let pending = room.pending_approvals(&caller).await.map_err(ErrorResponse::from)?;
    let Some(command_kind) = command_for_input(endpoint, &room, input, &pending).await? else {
        return Ok(replay_thread(endpoint, context, &conversation, input).await?);
    };
    conversation.check_again(&context, Operation::Participate).await?;
    let encoder =
        new_encoder(input)?.with_client_results(client_result_calls(&command_kind, &pending));
    let peer = ai_sdk::random_peer_id()?;
    let mut command = RoomCommand::new(command_kind, caller, Some(Arc::clone(&peer)));
    let is_decision = matches!(command.kind, CommandKind::Decisions(_));
    let started = command.started_receiver();
    let admitted = room.admit(command).await?;
    let after = match started.await {
        Ok(Ok(after)) => after,
        Ok(Err(why)) => return run_error("refused", redact(&why.to_string())),
        Err(_) => return run_error("refused", ConversationError::not_taken().to_string()),
    };
    let subscriber = match is_decision {
        // The first request that has sent it may have had another peer.
        true => Subscriber::for_all_recipients(room, after),
        false => Subscriber::new(room, Some(after), Some(peer)),
    };
    let encoder = encoder.with_item(admitted.item);
    let stream = ProtocolStream::new(subscriber, encoder);
    let ended = conversation.wait_ended(&context);
    Ok(sse::stream_response(stream, endpoint, None, context, ended, []))
}

fn new_encoder(input: &RunAgentInput) -> Result<AgUiEncoder, StoreError> {
    let name = format!("message-{}", random_id()?);
    Ok(AgUiEncoder::new(input.thread_id.clone(), input.run_id.clone(), name))
}

/// The command of a run; `None` if the input has neither new messages nor decisions.
async fn command_for_input(
    endpoint: &EndpointRuntime,
    room: &Room,
    input: &RunAgentInput,
    pending: &[PendingApproval],
) -> Result<Option<CommandKind>, RunError> {
    let (client_calls, approvals): (Vec<&PendingApproval>, Vec<&PendingApproval>) =
        pending.iter().partition(|it| is_client_tool_call(it));
    let mut decisions = Vec::new();
    for approval in client_calls {
        if let Some(content) = input.tool_result(&approval.call.id)? {
            decisions.push(approval.respond(ApprovalVerdict::Answer { content }));
        }
    }
    if !input.resume.is_empty() {
        decisions.extend(resume_decisions(&input.resume, &approvals)?);
        return Ok(Some(CommandKind::Decisions(decisions)));
    }
    let mut parts = input.new_user_messages()?;
    let has_input = !parts.is_empty() || !decisions.is_empty();
    if has_input && !approvals.is_empty() {
        let message = "calls of this thread wait for a decision: send `resume` for each of them";
        return run_error("interrupted", message);
    }
    if parts.is_empty() {
        return Ok((!decisions.is_empty()).then_some(CommandKind::Decisions(decisions)));
    }
    // An unknown thread began elsewhere or was deleted: the client's messages are its history.
    if endpoint.store.tail(&room.id, TailEnd::Newest, 1).await?.is_empty() {
        parts = input.all_messages()?;
    }
    if let Some(part) = parts.iter_mut().rfind(|part| part.role == Role::User) {
        part.content.splice(0..0, input.context_content());
    }
    let mut message = IncomingMessage::empty();
    message.choose_model(&endpoint.server.models, input.chosen_model())?;
    message.parts = parts;
    Ok(Some(CommandKind::Message(message)))
}

/// The decisions about all pending calls.
fn resume_decisions(
    resume: &[ResumeEntry],
    pending: &[&PendingApproval],
) -> Result<Vec<ApprovalResponse>, RunError> {
    let known =
        |entry: &&ResumeEntry| pending.iter().any(|it| interrupt_id(it) == entry.interrupt_id);
    if let Some(unknown) = resume.iter().find(|entry| !known(entry)) {
        let id = &unknown.interrupt_id;
        let message =
            format!("`{id}` does not wait for a decision: it is unknown, or decided already");
        return run_error("unknown_interrupt", message);
    }
    let decide = |approval: &&PendingApproval| {
        let id = interrupt_id(approval);
        let mut entries = resume.iter().filter(|entry| entry.interrupt_id == id);
        match (entries.next(), entries.next()) {
            (Some(entry), None) => entry
                .response(approval)
                .or_else(|why| run_error("invalid_payload", format!("`{id}`: {why}"))),
            (Some(_), Some(_)) => run_error("invalid_payload", format!("`{id}` is decided twice")),
            (None, _) => run_error(
                "uncovered_interrupt",
                format!("`resume` has to decide about `{id}`, too"),
            ),
        }
    };
    pending.iter().map(decide).collect()
}

/// The calls whose results the client has sent.
fn client_result_calls(command_kind: &CommandKind, pending: &[PendingApproval]) -> Vec<CallId> {
    let CommandKind::Decisions(decided) = command_kind else {
        return Vec::new();
    };
    let answered = decided.iter().filter(|it| {
        let call = pending.iter().find(|call| call.call.id == it.call);
        matches!(it.verdict, ApprovalVerdict::Answer { .. })
            && call.is_some_and(is_client_tool_call)
    });
    answered.map(|decided| decided.call.clone()).collect()
}

/// Sends the messages of a thread, and streams its running turn, if there is one.
async fn replay_thread(
    endpoint: &EndpointRuntime,
    context: RequestContext,
    conversation: &OpenConversation,
    input: &RunAgentInput,
) -> Result<Response, StoreError> {
    let room = Arc::clone(&conversation.room);
    let snapshot = room.snapshot().await?;
    let mut encoder = new_encoder(input)?;
    // For an unknown thread the client's messages are kept.
    if snapshot.running || !snapshot.entries.is_empty() {
        encoder = encoder.with_thread(thread_messages(&snapshot.entries), snapshot.pending);
    }
    match snapshot.running {
        true => {
            let subscriber = Subscriber::new(room, Some(snapshot.seq), None);
            let stream = ProtocolStream::new(subscriber, encoder);
            let ended = conversation.wait_ended(&context);
            Ok(sse::stream_response(stream, endpoint, None, context, ended, []))
        }
        false => Ok(complete_stream_response(encoder.encode_idle_thread())),
    }
}

/// A stream of these events only.
fn complete_stream_response(mut events: Messages) -> Response {
    let mut frames = Vec::new();
    events.move_frames(&mut frames);
    sse::sse_response(stream::iter([Bytes::from(frames)]), [])
}
