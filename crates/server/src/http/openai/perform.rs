//! What is wanted in, one turn that nobody remembers out.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::{FutureExt as _, StreamExt as _};
use serde_json::Map;
use toolwright_chat::{TurnRequest, ChatError, ChatEvent, TurnEnd, Usage};
use toolwright_core::{CancellationToken, Content, Role};

use super::history::Reminded;
use super::request::Wanted;
use crate::event::Notice;
use crate::guest::{Guest, is_brought};
use crate::intercept::Intercepted;
use crate::job::Message;
use crate::room::Room;
use crate::session::{Ended, Session};
use crate::trouble::Trouble;
use crate::turn::finish;

/// What a model reads of a call that somebody would have to approve.
const DENIED: &str =
    "not approved: the call needs a person's approval, and nobody can be asked over this API";

/// Has a request answered, and all who look at turns look at it.
pub(super) async fn perform(
    room: Arc<Room>,
    guest: Guest,
    wanted: Wanted,
    cancel: CancellationToken,
) {
    let turn = AssertUnwindSafe(take(&room, guest, wanted, cancel));
    if turn.catch_unwind().await.is_err() {
        tracing::error!("a handler or an interceptor of the endpoint panicked");
        let kind = "internal".to_owned();
        let message = "the endpoint failed; its log says why".to_owned();
        room.tell(Notice::Error { kind, message }, None);
    }
}

async fn take(room: &Arc<Room>, guest: Guest, mut wanted: Wanted, cancel: CancellationToken) {
    let guest = guest.bringing(std::mem::take(&mut wanted.tools));
    let said = std::mem::take(&mut wanted.history.said);
    let mut message = Message::of(Role::User, said);
    message.model = wanted.model.take();
    let mut turn = Intercepted {
        message,
        session: Session::new(room, guest.clone(), None, cancel.clone()),
        metadata: Map::new(),
        spent: Default::default(),
        outcome: None,
        began: Instant::now(),
    };
    let done = answer(room, &mut turn, &guest, wanted, cancel).await;
    finish(room, turn, done).await;
}

async fn answer(
    room: &Arc<Room>,
    turn: &mut Intercepted,
    guest: &Guest,
    wanted: Wanted,
    cancel: CancellationToken,
) -> Result<(), Trouble> {
    let live = &room.live;
    for interceptor in &live.interceptors {
        if let Err(refusal) = interceptor.before(turn).await {
            live.app.metrics.refused.add(1);
            let content = vec![Content::text(refusal.reason())];
            turn.session.told().ended =
                Some(ended(TurnEnd::Answered, content, Usage::default(), Some(0.0)));
            return Ok(());
        }
    }
    if let Some(handler) = &live.on_prompt {
        let done = handler(&turn.session, &turn.message).await;
        // It may have been told to the journal, and is nobody's to come back to.
        live.delete(&room.id).await?;
        return done;
    }
    let mut ask = guest.limit(live.chat.message(), live).cancel_on(cancel);
    for (role, content) in &turn.message.parts {
        ask = match role {
            Role::User => ask.user(content.clone()),
            Role::Assistant => ask.assistant(content.clone()),
        };
    }
    if let Some(system) = wanted.history.system {
        ask = ask.system(system);
    }
    if let Some(options) = wanted.options {
        ask = ask.model_options(options);
    }
    if let Some(choice) = wanted.choice {
        ask = ask.tool_choice(choice);
    }
    let chosen = turn.message.model.clone().map(|model| live.guarded(model));
    let model = chosen.unwrap_or_else(|| Arc::clone(&live.model));
    let (before, since) = (wanted.history.before, wanted.history.since);
    let reminded = Reminded {
        model,
        before,
        since,
    };
    drive(room, turn, ask.model(reminded)).await
}

/// Takes a prompt as far as it goes: to its answer, or to calls that are the caller's to run.
async fn drive(room: &Room, turn: &Intercepted, mut ask: TurnRequest) -> Result<(), Trouble> {
    loop {
        let mut events = ask.stream();
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                // The turn said so itself.
                Err(ChatError::Ended { .. }) => return Ok(()),
                Err(error) => return Err(Trouble::of(&error)),
            };
            room.live.app.metrics.hear(&event);
            match event {
                ChatEvent::TurnEnded {
                    end,
                    content,
                    usage,
                    cost,
                } => turn.session.told().ended = Some(ended(end, content, usage, cost)),
                // Whoever waits is answered below.
                ChatEvent::TurnPaused { .. } => {}
                event => {
                    if let ChatEvent::TurnStarted { model, .. } = &event {
                        turn.session.told().model = Some(model.clone());
                    }
                    room.tell(event, None);
                }
            }
        }
        let Some(response) = events.into_response().filter(|it| !it.pending_approvals().is_empty()) else {
            return Ok(());
        };
        if response.pending_approvals().iter().any(is_brought) {
            let over = ended(TurnEnd::Answered, Vec::new(), response.usage(), response.cost());
            turn.session.told().ended = Some(over);
            return Ok(());
        }
        let denied = response
            .pending_approvals()
            .iter()
            .map(|asked| asked.deny(DENIED))
            .collect();
        ask = response.submit_approvals(denied);
    }
}

fn ended(end: TurnEnd, content: Vec<Content>, usage: Usage, cost: Option<f64>) -> Ended {
    Ended {
        end,
        content,
        usage,
        cost,
    }
}
