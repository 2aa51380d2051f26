//! What all parts of a simulation share: the disk, the processes, the history, and what disturbs them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use toolwright_chat::EntryBody;
use toolwright_core::Invoker;

use super::planted_bugs::PlantedBug;
use super::process::Process;
use super::scheduler::{Scheduler, pause};
use super::store::Disk;

/// The owner of operations on the way to the store and back.
pub(crate) const NETWORK: u64 = 0;
/// The owner of the clients, and of what disturbs the processes.
pub(crate) const CLIENTS: u64 = 1;

pub(crate) struct World {
    pub(crate) scheduler: Scheduler,
    pub(crate) bug: Option<PlantedBug>,
    pub(crate) disk: Mutex<Disk>,
    pub(crate) history: Mutex<History>,
    pub(crate) conversations: Vec<String>,
    pub(crate) tools: Invoker,
    /// How many operations of a thousand fail in each way.
    pub(crate) faults: u64,
    /// How many operations of a thousand take longer than a lease may last.
    pub(crate) slow_operations: u64,
    /// True if a power failure may lose what was not written durably.
    pub(crate) loses_power: bool,
    processes: Mutex<Processes>,
    is_calm: AtomicBool,
    pub(crate) is_done: AtomicBool,
}

#[derive(Default)]
struct Processes {
    /// One for each machine; `None` while it is down.
    running: Vec<Option<Arc<Process>>>,
    last_id: u64,
    /// The store cannot be reached until this time: by this process, or by all.
    outage: (u64, Option<u64>),
}

/// What clients, tools and subscribers have observed.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) sent: Vec<Sent>,
    /// The messages that were withdrawn; false if that failed, and was perhaps done.
    pub(crate) withdrawn: BTreeMap<String, bool>,
    /// The decisions that were refused in the open: the id of the item, and the reason.
    pub(crate) refused: BTreeMap<String, String>,
    /// How often the effect of each call happened.
    pub(crate) effects: BTreeMap<String, u64>,
    pub(crate) events: Vec<Event>,
    /// The highest number of a conversation's events when a lease was acquired, by its term.
    highest_before: BTreeMap<(String, u64), u64>,
    pub(crate) subscribers: Vec<Subscriber>,
    /// What went wrong and was noticed at once.
    pub(crate) failures: Vec<String>,
}

/// An item that a client sent.
pub(crate) struct Sent {
    pub(crate) client: u64,
    /// Items of one batch are sent at the same time.
    pub(crate) batch: u64,
    pub(crate) conversation: String,
    pub(crate) id: String,
    pub(crate) attempts: u64,
    /// The position, once the item was acknowledged; 0 if it was taken at that time.
    pub(crate) acknowledged: Option<u64>,
}

/// An event that was published.
pub(crate) struct Event {
    pub(crate) conversation: String,
    /// The term of the lease with which it was published.
    pub(crate) term: u64,
    pub(crate) number: u64,
    /// The entry that it is about, if it has one.
    pub(crate) entry: Option<EventEntry>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EventEntry {
    Decided(String),
    Finished(String),
}

impl EventEntry {
    pub(crate) fn is_about(&self, body: &EntryBody) -> bool {
        match (self, body) {
            (Self::Decided(id), EntryBody::ApprovalDecided { call, .. }) => *call == id.as_str(),
            (Self::Finished(id), EntryBody::CallFinished { result }) => {
                result.call_id == id.as_str()
            }
            _ => false,
        }
    }
}

/// A client that follows the events of a conversation at one process, until that crashes.
pub(crate) struct Subscriber {
    pub(crate) conversation: String,
    process: u64,
    last_number: u64,
    /// The ids of the entries that it has seen.
    pub(crate) seen: Vec<String>,
}

impl World {
    pub(crate) fn new(scheduler: Scheduler, bug: Option<PlantedBug>, tools: Invoker) -> Self {
        let conversations = (0..=scheduler.below(3)).map(|n| format!("c{n}")).collect();
        let faults = *scheduler.pick(&[0, 1, 5, 15]);
        let slow_operations = *scheduler.pick(&[0, 10, 50]);
        let loses_power = scheduler.chance(250);
        Self {
            bug,
            disk: Mutex::default(),
            history: Mutex::default(),
            conversations,
            tools,
            faults,
            slow_operations,
            loses_power,
            processes: Mutex::default(),
            is_calm: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
            scheduler,
        }
    }

    pub(crate) fn start(self: &Arc<Self>) {
        let count = 2 + self.scheduler.below(3);
        self.processes.lock().unwrap().running = (0..count).map(|_| None).collect();
        self.start_missing_processes();
        for conversation in &self.conversations {
            let subscriber = |_| Subscriber {
                conversation: conversation.clone(),
                process: 0,
                last_number: 0,
                seen: Vec::new(),
            };
            self.history.lock().unwrap().subscribers.extend((0..2).map(subscriber));
        }
        let world = Arc::clone(self);
        self.scheduler.spawn(CLIENTS, async move {
            while !world.is_calm() {
                pause(world.scheduler.below(6_000)).await;
                world.disturb();
            }
        });
    }

    /// Lets everything run undisturbed from now on.
    pub(crate) fn calm_down(self: &Arc<Self>) {
        self.scheduler.trace(|| "undisturbed from now on".to_owned());
        self.is_calm.store(true, Ordering::Relaxed);
        self.start_missing_processes();
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }

    /// Breaks the cycles of references at the end.
    pub(crate) fn stop(&self) {
        self.processes.lock().unwrap().running.clear();
        self.scheduler.drop_tasks(|_| true);
    }

