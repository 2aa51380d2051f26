//! Runs a turn without a stored conversation.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::{FutureExt as _, StreamExt as _};
use serde_json::Map;
use toolwright_chat::{ChatError, ChatEvent, TurnEnd, TurnRequest};
use toolwright_core::{CancellationToken, Content, Role};

use super::history::ModelWithHistory;
use super::request::ChatRequest;
use crate::auth::request_context::{RequestContext, is_client_tool_call};
use crate::conversation::event::EndpointEvent;
use crate::conversation::room::Room;
use crate::conversation::room_command::IncomingMessage;
use crate::conversation::session::Session;
use crate::conversation::turn::{answered, finish_turn};
use crate::conversation::turn_error::TurnError;
use crate::endpoint::interceptor::TurnContext;

/// The result of a call that needs approval, which the model reads.
const APPROVAL_UNAVAILABLE: &str =
    "not approved: the call needs a person's approval, and nobody can be asked over this API";

/// Runs a request with the endpoint's interceptors.
pub(super) async fn run_turn(
    room: Arc<Room>,
    context: RequestContext,
    request: ChatRequest,
    cancel: CancellationToken,
) {
    let turn = AssertUnwindSafe(run_turn_with_interceptors(&room, context, request, cancel));
    if turn.catch_unwind().await.is_err() {
        tracing::error!("a handler or an interceptor of the endpoint panicked");
        let kind = "internal".to_owned();
        let message = "the endpoint failed; its log has the reason".to_owned();
        room.publish(EndpointEvent::Error { kind, message }, None);
    }
}

async fn run_turn_with_interceptors(
    room: &Arc<Room>,
    context: RequestContext,
    mut request: ChatRequest,
    cancel: CancellationToken,
) {
    let context = context.with_client_tools(std::mem::take(&mut request.tools));
    let content = std::mem::take(&mut request.history.user_content);
    let mut message = IncomingMessage::with_role(Role::User, content);
    message.model = request.model.take();
    let mut turn = TurnContext {
        message,
        session: Session::new(room, context.clone(), None, cancel.clone()),
        metadata: Map::new(),
        conversation_usage: Default::default(),
        outcome: None,
        started_at: Instant::now(),
    };
    let result = answer_request(room, &mut turn, &context, request, cancel).await;
    finish_turn(room, turn, result).await;
}

async fn answer_request(
    room: &Arc<Room>,
    turn: &mut TurnContext,
    context: &RequestContext,
    request: ChatRequest,
    cancel: CancellationToken,
) -> Result<(), TurnError> {
    let endpoint = &room.endpoint;
    for interceptor in &endpoint.interceptors {
        if let Err(refusal) = interceptor.before(turn).await {
            endpoint.server.metrics.rejected_messages.inc();
            let content = vec![Content::text(refusal.reason())];
            turn.session.turn_state().end = Some(answered(content));
            return Ok(());
        }
    }
    if let Some(handler) = &endpoint.on_message {
        let result = handler(&turn.session, &turn.message).await;
        // The handler may have written to the journal, which no client can read.
        endpoint.delete_conversation(&room.id).await?;
        return result;
    }
    let mut turn_request =
        context.apply_to_turn(endpoint.chat.message(), endpoint).cancel_on(cancel);
    for (role, content) in &turn.message.parts {
        turn_request = match role {
            Role::User => turn_request.user(content.clone()),
            Role::Assistant => turn_request.assistant(content.clone()),
        };
    }
    if let Some(system) = request.history.system {
        turn_request = turn_request.system(system);
    }
    if let Some(options) = request.options {
        turn_request = turn_request.model_options(options);
    }
    if let Some(choice) = request.tool_choice {
        turn_request = turn_request.tool_choice(choice);
    }
    let chosen = turn.message.model.clone().map(|model| endpoint.with_guardrails(model));
    let model = chosen.unwrap_or_else(|| Arc::clone(&endpoint.model));
    let (before, after) = (request.history.messages_before, request.history.messages_after);
    let with_history = ModelWithHistory { model, messages_before: before, messages_after: after };
    run_to_end(room, turn, turn_request.model(with_history)).await
}

/// Runs a turn to its end, or to calls of the client's own tools; denies calls that need approval.
async fn run_to_end(
    room: &Room,
    turn: &TurnContext,
    mut turn_request: TurnRequest,
) -> Result<(), TurnError> {
    loop {
        let mut events = turn_request.stream();
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                // A `TurnEnded` event was already received.
                Err(ChatError::Ended { .. }) => return Ok(()),
                Err(error) => return Err(TurnError::from_chat_error(&error)),
            };
            room.endpoint.server.metrics.on_chat_event(&event);
            match event {
                ChatEvent::TurnEnded { .. } => turn.session.turn_state().end = Some(event),
                // Pending approvals are handled below.
                ChatEvent::TurnPaused { .. } => {}
                event => {
                    if let ChatEvent::TurnStarted { model, .. } = &event {
                        turn.session.turn_state().model = Some(model.clone());
                    }
                    room.publish(event, None);
                }
            }
        }
        let Some(response) = events.into_response().filter(|it| !it.pending_approvals().is_empty())
        else {
            return Ok(());
        };
        if response.pending_approvals().iter().any(is_client_tool_call) {
            turn.session.turn_state().end = Some(ChatEvent::TurnEnded {
                end: TurnEnd::Answered,
                content: Vec::new(),
                usage: response.usage(),
                cost: response.cost(),
            });
            return Ok(());
        }
        let denials = response
            .pending_approvals()
            .iter()
            .map(|approval| approval.deny(APPROVAL_UNAVAILABLE))
            .collect();
        turn_request = response.submit_approvals(denials);
    }
}
