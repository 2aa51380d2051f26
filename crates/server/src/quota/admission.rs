//! What a message needs before it is accepted, and a turn before it runs: room in its person's quota, and a place at its node.

use std::sync::{Arc, Weak};
use std::time::Duration;

use toolwright_chat::Model;
use toolwright_conversation::ConversationError;

use crate::conversation::room::Room;
use crate::endpoint::server_state::ServerState;
use crate::quota::account::QuotaAccount;
use crate::quota::counters::{CountedMessage, Quotas};
use crate::quota::settings::QuotaLimits;
use crate::quota::turn_queue::{QueueFull, QueuePlace, TurnPermit};
use crate::quota::turn_slots::TurnSlot;

/// The `Retry-After` of `concurrent_turns`: when a turn will be over is not known.
const SLOT_RETRY_AFTER: Duration = Duration::from_secs(5);

/// What a turn holds while it runs, or waits for that; dropping it releases all.
#[derive(Default)]
pub(crate) struct TurnReservation {
    /// The slot of its person; `None` if their turns are not limited.
    pub(crate) slot: Option<TurnSlot>,
    /// The place in the queue of this node.
    pub(crate) place: Option<QueuePlace>,
    /// The permit of this node, once it runs.
    pub(crate) permit: Option<Arc<TurnPermit>>,
    /// The permit of the turn that has started it; released when that turn is over or paused.
    pub(crate) lent: Weak<TurnPermit>,
}

impl TurnReservation {
    /// Releases all, and returns when another turn can have it.
    pub(crate) async fn release(self) {
        if let Some(slot) = self.slot {
            slot.release().await;
        }
    }
}

/// A message that may be accepted.
pub(crate) struct AdmittedMessage {
    pub(crate) reservation: TurnReservation,
    counted: Option<CountedMessage>,
}

impl AdmittedMessage {
    /// Undoes the admission of a message that was not accepted after all.
    pub(crate) async fn undo(self, quotas: &Quotas) {
        if let Some(counted) = self.counted {
            quotas.uncount_message(counted).await;
        }
        self.reservation.release().await;
    }
}

impl Room {
    /// Admits a message of this person, `None` if they have no quota; an error if the node or its store cannot take it, or a quota is
    /// used up.
    ///
    /// A message that waits for another turn of the conversation needs a slot and a place only when that turn is over; one that a
    /// running turn sends needs no place.
    pub(crate) async fn admit_message(
        self: &Arc<Self>,
        account: Option<&QuotaAccount>,
        model: Option<&Arc<dyn Model>>,
        is_waiting: bool,
    ) -> Result<AdmittedMessage, ConversationError> {
        let server = &self.endpoint.server;
        let lent = TurnPermit::of_running_turn();
        let is_lent = lent.strong_count() > 0;
        let mut reservation = TurnReservation { lent, ..TurnReservation::default() };
        if !is_waiting && !is_lent {
            let subject = account.and_then(|account| account.subject.clone());
            let place = server.turn_queue.try_enter(subject);
            reservation.place = Some(place.map_err(|QueueFull| ServerState::over_capacity())?);
        }
        self.endpoint.check_writable(self.unstored.is_none()).await?;
        let mut admitted = AdmittedMessage { reservation, counted: None };
        let Some(account) = account.filter(|_| server.quotas.is_enabled()) else {
            return Ok(admitted);
        };
        let endpoint = &self.endpoint;
        if endpoint.on_message.is_none() {
            let model = model.unwrap_or(&endpoint.model).id();
            let knows_price = || endpoint.chat.knows_price(model);
            server.quotas.check_price(account, &model.to_string(), knows_price)?;
        }
        let checked = server.quotas.check_usage(account).await;
        checked.inspect_err(|error| server.record_over_quota(error))?;
        let counted = server.quotas.count_message(account).await;
        admitted.counted = counted.inspect_err(|error| server.record_over_quota(error))?;
        if !is_waiting {
            match server.quotas.reserve_slot(account, &self.id).await {
                Ok(slot) => admitted.reservation.slot = slot,
                Err(error) => {
                    server.record_over_quota(&error);
                    admitted.undo(&server.quotas).await;
                    return Err(error);
                }
            }
        }
        Ok(admitted)
    }
}

impl ServerState {
    /// Counts a refusal.
    pub(crate) fn record_over_quota(&self, error: &ConversationError) {
        if let ConversationError::Quota { limit, .. } = error {
            self.metrics.record_over_quota(limit);
        }
    }
}

impl Quotas {
    /// Returns true if a person can have a limit.
    pub(crate) fn is_enabled(&self) -> bool {
        !self.settings.is_empty()
    }

    /// Acquires a slot for a turn of a conversation; `None` if the turns of the person are not limited, or one of the conversation
    /// runs at another node and this one waits for it.
    async fn reserve_slot(
        &self,
        account: &QuotaAccount,
        conversation: &str,
    ) -> Result<Option<TurnSlot>, ConversationError> {
        let QuotaLimits { concurrent_turns: Some(max), .. } = self.limits_of(account) else {
            return Ok(None);
        };
        let acquired = self.slots.try_acquire(account.subject.as_deref(), max, conversation).await;
        match acquired {
            Ok(slot) => Ok(Some(slot)),
            Err(full) if full.has_same_conversation => Ok(None),
            Err(_) => Err(too_many_turns(max)),
        }
    }
}

/// The person runs as many turns as they may.
pub(crate) fn too_many_turns(max: u64) -> ConversationError {
    let turns = if max == 1 { "turn" } else { "turns" };
    let message =
        format!("the quota of {max} {turns} at once is used up: try again when one is over");
    let limit = "concurrent_turns";
    ConversationError::Quota { limit, message, retry_after: SLOT_RETRY_AFTER }
}
