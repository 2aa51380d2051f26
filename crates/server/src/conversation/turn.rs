//! A job in, a turn with all who look at it out.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Map;
use tokio::time::sleep;
use toolwright_chat::{EntryBody, PrincipalRecord, TurnEnd, Usage};
use toolwright_core::Content;

use crate::conversation::event::EndpointEvent;
use crate::conversation::room::Room;
use crate::conversation::room_command::{CommandKind, IncomingMessage, RoomCommand, StartedSender};
use crate::conversation::session::{Session, TurnSummary};
use crate::conversation::turn_error::TurnError;
use crate::endpoint::interceptor::{TurnContext, TurnOutcome};

/// Does a job, and tells everybody how it came out.
pub(crate) async fn run_command(room: &Arc<Room>, job: RoomCommand) {
    let expired = job.request_context.is_expired();
    let principal = job.request_context.principal_record();
    let session = Session::new(room, job.request_context, job.peer, job.cancel);
    if expired && matches!(job.kind, CommandKind::Message(_)) {
        let kind = "unauthorized".to_owned();
        let message = "the credential expired before the message could be answered: sign in and send it again";
        let message = message.to_owned();
        session.publish_endpoint_event(EndpointEvent::Error { kind, message });
        return;
    }
    session.turn_state().recovery_guard = job.recovery_guard;
    let mut turn = TurnContext {
        message: IncomingMessage::empty(),
        session: session.clone(),
        metadata: Map::new(),
        conversation_usage: Default::default(),
        outcome: None,
        started_at: Instant::now(),
    };
    let done = match job.kind {
        CommandKind::Message(message) => {
            turn.message = message;
            answer_message(room, &mut turn, job.started, principal).await
        }
        CommandKind::Decisions(decided) => {
            let ask = session
                .with_session_settings(room.endpoint.chat.submit_approvals(&*room.id, decided));
            session
                .run_turn(room.with_chosen_model(ask), job.started)
                .await
        }
        CommandKind::Resume => match room.begin_turn(false).await.map_err(TurnError::from) {
            Ok(_) => {
                let ask = session.with_session_settings(room.endpoint.chat.resume(&*room.id));
                session.run_turn(room.with_chosen_model(ask), None).await
            }
            Err(trouble) => Err(trouble),
        },
    };
    finish_turn(room, turn, done).await;
}

/// Has a prompt answered, unless somebody refuses.
async fn answer_message(
    room: &Arc<Room>,
    turn: &mut TurnContext,
    taken: StartedSender,
    principal: Option<PrincipalRecord>,
) -> Result<(), TurnError> {
    let after = room.begin_turn(true).await?;
    if let Some(taken) = taken {
        // Whoever asked may have gone.
        let _ = taken.send(Ok(after));
    }
    for (role, content) in &turn.message.parts {
        let (role, content) = (*role, content.clone());
        turn.session
            .publish_endpoint_event(EndpointEvent::Message { role, content });
    }
    turn.conversation_usage = room.usage().await?;
    for interceptor in &room.endpoint.interceptors {
        if let Err(refusal) = interceptor.before(turn).await {
            room.endpoint.server.metrics.rejected_messages.add(1);
            turn.metadata.insert("refused".to_owned(), true.into());
            let text = refusal.reason().to_owned();
            turn.session.publish_text(&text);
            turn.session.turn_state().summary = Some(TurnSummary {
                end: TurnEnd::Answered,
                content: vec![Content::text(text)],
                usage: Usage::default(),
                cost: Some(0.0),
            });
            return Ok(());
        }
    }
    room.set_chosen_model(turn.message.model.clone());
    let said = turn.message.clone();
    match &room.endpoint.on_message {
        Some(handler) => {
            let stopped = async {
                turn.session.cancellation_token().cancelled().await;
                sleep(room.endpoint.server.limits.shutdown_grace).await;
            };
            tokio::select! {
                done = handler(&turn.session, &said) => done?,
                // It was told, and does not listen.
                () = stopped => turn.session.turn_state().external_transcript.end(TurnEnd::Cancelled),
            }
        }
        None => turn.session.answer_with_model(said.clone()).await?,
    }
    let record = {
        let mut told = turn.session.turn_state();
        let record = std::mem::take(&mut told.external_transcript);
        // What a chat of ours has told the journal is there already.
        let ours = told.model.is_some() || told.paused;
        (!ours && !record.is_empty()).then_some(record)
    };
    if let Some(record) = record {
        append_external_transcript(room, turn, principal, said, record).await?;
    }
    Ok(())
}

