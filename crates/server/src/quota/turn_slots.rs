//! The turns that one person runs at once, at all nodes: each holds a slot in the shared state, which expires unless it is renewed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::DropGuard;
use toolwright_core::__internal::{SharedStateBreaker, random_hex};
use toolwright_core::{CancellationToken, SharedState, SharedStateError, subject_key};

/// The space of the slots; a key is a person and a number below their limit, a value is a conversation and a random text.
const SPACE: &str = "quota_turn";

/// The maximum number of slots of a person that are read.
const MAX_LISTED: usize = 4096;

/// How often a slot is tried that another turn may take at the same time.
const MAX_ATTEMPTS: usize = 64;

const AWAY: &str = "this node counts its own turns for a while";

/// The slots of all people, as one node sees them.
pub(crate) struct TurnSlots {
    shared: Arc<dyn SharedState>,
    breaker: Arc<SharedStateBreaker>,
    /// How long a slot is held that is not renewed.
    lifetime: Duration,
    /// The number of slots that this node holds, by person: the limit, while the shared state cannot be reached.
    held: Mutex<HashMap<String, u64>>,
    /// Notified when this node has released a slot.
    released: Notify,
}

/// A slot, which is released when it is dropped.
pub(crate) struct TurnSlot {
    slots: Arc<TurnSlots>,
    person: String,
    /// `None` if it was acquired while the shared state could not be reached.
    shared: Option<SharedSlot>,
}

struct SharedSlot {
    key: String,
    value: String,
    _renewal: DropGuard,
}

/// All slots of a person are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotsFull {
    /// True if one of them belongs to the same conversation, whose turns run one after the other.
    pub(crate) has_same_conversation: bool,
}