    fn disturb(self: &Arc<Self>) {
        let running = self.running();
        match self.scheduler.below(10) {
            _ if self.is_calm() || running.is_empty() => {}
            0..3 => self.crash(self.scheduler.pick(&running).id),
            3 if self.loses_power => self.lose_power(),
            4 => {
                let process = self.scheduler.pick(&running).id;
                let affected = self.scheduler.chance(700).then_some(process);
                let until = self.scheduler.now() + self.scheduler.below(12_000);
                self.processes.lock().unwrap().outage = (until, affected);
                self.scheduler
                    .trace(|| format!("store unreachable for {affected:?} until {until}"));
            }
            5 => self.scheduler.pick(&running).move_clock(),
            _ => {}
        }
        if self.scheduler.chance(500) {
            self.start_missing_processes();
        }
        // Subscribers move to other processes, too.
        let running = self.running();
        let mut history = self.history.lock().unwrap();
        for subscriber in &mut history.subscribers {
            if !running.is_empty() && self.scheduler.chance(300) {
                subscriber.process = self.scheduler.pick(&running).id;
                subscriber.last_number = 0;
            }
        }
    }

    fn start_missing_processes(self: &Arc<Self>) {
        let machines = self.processes.lock().unwrap().running.len();
        for machine in 0..machines {
            let id = {
                let mut processes = self.processes.lock().unwrap();
                if processes.running[machine].is_some() {
                    continue;
                }
                processes.last_id += 1;
                processes.last_id + CLIENTS
            };
            // Restarted under the name it had before, or under a new one.
            let holder = match self.scheduler.chance(500) {
                true => format!("machine{machine}"),
                false => format!("machine{machine}-{id}"),
            };
            self.scheduler.trace(|| format!("p{id} starts as {holder}"));
            let process = Process::start(self, id, holder);
            self.processes.lock().unwrap().running[machine] = Some(process);
        }
    }

    /// Drops everything that a process does, wherever it is.
    pub(crate) fn crash(&self, id: u64) {
        let crashed = {
            let mut processes = self.processes.lock().unwrap();
            let mut running = processes.running.iter_mut().filter(|_| !self.is_calm());
            running.find_map(|slot| slot.take_if(|process| process.id == id))
        };
        if crashed.is_some() {
            self.scheduler.trace(|| format!("p{id} crashes"));
            self.scheduler.drop_tasks(|owner| owner == id);
        }
    }

    /// All processes crash, operations under way are lost, and so is what was not written durably.
    fn lose_power(&self) {
        self.scheduler.trace(|| "power failure".to_owned());
        self.running().iter().for_each(|process| self.crash(process.id));
        self.scheduler.drop_tasks(|owner| owner == NETWORK);
        let mut disk = self.disk.lock().unwrap();
        disk.lose_power();
        for subscriber in &mut self.history.lock().unwrap().subscribers {
            subscriber.seen.truncate(disk.conversation(&subscriber.conversation).entries.len());
        }
    }

    pub(crate) fn running(&self) -> Vec<Arc<Process>> {
        self.processes.lock().unwrap().running.iter().flatten().cloned().collect()
    }

    pub(crate) fn is_alive(&self, process: u64) -> bool {
        self.running().iter().any(|running| running.id == process)
    }

    pub(crate) fn is_unreachable(&self, process: u64) -> bool {
        let (until, affected) = self.processes.lock().unwrap().outage;
        self.scheduler.now() < until && affected.is_none_or(|affected| affected == process)
    }

    pub(crate) fn fail(&self, failure: String) {
        self.scheduler.trace(|| format!("FAILURE {failure}"));
        self.history.lock().unwrap().failures.push(failure);
    }

    /// Notes the acquisition of a lease: events with it have higher numbers than those before.
    pub(crate) fn on_acquired(&self, conversation: &str, term: u64) {
        let mut history = self.history.lock().unwrap();
        let events = history.events.iter().filter(|event| event.conversation == conversation);
        let highest = events.map(|event| event.number).max().unwrap_or_default();
        history.highest_before.insert((conversation.to_owned(), term), highest);
    }

    /// Delivers an event to the subscribers at a process.
    pub(crate) fn publish(&self, process: u64, event: Event) {
        let (number, entry) = (event.number, event.entry.clone());
        let conversation = event.conversation.clone();
        self.scheduler.trace(|| {
            format!(
                "p{process} {conversation} event {}.{} {entry:?}",
                number >> 20,
                number & 0xfffff
            )
        });
        if number >= 1 << 53 {
            self.fail(format!("{conversation}: the number {number} is too high"));
        }
        let disk = self.disk.lock().unwrap();
        let stored = &disk.conversations[&conversation];
        if let Some(entry) = &entry
            && !stored.has_entry(|body| entry.is_about(body))
        {
            self.fail(format!("{conversation}: {entry:?} was published and is not stored"));
        }
        let mut failures = Vec::new();
        let mut history = self.history.lock().unwrap();
        let before = history.highest_before[&(conversation.clone(), event.term)];
        if number <= before {
            failures.push(format!("{conversation}: number {number} after {before}"));
        }
        for subscriber in &mut history.subscribers {
            if subscriber.process != process || subscriber.conversation != conversation {
                continue;
            }
            if number <= subscriber.last_number {
                failures.push(format!("{conversation}: number {number} follows a higher one"));
            }
            subscriber.last_number = number;
            let new = stored.entries.iter().skip(subscriber.seen.len());
            subscriber.seen.extend(new.map(|entry| entry.id.clone()));
        }
        history.events.push(event);
        history.failures.extend(failures);
    }
}
