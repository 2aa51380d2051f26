//! A job in, a turn with all who look at it out.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Map;
use tokio::time::sleep;
use toolwright_chat::{TurnEnd, PrincipalRecord, Usage, EntryBody};
use toolwright_core::Content;

use crate::event::Notice;
use crate::intercept::{Intercepted, TurnOutcome};
use crate::job::{Job, Message, Taken, Task};
use crate::room::Room;
use crate::session::{Ended, Session};
use crate::trouble::Trouble;

/// Does a job, and tells everybody how it came out.
pub(crate) async fn perform(room: &Arc<Room>, job: Job) {
    let expired = job.guest.is_expired();
    let principal = job.guest.record();
    let session = Session::new(room, job.guest, job.peer, job.cancel);
    if expired && matches!(job.what, Task::Prompt(_)) {
        let kind = "unauthorized".to_owned();
        let message = "the credential expired before the message could be answered: sign in and send it again";
        let message = message.to_owned();
        session.tell_notice(Notice::Error { kind, message });
        return;
    }
    session.told().settled = job.settled;
    let mut turn = Intercepted {
        message: Message::silence(),
        session: session.clone(),
        metadata: Map::new(),
        spent: Default::default(),
        outcome: None,
        began: Instant::now(),
    };
    let done = match job.what {
        Task::Prompt(message) => {
            turn.message = message;
            answer(room, &mut turn, job.taken, principal).await
        }
        Task::Decide(decided) => {
            let ask = session.ask(room.live.chat.submit_approvals(&*room.id, decided));
            session.drive(room.with_chosen(ask), job.taken).await
        }
        Task::Resume => match room.begin(false).await.map_err(Trouble::from) {
            Ok(_) => {
                let ask = session.ask(room.live.chat.resume(&*room.id));
                session.drive(room.with_chosen(ask), None).await
            }
            Err(trouble) => Err(trouble),
        },
    };
    finish(room, turn, done).await;
}

/// Has a prompt answered, unless somebody refuses.
async fn answer(
    room: &Arc<Room>,
    turn: &mut Intercepted,
    taken: Taken,
    principal: Option<PrincipalRecord>,
) -> Result<(), Trouble> {
    let after = room.begin(true).await?;
    if let Some(taken) = taken {
        // Whoever asked may have gone.
        let _ = taken.send(Ok(after));
    }
    for (role, content) in &turn.message.parts {
        let (role, content) = (*role, content.clone());
        turn.session.tell_notice(Notice::Said { role, content });
    }
    turn.spent = room.spent().await?;
    for interceptor in &room.live.interceptors {
        if let Err(refusal) = interceptor.before(turn).await {
            room.live.app.metrics.refused.add(1);
            turn.metadata.insert("refused".to_owned(), true.into());
            let text = refusal.reason().to_owned();
            turn.session.tell_text(&text);
            turn.session.told().ended = Some(Ended {
                end: TurnEnd::Answered,
                content: vec![Content::text(text)],
                usage: Usage::default(),
                cost: Some(0.0),
            });
            return Ok(());
        }
    }
    room.choose(turn.message.model.clone());
    let said = turn.message.clone();
    match &room.live.on_prompt {
        Some(handler) => {
            let stopped = async {
                turn.session.cancelled().cancelled().await;
                sleep(room.live.app.limits.grace).await;
            };
            tokio::select! {
                done = handler(&turn.session, &said) => done?,
                // It was told, and does not listen.
                () = stopped => turn.session.told().record.end(TurnEnd::Cancelled),
            }
        }
        None => turn.session.stream(said.clone()).await?,
    }
    let record = {
        let mut told = turn.session.told();
        let record = std::mem::take(&mut told.record);
        // What a chat of ours has told the journal is there already.
        let ours = told.model.is_some() || told.paused;
        (!ours && !record.is_empty()).then_some(record)
    };
    if let Some(record) = record {
        keep(room, turn, principal, said, record).await?;
    }
    Ok(())
}

/// Tells the journal what was answered without a chat of ours.
async fn keep(
    room: &Room,
    turn: &Intercepted,
    principal: Option<PrincipalRecord>,
    said: Message,
    mut record: crate::record::Record,
) -> Result<(), Trouble> {
    let text = record.said().to_owned();
    let (entries, end) = record.close();
    let parts = said.parts.into_iter().map(|(role, content)| match role {
        toolwright_core::Role::User => EntryBody::User { content },
        toolwright_core::Role::Assistant => EntryBody::Assistant { content },
    });
    let ended = EntryBody::TurnEnded { end: end.clone() };
    let entries = parts.chain(entries).chain([ended]);
    let entries = entries.collect();
    room.live.keep(&room.id, principal, entries).await?;
    let mut told = turn.session.told();
    told.ended.get_or_insert_with(|| Ended {
        end,
        content: vec![Content::text(text)],
        usage: Usage::default(),
        cost: None,
    });
    Ok(())
}

/// Lets everybody have a last word, and tells how the turn came out.
pub(crate) async fn finish(room: &Arc<Room>, mut turn: Intercepted, done: Result<(), Trouble>) {
    let (ended, paused, model) = {
        let mut told = turn.session.told();
        (told.ended.take(), told.paused, told.model.clone())
    };
    if let Err(trouble) = &done {
        if trouble.quiet {
            return;
        }
        room.live.app.metrics.failed(&trouble.kind);
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
        (Ok(()), None) => Some(Ended {
            end: TurnEnd::Answered,
            content: Vec::new(),
            usage: Usage::default(),
            cost: Some(0.0),
        }),
    };
    let latency = turn.began.elapsed();
    let mut outcome = TurnOutcome {
        end: None,
        model,
        text: String::new(),
        usage: Usage::default(),
        cost: None,
        latency,
    };
    if let Some(ended) = &ended {
        room.add_spent(ended.usage, ended.cost).await;
        turn.spent = room.spent().await.unwrap_or_default();
        outcome.text = ended.content.iter().filter_map(crate::ui::text).collect();
        (outcome.usage, outcome.cost) = (ended.usage, ended.cost);
        outcome.end = Some(ended.end.clone());
    } else {
        room.forget_spent().await;
    }
    turn.outcome = Some(outcome);
    for interceptor in room.live.interceptors.iter().rev() {
        interceptor.before_completion(&mut turn).await;
    }
    turn.session
        .tell_metadata(std::mem::take(&mut turn.metadata));
    room.live.forget(&room.id).await;
    if let Some(ended) = ended {
        room.live.app.metrics.turn(&ended.end, latency);
        tracing::info!(
            conversation = room.id,
            end = ?ended.end,
            tokens_in = ended.usage.input,
            tokens_out = ended.usage.output,
            cost = ended.cost,
            millis = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
            "a turn is over"
        );
        turn.session.tell_ended(ended);
    }
    if let Err(Trouble { kind, message, .. }) = done {
        turn.session.tell_notice(Notice::Error { kind, message });
    }
    for interceptor in room.live.interceptors.iter().rev() {
        interceptor.after(&turn).await;
    }
}
