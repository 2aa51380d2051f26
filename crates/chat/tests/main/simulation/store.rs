//! The store that all processes share, and the connection of one process to it, which is slow and fails.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_channel::oneshot;
use tokio::time::Instant;
use toolwright_chat::{
    Append, ConversationSummary, Entry, EntryBody, InboxBody, InboxItem, Lease, LeaseStatus, Owner,
    Store, StoreError, StoreFuture, StoreScope, TailEnd, TurnStatus, is_turn_over,
};
use toolwright_core::{MemorySharedState, Secret, SharedState};

use super::planted_bugs::PlantedBug;
use super::scheduler::pause;
use super::world::{NETWORK, World};

/// What is stored; it survives crashes of all processes.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    pub(crate) conversations: BTreeMap<String, Conversation>,
    /// What remains after a power failure, if that differs.
    durable: Option<BTreeMap<String, Conversation>>,
}

#[derive(Clone, Default)]
pub(crate) struct Conversation {
    pub(crate) entries: Vec<Entry>,
    pub(crate) inbox: Vec<InboxItem>,
    pub(crate) turn: TurnStatus,
    pub(crate) stops: Vec<StopRecord>,
    last_position: u64,
    term: u64,
    lease: Option<(String, Instant)>,
}

/// A stop that was in the inbox, with the number of entries at the time.
#[derive(Clone)]
pub(crate) struct StopRecord {
    pub(crate) id: String,
    position: u64,
    pub(crate) added_at: usize,
    pub(crate) removed_at: Option<usize>,
    /// True if there was a turn to stop.
    pub(crate) stops_turn: bool,
}

impl Disk {
    pub(crate) fn conversation(&self, name: &str) -> Conversation {
        self.conversations.get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn unattended(&self) -> Vec<String> {
        let stored = self.conversations.iter();
        let unattended = stored.filter(|(_, stored)| stored.is_unattended());
        unattended.map(|(name, _)| name.clone()).collect()
    }

    /// Goes back to what was durable.
    pub(crate) fn lose_power(&mut self) {
        if let Some(durable) = self.durable.take() {
            self.conversations = durable;
        }
    }

    /// Called before a write.
    fn begin_write(&mut self, is_durable: bool) {
        match is_durable {
            true => self.durable = None,
            false if self.durable.is_none() => self.durable = Some(self.conversations.clone()),
            false => {}
        }
    }
}

impl Conversation {
    fn is_unattended(&self) -> bool {
        self.lease.as_ref().is_none_or(|(_, until)| *until <= Instant::now())
            && match self.turn {
                TurnStatus::Running => true,
                TurnStatus::Over => !self.inbox.is_empty(),
                TurnStatus::Paused => self.inbox.iter().any(|item| item.resumes),
            }
    }

    pub(crate) fn has_entry(&self, is_meant: impl Fn(&EntryBody) -> bool) -> bool {
        self.entries.iter().any(|entry| is_meant(&entry.body))
    }

    fn is_held(&self, lease: &Lease) -> bool {
        let held = self.lease.as_ref();
        held.is_some_and(|(holder, _)| *holder == lease.holder) && self.term == lease.term
    }

    fn acquire(&mut self, name: &str, holder: &str, duration: Duration) -> Option<Lease> {
        let now = Instant::now();
        if self.lease.as_ref().is_some_and(|(other, until)| other != holder && *until > now) {
            return None;
        }
        self.lease = Some((holder.to_owned(), now + duration));
        self.term += 1;
        Some(Lease::new(name, holder, self.term))
    }

    fn append(&mut self, entries: Vec<Entry>, taken: &[u64], turn: TurnStatus) {
        if !entries.is_empty() {
            self.turn = turn;
        }
        for entry in entries {
            if self.entries.iter().all(|stored| stored.id != entry.id) {
                self.entries.push(entry);
            }
        }
        taken.iter().for_each(|position| _ = self.remove(*position));
    }

