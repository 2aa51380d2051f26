//! Runs a command of a room as a turn, with interceptors around it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use serde_json::Map;
use tokio::time::sleep;
use toolwright_chat::{
    ChatError, ChatEvent, EntryBody, InboxBody, InboxItem, MessagePart, PrincipalRecord,
    StoreError, TurnEnd, TurnStatus, Usage, check_turn_end,
};
use toolwright_conversation::{ConversationError, EndpointEvent, PeerId};
use toolwright_core::__internal::whole_millis;
use toolwright_core::{Content, Role};

use crate::conversation::room::Room;
use crate::conversation::room_command::{CommandKind, IncomingMessage, RoomCommand, StartedSender};
use crate::conversation::session::Session;
use crate::conversation::turn_error::TurnError;
use crate::endpoint::interceptor::{TurnContext, TurnOutcome};

/// Stands in the journal in place of a message that an interceptor rejected: the model must not read it in a later turn.
const REJECTED_MESSAGE: &str = "[a message that was rejected]";

/// What is known about the turn after a command.
pub(crate) enum CommandStatus {
    /// The turn has this status.
    Turn(TurnStatus),
    /// The journal has to be read.
    Unknown,
    /// The decisions were rejected, and nothing has happened.
    Rejected,
    /// The command is not done: the store failed, or it cannot be decided now who may enter.
    StoreFailed,
}

/// Runs a command, which is removed from the inbox when its entries are appended, and publishes its outcome.
pub(crate) async fn run_command(
    room: &Arc<Room>,
    mut command: Box<RoomCommand>,
    item: Option<InboxItem>,
) -> CommandStatus {
    let context = &command.request_context;
    let is_expired = context.is_expired();
    // It may have waited for long, or was stored by an earlier process.
    let access = room.check_access(context).await;
    match (&command.kind, access) {
        (CommandKind::Message(message), access) if is_expired || access.is_err() => {
            let reason = match access {
                Err(error) if error.is_transient() => return postpone(command.started, error),
                Err(_) => no_access_error(),
                Ok(()) => ConversationError::CredentialExpired,
            };
            let (principal, parts) = (context.principal_record(), message.parts.clone());
            return refuse_message(room, principal, item, parts, reason.into()).await;
        }
        (_, Ok(())) => {}
        (_, Err(error)) if error.is_transient() => return postpone(command.started, error),
        (CommandKind::Resume, Err(_)) => command.cancel.cancel(),
        (_, Err(error)) => {
            if let Some(started) = command.started.take() {
                // The receiver may be dropped.
                let _ = started.send(Err(error));
            }
            return CommandStatus::Rejected;
        }
    }
    let session =
        Session::new(room, command.request_context, command.peer, room.publisher(), command.cancel);
    {
        let mut state = session.turn_state();
        state.recovery_guard = command.recovery_guard;
        state.item_id = item.as_ref().map(|item| item.id.clone());
        state.account = command.account;
        state.inbox_item = item;
    }
    session.add_personal_tools().await;
    let mut turn = TurnContext {
        message: IncomingMessage::empty(),
        session: session.clone(),
        metadata: Map::new(),
        conversation_usage: Default::default(),
        outcome: None,
        started_at: Instant::now(),
    };
    let is_decision = matches!(command.kind, CommandKind::Decisions(_));
    let result = match command.kind {
        CommandKind::Message(message) => {
            turn.message = message;
            let answer = AssertUnwindSafe(answer_message(room, &mut turn, command.started));
            let result = answer.catch_unwind().await.unwrap_or_else(|_| {
                tracing::error!(conversation = room.id, "a handler of the endpoint panicked");
                Err(TurnError::Panicked)
            });
            append_failure(room, &turn, result).await
        }
        CommandKind::Decisions(decided) => {
            let request = room.endpoint.chat.submit_approvals(&*room.id, decided);
            let request = session.with_inbox_item(session.with_session_settings(request));
            session.run_turn(room.with_chosen_model(request).stream(), command.started).await
        }
        CommandKind::Resume => match room.resume_turn().await.map_err(TurnError::from) {
            Ok(_) => {
                let request = session.with_session_settings(room.endpoint.chat.resume(&*room.id));
                session.run_turn(room.with_chosen_model(request).stream(), None).await
            }
            Err(error) => Err(error),
        },
    };
    let status = match &result {
        Ok(()) if session.turn_state().paused => CommandStatus::Turn(TurnStatus::Paused),
        Ok(()) => CommandStatus::Turn(TurnStatus::Over),
        Err(error) if error.is_store_failure() => CommandStatus::StoreFailed,
        Err(error) if is_decision && error.is_rejected_decision() => CommandStatus::Rejected,
        Err(_) => CommandStatus::Unknown,
    };
    // Boxed, so that a running turn has no room for it.
    Box::pin(finish_turn(room, turn, result)).await;
    status
}