impl TurnSlots {
    pub(super) fn new(
        shared: &Arc<dyn SharedState>,
        breaker: &Arc<SharedStateBreaker>,
        lifetime: Duration,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            breaker: Arc::clone(breaker),
            lifetime,
            held: Mutex::default(),
            released: Notify::new(),
        }
    }

    /// Acquires one of `max` slots of a person for a turn of a conversation, without waiting.
    pub(crate) async fn try_acquire(
        self: &Arc<Self>,
        subject: Option<&str>,
        max: u64,
        conversation: &str,
    ) -> Result<TurnSlot, SlotsFull> {
        self.acquire(subject, max, conversation, false).await
    }

    /// Acquires a slot as the node that holds the lease of the conversation: takes over one that another node has acquired for it.
    pub(crate) async fn try_acquire_as_holder(
        self: &Arc<Self>,
        subject: Option<&str>,
        max: u64,
        conversation: &str,
    ) -> Result<TurnSlot, SlotsFull> {
        self.acquire(subject, max, conversation, true).await
    }

    async fn acquire(
        self: &Arc<Self>,
        subject: Option<&str>,
        max: u64,
        conversation: &str,
        takes_over: bool,
    ) -> Result<TurnSlot, SlotsFull> {
        let person = subject_key(subject, "");
        let conversation = HEXLOWER.encode(&Sha256::digest(conversation));
        let random = random_hex(8).unwrap_or_default();
        let value = format!("{conversation}/{random}");
        let start = usize::from_str_radix(random.get(..4).unwrap_or_default(), 16);
        let start = start.unwrap_or_default();
        for _ in 0..MAX_ATTEMPTS {
            let listed = self.shared.list(SPACE, &person, MAX_LISTED);
            let Ok(listed) = self.breaker.run(listed, AWAY).await else {
                return self.acquire_local(person, max);
            };
            let mut of_conversation =
                listed.iter().filter(|(_, value)| value.starts_with(&conversation));
            let own = of_conversation.next();
            let acquired = match own {
                Some((key, current)) if takes_over => {
                    let lifetime = Some(self.lifetime);
                    let replaced = self.shared.replace(SPACE, key, current, &value, lifetime);
                    (self.breaker.run(replaced, AWAY).await, key.clone())
                }
                _ => {
                    let taken: HashSet<&str> = listed.iter().map(|(key, _)| &**key).collect();
                    let free = (0..max).map(|number| format!("{person}{number:04}"));
                    let free = free.filter(|key| !taken.contains(&**key)).take(16);
                    let mut free: Vec<String> = free.collect();
                    if free.is_empty() || taken.len() as u64 >= max {
                        return Err(SlotsFull { has_same_conversation: own.is_some() });
                    }
                    // Not the same for all, so that turns that begin at once do not compete.
                    let key = free.swap_remove(start % free.len());
                    let inserted = self.shared.insert(SPACE, &key, &value, Some(self.lifetime));
                    (self.breaker.run(inserted, AWAY).await, key)
                }
            };
            match acquired {
                (Ok(true), key) => return Ok(self.hold(person, Some((key, value)))),
                (Ok(false), _) => {}
                (Err(_), _) => return self.acquire_local(person, max),
            }
        }
        Err(SlotsFull { has_same_conversation: false })
    }

    /// Acquires a slot of this node alone.
    fn acquire_local(self: &Arc<Self>, person: String, max: u64) -> Result<TurnSlot, SlotsFull> {
        if self.held().get(&person).copied().unwrap_or_default() >= max {
            return Err(SlotsFull { has_same_conversation: false });
        }
        Ok(self.hold(person, None))
    }

    fn hold(self: &Arc<Self>, person: String, shared: Option<(String, String)>) -> TurnSlot {
        *self.held().entry(person.clone()).or_default() += 1;
        let shared = shared.map(|(key, value)| SharedSlot {
            _renewal: self.spawn_renewal(key.clone(), value.clone()),
            key,
            value,
        });
        TurnSlot { slots: Arc::clone(self), person, shared }
    }

    /// Renews a slot until the guard is dropped, or another node has taken it over.
    fn spawn_renewal(&self, key: String, value: String) -> DropGuard {
        let (stop, shared, lifetime) =
            (CancellationToken::new(), Arc::clone(&self.shared), self.lifetime);
        let stopped = stop.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sleep(lifetime / 3) => {}
                    () = stopped.cancelled() => return,
                }
                match shared.replace(SPACE, &key, &value, &value, Some(lifetime)).await {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => tracing::warn!(%error, "the slot of a turn is not renewed now"),
                }
            }
        });
        stop.drop_guard()
    }

    /// Waits until this node has released a slot, at most for `max`: other nodes do not report theirs.
    pub(crate) async fn wait_released(&self, max: Duration) {
        let _ = timeout(max, self.released.notified()).await;
    }

    /// Returns the number of slots of a person that are taken.
    pub(super) async fn count(
        shared: &dyn SharedState,
        subject: Option<&str>,
    ) -> Result<u64, SharedStateError> {
        let listed = shared.list(SPACE, &subject_key(subject, ""), MAX_LISTED).await?;
        Ok(listed.len() as u64)
    }

    /// Frees a slot, unless another node has taken it over.
    async fn free(&self, key: &str, value: &str) {
        let freed = self.shared.replace(SPACE, key, value, "", Some(Duration::ZERO));
        // It expires anyway.
        let _ = self.breaker.run(freed, AWAY).await;
        self.released.notify_waiters();
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TurnSlot {
    /// Releases the slot, and returns when another turn can have it.
    pub(crate) async fn release(mut self) {
        if let Some(SharedSlot { key, value, _renewal }) = self.shared.take() {
            drop(_renewal);
            self.slots.free(&key, &value).await;
        }
    }
}

impl Drop for TurnSlot {
    fn drop(&mut self) {
        {
            let mut held = self.slots.held();
            if let Some(count) = held.get_mut(&self.person) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    held.remove(&self.person);
                }
            }
        }
        self.slots.released.notify_waiters();
        if let (Some(shared), Ok(runtime)) =
            (self.shared.take(), tokio::runtime::Handle::try_current())
        {
            let slots = Arc::clone(&self.slots);
            runtime.spawn(async move { slots.free(&shared.key, &shared.value).await });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;
    use toolwright_core::MemorySharedState;

    use super::*;

    const LIFETIME: Duration = Duration::from_secs(30);

    /// Two nodes that share their state.
    fn nodes() -> [Arc<TurnSlots>; 2] {
        let shared: Arc<dyn SharedState> = Arc::new(MemorySharedState::new());
        let node = || Arc::new(TurnSlots::new(&shared, &Arc::default(), LIFETIME));
        [node(), node()]
    }

    #[tokio::test]
    async fn the_slots_of_a_person_are_those_of_all_nodes() {
        let [one, two] = nodes();
        let first = one.try_acquire(Some("ada"), 2, "a").await.ok();
        let _second = two.try_acquire(Some("ada"), 2, "b").await.ok();
        let full = one.try_acquire(Some("ada"), 2, "c").await.err();
        assert_eq!(full, Some(SlotsFull { has_same_conversation: false }));
        let full = one.try_acquire(Some("ada"), 2, "b").await.err();
        assert_eq!(full, Some(SlotsFull { has_same_conversation: true }));
        assert!(one.try_acquire(Some("bob"), 1, "d").await.is_ok());
        first.unwrap().release().await;
        assert!(two.try_acquire(Some("ada"), 2, "c").await.is_ok());
        assert!(one.try_acquire(Some("eve"), 0, "e").await.is_err());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_all_who_race_for_the_last_slot_one_wins_a_thousand_times() {
        let nodes = nodes();
        let _others = [
            nodes[0].try_acquire(Some("ada"), 3, "x").await.ok(),
            nodes[1].try_acquire(Some("ada"), 3, "y").await.ok(),
        ];
        let most = Arc::new(AtomicUsize::new(0));
        for round in 0..1000 {
            let racers = (0..4).map(|racer| {
                let (node, most) = (Arc::clone(&nodes[racer % 2]), Arc::clone(&most));
                tokio::spawn(async move {
                    let slot = node.try_acquire(Some("ada"), 3, &format!("{round}/{racer}")).await;
                    most.fetch_add(usize::from(slot.is_ok()), Ordering::Relaxed);
                    slot
                })
            });
            let slots: Vec<_> = join_all(racers).await.into_iter().flatten().flatten().collect();
            assert_eq!(slots.len(), 1, "round {round}");
            join_all(slots.into_iter().map(TurnSlot::release)).await;
        }
        assert_eq!(most.load(Ordering::Relaxed), 1000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_is_renewed_while_its_node_lives_and_expires_with_it() {
        let [one, two] = nodes();
        let slot = one.try_acquire(Some("ada"), 1, "a").await.ok();
        for _ in 0..10 {
            tokio::time::sleep(LIFETIME / 2).await;
            assert!(two.try_acquire(Some("ada"), 1, "b").await.is_err());
        }
        // As if the node was killed: nothing renews it, and nothing releases it.
        let shared = slot.and_then(|mut slot| slot.shared.take());
        drop(shared);
        assert!(two.try_acquire(Some("ada"), 1, "b").await.is_err());
        tokio::time::sleep(LIFETIME).await;
        assert!(two.try_acquire(Some("ada"), 1, "b").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn the_holder_of_the_lease_takes_over_the_slot_of_its_conversation() {
        let [one, two] = nodes();
        let accepted = one.try_acquire(Some("ada"), 1, "a").await.ok();
        assert!(two.try_acquire_as_holder(Some("ada"), 1, "b").await.is_err());
        let running = two.try_acquire_as_holder(Some("ada"), 1, "a").await.ok();
        assert!(running.is_some());
        // The node that has accepted the message does not free what it no longer has.
        accepted.unwrap().release().await;
        tokio::time::sleep(3 * LIFETIME).await;
        assert!(one.try_acquire(Some("ada"), 1, "b").await.is_err());
        drop(running);
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(one.try_acquire(Some("ada"), 1, "b").await.is_ok());
    }
}