/// Tells the journal what was answered without a chat of ours.
async fn append_external_transcript(
    room: &Room,
    turn: &TurnContext,
    principal: Option<PrincipalRecord>,
    said: IncomingMessage,
    mut record: crate::conversation::external_transcript::ExternalTranscript,
) -> Result<(), TurnError> {
    let text = record.full_text().to_owned();
    let (entries, end) = record.finish();
    let parts = said.parts.into_iter().map(|(role, content)| match role {
        toolwright_core::Role::User => EntryBody::User { content },
        toolwright_core::Role::Assistant => EntryBody::Assistant { content },
    });
    let ended = EntryBody::TurnEnded { end: end.clone() };
    let entries = parts.chain(entries).chain([ended]);
    let entries = entries.collect();
    room.endpoint
        .append_entries(&room.id, principal, entries)
        .await?;
    let mut told = turn.session.turn_state();
    told.summary.get_or_insert_with(|| TurnSummary {
        end,
        content: vec![Content::text(text)],
        usage: Usage::default(),
        cost: None,
    });
    Ok(())
}

/// Lets everybody have a last word, and tells how the turn came out.
pub(crate) async fn finish_turn(
    room: &Arc<Room>,
    mut turn: TurnContext,
    done: Result<(), TurnError>,
) {
    let (ended, paused, model) = {
        let mut told = turn.session.turn_state();
        (told.summary.take(), told.paused, told.model.clone())
    };
    if let Err(trouble) = &done {
        if trouble.already_reported {
            return;
        }
        room.endpoint
            .server
            .metrics
            .record_turn_error(&trouble.kind);
        tracing::warn!(
            conversation = room.id,
            kind = trouble.kind,
            "a turn failed: {trouble}"
        );
    } else if paused {
        return;
    }
    let ended = match (&done, ended) {
        (_, Some(ended)) => Some(ended),
        (Err(_), None) => None,
        // A handler that says nothing has answered all the same.
        (Ok(()), None) => Some(TurnSummary {
            end: TurnEnd::Answered,
            content: Vec::new(),
            usage: Usage::default(),
            cost: Some(0.0),
        }),
    };
    let latency = turn.started_at.elapsed();
    let mut outcome = TurnOutcome {
        end: None,
        model,
        text: String::new(),
        usage: Usage::default(),
        cost: None,
        latency,
    };
    if let Some(ended) = &ended {
        room.add_usage(ended.usage, ended.cost).await;
        turn.conversation_usage = room.usage().await.unwrap_or_default();
        outcome.text = ended
            .content
            .iter()
            .filter_map(crate::protocols::content_text)
            .collect();
        (outcome.usage, outcome.cost) = (ended.usage, ended.cost);
        outcome.end = Some(ended.end.clone());
    } else {
        room.invalidate_usage().await;
    }
    turn.outcome = Some(outcome);
    for interceptor in room.endpoint.interceptors.iter().rev() {
        interceptor.before_completion(&mut turn).await;
    }
    turn.session
        .publish_metadata(std::mem::take(&mut turn.metadata));
    room.endpoint.delete_if_ephemeral(&room.id).await;
    if let Some(ended) = ended {
        room.endpoint
            .server
            .metrics
            .record_turn(&ended.end, latency);
        tracing::info!(
            conversation = room.id,
            end = ?ended.end,
            tokens_in = ended.usage.input,
            tokens_out = ended.usage.output,
            cost = ended.cost,
            millis = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
            "a turn is over"
        );
        turn.session.publish_end(ended);
    }
    if let Err(TurnError { kind, message, .. }) = done {
        turn.session
            .publish_endpoint_event(EndpointEvent::Error { kind, message });
    }
    for interceptor in room.endpoint.interceptors.iter().rev() {
        interceptor.after(&turn).await;
    }
}