    fn push(&mut self, item: &InboxItem, limit: usize) -> Option<u64> {
        if self.entries.iter().any(|entry| entry.id == item.id) {
            return Some(0);
        }
        if let Some(known) = self.inbox.iter().find(|known| known.id == item.id) {
            return Some(known.position);
        }
        if self.inbox.len() >= limit {
            return None;
        }
        self.last_position += 1;
        let item = item.clone().stored_at(self.last_position, self.turn);
        if matches!(item.body, InboxBody::Stop) {
            self.stops.push(StopRecord {
                id: item.id.clone(),
                position: item.position,
                added_at: self.entries.len(),
                removed_at: None,
                stops_turn: !self.entries.is_empty() && !is_turn_over(&self.entries),
            });
        }
        self.inbox.push(item);
        Some(self.last_position)
    }

    fn remove(&mut self, position: u64) -> bool {
        let length = self.entries.len();
        let stop = self.stops.iter_mut().find(|stop| stop.position == position);
        if let Some(stop) = stop {
            stop.removed_at.get_or_insert(length);
        }
        let before = self.inbox.len();
        self.inbox.retain(|item| item.position != position);
        self.inbox.len() < before
    }

    fn tail(&self, end: Option<(&str, usize)>, limit: usize) -> Vec<Entry> {
        let position = |id: &str| self.entries.iter().rposition(|entry| entry.id == id);
        let end = match end {
            None => self.entries.len(),
            Some((id, more)) => position(id).map_or(0, |at| at + more),
        };
        self.entries[end.saturating_sub(limit)..end].to_vec()
    }
}

/// How an operation ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    FailsBefore,
    FailsAfter,
    /// The process gets an error, and the operation is applied later.
    TimesOut,
    CrashesBefore,
    CrashesAfter,
}

/// The connection of one process to the store.
pub(crate) struct Connection {
    world: Arc<World>,
    process: u64,
    /// The starts of calls that a planted bug writes too late.
    late_starts: Arc<Mutex<Vec<Entry>>>,
}

impl Connection {
    pub(crate) fn new(world: &Arc<World>, process: u64) -> Self {
        Self { world: Arc::clone(world), process, late_starts: Arc::default() }
    }

    /// Performs an operation on a conversation: each of its stages is a task of the network, which outlives the process.
    fn run<T: Send + 'static>(
        &self,
        name: &'static str,
        conversation: &str,
        is_durable: Option<bool>,
        apply: impl FnOnce(&mut Conversation) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let (conversation, loses_power) = (conversation.to_owned(), self.world.loses_power);
        self.run_on_disk(name, conversation.clone(), move |disk| {
            if let Some(is_durable) = is_durable {
                disk.begin_write(is_durable || !loses_power);
            }
            apply(disk.conversations.entry(conversation).or_default())
        })
    }

    fn release_lease(&self, lease: Lease) -> StoreFuture<'static, ()> {
        self.run("release", &lease.conversation.clone(), None, move |stored| {
            if stored.is_held(&lease) {
                stored.lease = None;
            }
            Ok(())
        })
    }

    fn run_on_disk<T: Send + 'static>(
        &self,
        name: &'static str,
        of: String,
        apply: impl FnOnce(&mut Disk) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let (world, process) = (Arc::clone(&self.world), self.process);
        Box::pin(async move {
            if !world.is_alive(process) {
                return Err(StoreError::new("the process has crashed"));
            }
            let (answer, answered) = oneshot::channel();
            let network = Arc::clone(&world);
            let task = perform(network, process, format!("{name} {of}"), apply, answer);
            world.scheduler.spawn(NETWORK, task);
            answered.await.unwrap_or_else(|_| Err(StoreError::new("the connection was lost")))
        })
    }
}

