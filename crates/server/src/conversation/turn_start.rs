//! Waits until a turn may run: until its person has a slot, and then until this node has a permit for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolwright_chat::InboxBody;
use toolwright_conversation::ConversationError;
use toolwright_core::CancellationToken;

use crate::conversation::room::Room;
use crate::conversation::room_command::{CommandKind, LiveCommand, RoomCommand};
use crate::quota::account::QuotaAccount;
use crate::quota::admission::too_many_turns;
use crate::quota::turn_queue::TurnPermit;
use crate::quota::turn_slots::TurnSlot;

/// How long a message waits for a slot of its person. Longer, it would keep the other people of a room waiting.
const SLOT_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a turn that waits looks for a slot that another node has released, and for a stop.
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Whether a turn may run.
pub(super) enum TurnStart {
    /// It runs now, with what the command has reserved.
    Ready,
    /// Its message is refused.
    Refused(ConversationError),
    /// The server shuts down.
    NotNow,
}

impl Room {
    /// Waits until the turn of a command may run. A turn that is stopped meanwhile does not wait: it ends at once.
    pub(super) async fn prepare_turn(&self, command: &mut RoomCommand) -> TurnStart {
        if command.cancel.is_cancelled() {
            return TurnStart::Ready;
        }
        let server = &self.endpoint.server;
        let mut reservation = command.reservation.take().unwrap_or_default();
        let account = command.account.clone();
        if let (None, Some(account)) = (&reservation.slot, &account) {
            match self.wait_for_slot(account, command).await {
                Ok(slot) => reservation.slot = slot,
                Err(start) => return start,
            }
        }
        reservation.permit = reservation.lent.upgrade();
        if reservation.permit.is_some() {
            command.reservation = Some(reservation);
            return TurnStart::Ready;
        }
        let place = reservation.place.take();
        let subject = account.and_then(|account| account.subject);
        let place = place.unwrap_or_else(|| server.turn_queue.enter(subject));
        tokio::select! {
            biased;
            permit = place.acquire() => reservation.permit = Some(Arc::new(permit)),
            permit = self.wait_for_lent_permit() => reservation.permit = Some(permit),
            () = self.wait_until_stopped(&command.cancel) => {}
            () = server.draining.cancelled() => return TurnStart::NotNow,
        }
        command.reservation = Some(reservation);
        TurnStart::Ready
    }

    /// Waits for a slot; `None` if the person's turns are not limited, or the turn was stopped.
    async fn wait_for_slot(
        &self,
        account: &QuotaAccount,
        command: &RoomCommand,
    ) -> Result<Option<TurnSlot>, TurnStart> {
        let server = &self.endpoint.server;
        let Some(max) = server.quotas.limits_of(account).concurrent_turns else {
            return Ok(None);
        };
        let (slots, subject) = (server.quotas.slots(), account.subject.as_deref());
        let is_message = matches!(command.kind, CommandKind::Message(_));
        let deadline = Instant::now() + SLOT_TIMEOUT;
        loop {
            if let Ok(slot) = slots.try_acquire_as_holder(subject, max, &self.id).await {
                return Ok(Some(slot));
            }
            if is_message && Instant::now() >= deadline {
                return Err(TurnStart::Refused(too_many_turns(max)));
            }
            tokio::select! {
                () = slots.wait_released(RECHECK_INTERVAL) => {}
                () = self.wait_until_stopped(&command.cancel) => return Ok(None),
                () = server.draining.cancelled() => return Err(TurnStart::NotNow),
            }
        }
    }

    /// Waits until a message in the inbox has a permit of the turn that has sent it: that turn may wait for the turns before the
    /// message, too.
    async fn wait_for_lent_permit(&self) -> Arc<TurnPermit> {
        loop {
            let lent = self.work().live.values().find_map(LiveCommand::lent_permit);
            match lent {
                Some(permit) => return permit,
                None => self.permit_lent.notified().await,
            }
        }
    }

    /// Waits until the turn that is about to run is stopped.
    async fn wait_until_stopped(&self, cancel: &CancellationToken) {
        loop {
            let has_stop = match &self.link {
                None => self.work().stops_next_turn,
                Some(_) => {
                    let inbox = self.endpoint.store.inbox(&self.id).await.unwrap_or_default();
                    inbox.iter().any(|item| item.body == InboxBody::Stop)
                }
            };
            if has_stop {
                return;
            }
            tokio::select! {
                () = sleep(RECHECK_INTERVAL) => {}
                () = cancel.cancelled() => return,
            }
        }
    }

    /// Releases what the turn has reserved: it is over, or paused.
    pub(crate) async fn release_turn(&self) {
        let reservation = self.work().turn.as_mut().and_then(|turn| turn.reservation.take());
        if let Some(reservation) = reservation {
            reservation.release().await;
        }
    }
}