/// Leaves a command in the inbox, because it cannot be decided now whether its principal may use the conversation.
fn postpone(started: StartedSender, error: ConversationError) -> CommandStatus {
    if let Some(started) = started {
        // The receiver may be dropped.
        let _ = started.send(Err(error));
    }
    CommandStatus::StoreFailed
}

/// The principal of a message lost its access to the room before the message could be answered.
fn no_access_error() -> ConversationError {
    let message = "the person who sent the message may not enter this conversation any more, so it is not answered";
    ConversationError::Forbidden { message }
}

/// Ends the turn of a message that was accepted and is not answered; the message is kept in the journal.
pub(crate) async fn refuse_message(
    room: &Room,
    principal: Option<PrincipalRecord>,
    item: Option<InboxItem>,
    parts: Vec<MessagePart>,
    error: TurnError,
) -> CommandStatus {
    let to = item.as_ref().and_then(|item| item.peer.as_deref()).map(PeerId::from);
    let to = room.endpoint.event_recipient(to.as_ref());
    if room.unstored.is_none() {
        if room.abandon_turn(to.clone()).await.is_err() {
            return CommandStatus::StoreFailed;
        }
        let messages = parts.into_iter().map(|part| EntryBody::message(part.role, part.content));
        let end = TurnEnd::Failed { reason: error.to_string() };
        let entries = messages.chain([EntryBody::TurnEnded { end }]).collect();
        if room.append_entries(principal, item, entries).await.is_err() {
            return CommandStatus::StoreFailed;
        }
    }
    room.publisher().publish(error.to_event(), to);
    CommandStatus::Turn(TurnStatus::Over)
}

/// Answers a message, unless an interceptor rejects it.
async fn answer_message(
    room: &Arc<Room>,
    turn: &mut TurnContext,
    started: StartedSender,
) -> Result<(), TurnError> {
    let mut branch_after = turn.message.after.clone();
    let after = room.begin_turn(branch_after.as_deref(), turn.session.recipient()).await?;
    turn.session.turn_state().branch_after.clone_from(&branch_after);
    if let Some(started) = started {
        // The receiver may be dropped.
        let _ = started.send(Ok(after));
    }
    for MessagePart { role, content } in turn.message.parts.iter().cloned() {
        let after = branch_after.take();
        turn.session.publish(EndpointEvent::Message { role, content, after });
    }
    turn.conversation_usage = room.usage().await?;
    let mut interceptors = room.endpoint.interceptors.iter();
    while let Some(interceptor) = interceptors.next() {
        if let Err(rejection) = interceptor.before(turn).await {
            // The others may have rejected it for its content.
            turn.session.turn_state().is_message_checked =
                rejection.keeps_message() && interceptors.len() == 0;
            return reject_message(room, turn, rejection.reason()).await;
        }
    }
    turn.session.turn_state().is_message_checked = true;
    room.set_chosen_model(turn.message.model.clone());
    let message = turn.message.clone();
    match &room.endpoint.on_message {
        Some(handler) => {
            let stopped = async {
                turn.session.cancellation_token().cancelled().await;
                sleep(room.endpoint.server.limits.shutdown_grace).await;
            };
            tokio::select! {
                result = handler(&turn.session, &message) => result?,
                // The handler ignores its cancellation.
                () = stopped => turn.session.turn_state().external_transcript.end(TurnEnd::Cancelled),
            }
        }
        None => turn.session.answer_with_model(message.clone()).await?,
    }
    append_external_transcript(room, turn).await
}

/// Answers a message with the reason why it was rejected.
async fn reject_message(
    room: &Room,
    turn: &mut TurnContext,
    reason: &str,
) -> Result<(), TurnError> {
    room.endpoint.server.metrics.rejected_messages.inc();
    turn.metadata.insert("refused".to_owned(), true.into());
    let content = vec![Content::text(reason)];
    let answer = vec![EntryBody::Assistant { content: content.clone() }];
    append_turn(room, turn, answer, TurnEnd::Answered).await?;
    turn.session.publish(ChatEvent::Text { delta: reason.to_owned() });
    turn.session.turn_state().end = Some(answered(content));
    Ok(())
}

/// The end of a turn that no model has answered.
fn answered(content: Vec<Content>) -> ChatEvent {
    ChatEvent::TurnEnded {
        end: TurnEnd::Answered,
        content,
        usage: Usage::default(),
        cost: Some(0.0),
    }
}

/// Writes a turn to the journal that a handler answered without a chat, even if it sent nothing.
async fn append_external_transcript(room: &Room, turn: &TurnContext) -> Result<(), TurnError> {
    let mut transcript = {
        let mut state = turn.session.turn_state();
        // A chat has written its turn to the journal itself.
        if state.model.is_some() || state.paused {
            return Ok(());
        }
        std::mem::take(&mut state.external_transcript)
    };
    let text = transcript.full_text().to_owned();
    let is_empty = transcript.is_empty();
    let (entries, end) = transcript.finish();
    append_turn(room, turn, entries, end.clone()).await?;
    if !is_empty {
        let content = vec![Content::text(text)];
        let (usage, cost) = (Usage::default(), None);
        let ended = ChatEvent::TurnEnded { end, content, usage, cost };
        turn.session.turn_state().end.get_or_insert(ended);
    }
    Ok(())
}