/// Performs an operation with the delays and the fault that the scheduler chooses.
async fn perform<T: Send + 'static>(
    world: Arc<World>,
    process: u64,
    name: String,
    apply: impl FnOnce(&mut Disk) -> Result<T, StoreError> + Send + 'static,
    answer: oneshot::Sender<Result<T, StoreError>>,
) {
    let fault = choose_fault(&world, process);
    let is_outage = fault == Fault::FailsBefore;
    pause(choose_delay(&world, is_outage)).await;
    let failed = || Err(StoreError::new("the store cannot be reached"));
    if fault != Fault::None {
        world.scheduler.trace(|| format!("p{process} {name}: {fault:?}"));
    }
    let mut answer = Some(answer);
    let mut send = |result| answer.take().map(|answer| answer.send(result).is_ok());
    match fault {
        Fault::FailsBefore => {
            send(failed());
            return;
        }
        Fault::CrashesBefore => return world.crash(process),
        Fault::TimesOut => {
            send(failed());
            pause(choose_delay(&world, true)).await;
        }
        _ => {}
    }
    let result = apply(&mut world.disk.lock().unwrap());
    let is_boring = name.starts_with("list") || name.starts_with("keys");
    world.scheduler.trace_unless(is_boring, || {
        let failure = result.as_ref().err().map_or(String::new(), |error| format!(": {error}"));
        format!("p{process} {name}{failure}")
    });
    if fault == Fault::CrashesAfter {
        return world.crash(process);
    }
    pause(choose_delay(&world, false)).await;
    send(match fault {
        Fault::FailsAfter => failed(),
        _ => result,
    });
}

fn choose_fault(world: &World, process: u64) -> Fault {
    if world.is_calm() {
        return Fault::None;
    }
    if world.is_unreachable(process) {
        return Fault::FailsBefore;
    }
    let roll = world.scheduler.below(1000);
    match roll.checked_div(world.faults) {
        Some(0) => Fault::FailsBefore,
        Some(1) => Fault::FailsAfter,
        Some(2) => Fault::TimesOut,
        Some(3) => Fault::CrashesBefore,
        Some(4) => Fault::CrashesAfter,
        _ => Fault::None,
    }
}

/// Milliseconds; sometimes longer than a lease lasts.
fn choose_delay(world: &World, is_slow: bool) -> u64 {
    let scheduler = &world.scheduler;
    let roll = scheduler.below(1000);
    match roll {
        _ if world.is_calm() => scheduler.below(3),
        _ if roll < world.slow_operations => scheduler.below(15_000),
        0..500 if !is_slow => 0,
        0..950 => 1 + scheduler.below(20),
        _ => scheduler.below(2_000),
    }
}

impl Store for Connection {
    fn scope(&self) -> StoreScope {
        StoreScope::Cluster
    }

    fn acquire<'a>(
        &'a self,
        conversation: &'a str,
        holder: &'a str,
        duration: Duration,
    ) -> StoreFuture<'a, Option<Lease>> {
        let (name, holder) = (conversation.to_owned(), holder.to_owned());
        let world = Arc::clone(&self.world);
        self.run("acquire", conversation, Some(true), move |stored| {
            let lease = stored.acquire(&name, &holder, duration);
            if let Some(lease) = &lease {
                world.on_acquired(&name, lease.term);
            }
            Ok(lease)
        })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, duration: Duration) -> StoreFuture<'a, bool> {
        let lease = lease.clone();
        self.run("renew", &lease.conversation.clone(), None, move |stored| {
            let is_held = stored.is_held(&lease);
            if is_held {
                stored.lease = Some((lease.holder, Instant::now() + duration));
            }
            Ok(is_held)
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.release_lease(lease.clone())
    }

    fn lease_status<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, LeaseStatus> {
        self.run("lease status", conversation, None, |stored| {
            Ok(match &stored.lease {
                Some((_, until)) if *until <= Instant::now() => LeaseStatus::expired(stored.term),
                held => LeaseStatus::new(stored.term, held.as_ref().map(|it| it.0.clone())),
            })
        })
    }

    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        let (lease, mut entries) = (lease.clone(), append.entries.to_vec());
        let (mut taken, turn, is_durable) = (append.taken.to_vec(), append.turn, append.durable);
        let mut before: Option<StoreFuture<'static, ()>> = None;
        let mut checks_lease = true;
        match self.world.bug {
            Some(PlantedBug::StaleLeaseAppends) => checks_lease = false,
            Some(PlantedBug::ReleasesLeaseEarly) if is_turn_over(&entries) => {
                checks_lease = false;
                let released = self.release_lease(lease.clone());
                // The end comes a while later.
                let delay = self.world.scheduler.below(6_000);
                before = Some(Box::pin(async move {
                    released.await?;
                    pause(delay).await;
                    Ok(())
                }));
            }
            Some(PlantedBug::TakesBeforeAppend) if !taken.is_empty() => {
                let taken = std::mem::take(&mut taken);
                let take = move |stored: &mut Conversation| {
                    taken.iter().for_each(|position| _ = stored.remove(*position));
                    Ok(())
                };
                before = Some(self.run("take", &lease.conversation, Some(true), take));
            }
            Some(PlantedBug::RunsBeforeStartIsStored) => {
                let mut late = self.late_starts.lock().unwrap();
                let is_start = |entry: &Entry| matches!(entry.body, EntryBody::CallStarted { .. });
                let starts: Vec<Entry> = entries.extract_if(.., |entry| is_start(entry)).collect();
                entries.splice(0..0, late.drain(..));
                late.extend(starts);
            }
            _ => {}
        }
        let appended =
            self.run("append", &lease.conversation.clone(), Some(is_durable), move |stored| {
                let is_there = |taken: &u64| stored.inbox.iter().any(|it| it.position == *taken);
                if checks_lease && !stored.is_held(&lease) {
                    return Err(StoreError::leased_elsewhere(&lease.conversation));
                }
                if !taken.iter().all(is_there) {
                    let conversation = lease.conversation.clone();
                    return Err(StoreError::Withdrawn { conversation });
                }
                stored.append(entries, &taken, turn);
                Ok(())
            });
        Box::pin(async {
            if let Some(before) = before {
                before.await?;
            }
            appended.await
        })
    }

    fn push_inbox<'a>(
        &'a self,
        conversation: &'a str,
        item: &'a InboxItem,
        limit: usize,
    ) -> StoreFuture<'a, Option<u64>> {
        let item = item.clone();
        self.run("push", conversation, Some(true), move |stored| Ok(stored.push(&item, limit)))
    }

    fn inbox<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<InboxItem>> {
        self.run("inbox", conversation, None, |stored| Ok(stored.inbox.clone()))
    }

    fn remove_inbox_item<'a>(
        &'a self,
        conversation: &'a str,
        position: u64,
    ) -> StoreFuture<'a, bool> {
        self.run("remove", conversation, Some(true), move |stored| Ok(stored.remove(position)))
    }

    fn list_unattended(&self, _: usize) -> StoreFuture<'_, Vec<String>> {
        self.run_on_disk("list", String::new(), |disk| Ok(disk.unattended()))
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        end: TailEnd<'a>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Entry>> {
        let end = match end {
            TailEnd::Newest => None,
            TailEnd::Before(id) => Some((id.to_owned(), 0)),
            TailEnd::At(id) => Some((id.to_owned(), 1)),
        };
        self.run("tail", conversation, None, move |stored| {
            Ok(stored.tail(end.as_ref().map(|(id, more)| (id.as_str(), *more)), limit))
        })
    }

    fn signing_keys(&self) -> StoreFuture<'_, Vec<Secret>> {
        let keys = || Ok(vec![Secret::new("the key of the simulation")]);
        self.run_on_disk("keys", String::new(), move |_| keys())
    }

    fn list(&self, _: usize) -> StoreFuture<'_, Vec<ConversationSummary>> {
        unused()
    }

    fn list_by_owner<'a>(
        &'a self,
        _: &'a Owner,
        _: usize,
    ) -> StoreFuture<'a, Vec<ConversationSummary>> {
        unused()
    }

    fn list_older_than(&self, _: u64, _: usize) -> StoreFuture<'_, Vec<ConversationSummary>> {
        unused()
    }

    fn delete<'a>(&'a self, _: &'a Lease) -> StoreFuture<'a, bool> {
        unused()
    }

    fn delete_expired<'a>(&'a self, _: &'a Lease, _: u64) -> StoreFuture<'a, bool> {
        unused()
    }

    fn rotate_signing_key(&self, _: usize) -> StoreFuture<'_, ()> {
        unused()
    }

    fn shared_state(&self) -> Arc<dyn SharedState> {
        Arc::new(MemorySharedState::new())
    }
}

fn unused<'a, T: Send + 'a>() -> StoreFuture<'a, T> {
    Box::pin(async { Err(StoreError::new("not simulated")) })
}