/// Writes a message to the journal whose turn failed before that, with what its handler has sent: it was accepted, so it is kept.
///
/// After an error of the store, the message stays in the inbox and is answered later.
async fn append_failure(
    room: &Room,
    turn: &TurnContext,
    result: Result<(), TurnError>,
) -> Result<(), TurnError> {
    let Err(error) = &result else { return result };
    if room.unstored.is_some() || error.is_store_failure() || error.is_withdrawal() {
        return result;
    }
    let mut transcript = std::mem::take(&mut turn.session.turn_state().external_transcript);
    let (entries, _) = transcript.finish();
    let end = match turn.session.cancellation_token().is_cancelled() {
        true => TurnEnd::Cancelled,
        false => TurnEnd::Failed { reason: error.to_string() },
    };
    match append_turn(room, turn, entries, end).await {
        Ok(()) | Err(StoreError::Withdrawn { .. }) => result,
        Err(failure) => Err(failure.into()),
    }
}

/// Appends the message of a turn, its answer and its end, unless a chat has written the message.
async fn append_turn(
    room: &Room,
    turn: &TurnContext,
    answer: Vec<EntryBody>,
    end: TurnEnd,
) -> Result<(), StoreError> {
    if room.unstored.is_some() {
        return Ok(());
    }
    let Some(mut item) = turn.session.find_untaken_item().await? else {
        return Ok(());
    };
    if let InboxBody::Message { after, .. } = &mut item.body
        && let Some(end) = after.as_deref()
        && let Err(ChatError::NoTurnEnd { .. }) =
            check_turn_end(&*room.endpoint.store, &room.id, end).await
    {
        // No chat has accepted it: such a branch would hide the rest of the conversation.
        *after = None;
    }
    let parts = match turn.session.turn_state().is_message_checked {
        true => turn.message.parts.clone(),
        false => {
            let content = vec![Content::text(REJECTED_MESSAGE)];
            vec![MessagePart { role: Role::User, content }]
        }
    };
    let messages = parts.into_iter().map(|part| EntryBody::message(part.role, part.content));
    let entries = messages.chain(answer).chain([EntryBody::TurnEnded { end }]).collect();
    let principal = turn.session.request_context().principal_record();
    room.append_entries(principal, Some(item), entries).await
}

/// Runs the interceptors after a turn and publishes its end.
async fn finish_turn(room: &Arc<Room>, mut turn: TurnContext, result: Result<(), TurnError>) {
    let (mut ended, paused, model, is_reported) = {
        let mut state = turn.session.turn_state();
        (state.end.take(), state.paused, state.model.clone(), state.is_error_reported)
    };
    if let Err(error) = &result {
        if is_reported {
            return;
        }
        room.endpoint.server.metrics.record_turn_error(error.kind());
        tracing::warn!(conversation = room.id, kind = error.kind(), "a turn failed: {error}");
    } else if paused {
        return;
    }
    if result.is_ok() {
        // A handler that sent nothing has answered, too.
        ended.get_or_insert_with(|| answered(Vec::new()));
    }
    let latency = turn.started_at.elapsed();
    let mut outcome = TurnOutcome {
        end: None,
        model,
        text: String::new(),
        usage: Usage::default(),
        cost: None,
        latency,
    };
    if let Some(ChatEvent::TurnEnded { end, content, usage, cost }) = &ended {
        room.usage.add_turn(*usage, *cost).await;
        turn.conversation_usage = room.usage().await.unwrap_or_default();
        let texts = content.iter().filter_map(crate::protocols::content_text);
        outcome.text = texts.collect();
        (outcome.usage, outcome.cost) = (*usage, *cost);
        outcome.end = Some(end.clone());
    } else {
        room.usage.invalidate();
    }
    turn.outcome = Some(outcome);
    for interceptor in room.endpoint.interceptors.iter().rev() {
        interceptor.before_completion(&mut turn).await;
    }
    turn.session.publish_metadata(std::mem::take(&mut turn.metadata));
    room.delete_if_ephemeral().await;
    // Before the client knows: its next message may need it.
    room.release_turn().await;
    if let Some(ended) = ended {
        if let ChatEvent::TurnEnded { end, usage, cost, .. } = &ended {
            room.endpoint.server.metrics.record_turn(end, latency);
            tracing::info!(
                conversation = room.id,
                ?end,
                tokens_in = usage.input,
                tokens_out = usage.output,
                estimated = usage.estimated,
                cost,
                millis = whole_millis(latency),
                "a turn is over"
            );
        }
        turn.session.publish_at_once(ended);
    }
    if let Err(error) = result {
        turn.session.publish(error.to_event());
    }
    for interceptor in room.endpoint.interceptors.iter().rev() {
        interceptor.after(&turn).await;
    }
}
