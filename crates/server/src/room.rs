//! One conversation as long as somebody takes part in it: its newest events, the turn that runs, those that wait.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::timeout;
use toolwright_chat::{TurnRequest, PendingApproval, Entry, Model, Owner, PrincipalRecord, StoreError, Usage};
use toolwright_core::{CancellationToken, Content, Role};

use crate::endpoint::Live;
use crate::event::{Event, Notice, Numbered, PeerId};
use crate::guest::Guest;
use crate::job::{Job, Task};
use crate::log::{Log, Partial, Read};
use crate::problem::Problem;
use crate::spent::Spent;
use crate::template::Params;

/// Prompts that wait for their turn, at most; more would only grow old.
const MOST_WAITING: usize = 16;

/// How long a look at a conversation waits for its unfinished turn to show that it waits for a decision.
const SETTLING: Duration = Duration::from_secs(2);

/// How often a snapshot is tried when turns begin meanwhile.
const TRIES: usize = 8;

/// One conversation under way.
pub(crate) struct Room {
    /// The conversation's name in the store, where the owner is part of it.
    pub(crate) id: String,
    /// The name that clients know it by.
    pub(crate) name: String,
    pub(crate) live: Arc<Live>,
    /// What the path's parameters are.
    pub(crate) params: Params,
    log: Mutex<Log>,
    /// The number of the newest event: whoever waits for the next one is woken by it.
    moved: watch::Sender<u64>,
    work: Mutex<Work>,
    /// Whether what an earlier process left unfinished was resumed.
    woken: tokio::sync::Mutex<bool>,
    peers: Mutex<usize>,
    /// Who answered last, where a prompt chose.
    chosen: Mutex<Option<Arc<dyn Model>>>,
    spent: tokio::sync::Mutex<Option<Spent>>,
}

#[derive(Default)]
struct Work {
    waiting: VecDeque<Job>,
    /// Ends the turn that runs.
    running: Option<CancellationToken>,
    /// Cancelled when the turn that an earlier process left unfinished shows where it stands.
    settled: Option<CancellationToken>,
}

/// A conversation as it stands: what is kept of it, and from where on events tell the rest.
#[derive(Serialize)]
pub(crate) struct Snapshot {
    pub(crate) id: String,
    /// What the journal has, up to the turn that runs.
    pub(crate) entries: Vec<Entry>,
    /// Events after this number are not in the entries.
    pub(crate) seq: u64,
    pub(crate) running: bool,
    pub(crate) pending: Vec<PendingApproval>,
    /// What was said of a step that is not over, where its events are not to be had any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial: Option<Partial>,
    /// Messages that wait for their turn, in order, each as its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) queued: Vec<Vec<Part>>,
    pub(crate) peers: usize,
}

/// A part of a message that waits, as the event that its turn begins with has it.
#[derive(Serialize)]
pub(crate) struct Part {
    role: Role,
    content: Vec<Content>,
}

impl Room {
    pub(crate) fn new(live: Arc<Live>, id: String, name: String, params: Params) -> Self {
        let log = Log::new();
        Self {
            id,
            name,
            live,
            params,
            moved: watch::Sender::new(log.newest()),
            log: Mutex::new(log),
            work: Mutex::default(),
            woken: tokio::sync::Mutex::default(),
            peers: Mutex::default(),
            chosen: Mutex::default(),
            spent: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells an event to all who read, or to one of them.
    pub(crate) fn tell(&self, event: impl Into<Event>, to: Option<PeerId>) -> Arc<Numbered> {
        let numbered = self.log().push(event.into(), to);
        self.moved.send_replace(numbered.seq);
        numbered
    }

    pub(crate) fn read(&self, after: u64, most: usize) -> Read {
        self.log().after(after, most)
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.moved.subscribe()
    }

    /// Whether a turn runs.
    pub(crate) fn is_running(&self) -> bool {
        self.log().turn().runs
    }

    /// Whether nobody would miss it.
    pub(crate) fn is_idle(&self) -> bool {
        let works = self.work().running.is_some();
        // What waits is in the journal, where there is one that lasts, and is asked about again.
        let kept = self.live.remembers() || self.log().pending().is_empty();
        !works && self.peers() == 0 && kept
    }

    /// Accepts what a client asks for: 503 if a message could not be stored or answered, 429 if too much waits in this
    /// conversation already. Returns true if it has to wait for another turn.
    ///
    /// What goes on with a turn that was accepted before is not refused for the server's sake.
    pub(crate) async fn accept(self: &Arc<Self>, job: Job) -> Result<bool, Problem> {
        if matches!(job.what, Task::Prompt(_)) {
            self.live.check_admission().await?;
        }
        let busy = |_| Problem::busy("too many prompts wait for this conversation already");
        self.submit(job).map_err(busy)
    }

    /// Takes on a job; tells whether it has to wait for another.
    pub(crate) fn submit(self: &Arc<Self>, job: Job) -> Result<bool, Busy> {
        let mut work = self.work();
        let says = matches!(job.what, Task::Prompt(_));
        // However much waits to be said, what waits to be decided can be.
        let most = if says { MOST_WAITING } else { 2 * MOST_WAITING };
        if work.waiting.len() >= most {
            return Err(Busy);
        }
        let cancel = job.cancel.clone();
        match says {
            true => work.waiting.push_back(job),
            false => work.waiting.push_front(job),
        }
        if work.running.is_some() {
            return Ok(true);
        }
        work.running = Some(cancel);
        drop(work);
        let room = Arc::clone(self);
        self.live.app.turns.spawn(async move { room.run().await });
        Ok(false)
    }

    /// Does all that is to be done, one after the other.
    async fn run(self: Arc<Self>) {
        let mut asked = false;
        loop {
            let next = {
                let mut work = self.work();
                let next = work.waiting.pop_front_if(|job| {
                    // Who said something before the question was asked has not answered it.
                    !asked || !matches!(job.what, Task::Prompt(_))
                });
                work.running = next.as_ref().map(|job| job.cancel.clone());
                next
            };
            let Some(job) = next else { return };
            let to = self.live.audience(job.peer.as_ref());
            let done = AssertUnwindSafe(crate::turn::perform(&self, job)).catch_unwind();
            let done = tokio::select! {
                done = done => done,
                // What has not ended by now is left as it is: the journal knows where to go on.
                () = self.live.app.ending.cancelled() => return,
            };
            if done.is_err() {
                tracing::error!(conversation = self.id, "a handler of the endpoint panicked");
                let kind = "internal".to_owned();
                let message = "the endpoint failed; its log says why".to_owned();
                self.tell(Notice::Error { kind, message }, to);
            }
            let mut log = self.log();
            log.end();
            asked = !log.pending().is_empty();
        }
    }

    /// Ends the turn that runs or waits, or that an earlier process left unfinished; tells whether there was one.
    pub(crate) async fn stop(self: &Arc<Self>) -> Result<bool, StoreError> {
        let mut woken = self.woken.lock().await;
        let running = self.work().running.clone();
        if let Some(running) = running {
            running.cancel();
            return Ok(true);
        }
        let waits = self.goes_on() || (!*woken && self.live.unfinished(&self.id).await?.is_some());
        if !waits {
            return Ok(false);
        }
        *woken = true;
        // A turn that waits ends as one that runs: the journal is told, and so is everybody who reads.
        let job = Job::resume(Guest::operator(&self.live.app));
        job.cancel.cancel();
        Ok(self.submit(job).is_ok())
    }

    /// Resumes the turn that an earlier process left unfinished, in the name of the principal that began it.
    ///
    /// If its credential has expired, the turn waits until that subject comes back: `guest` may be somebody else.
    pub(crate) async fn wake(self: &Arc<Self>, guest: &Guest) -> Result<(), StoreError> {
        let mut woken = self.woken.lock().await;
        if *woken {
            return Ok(());
        }
        if self.goes_on() {
            return Ok(());
        }
        let Some(entries) = self.live.unfinished(&self.id).await? else {
            *woken = true;
            return Ok(());
        };
        let record = PrincipalRecord::of_last_turn(&entries);
        let began = record.map_or(Owner::Operator, |it| Owner::Subject(it.subject.clone()));
        let principal = Guest::recorded(&self.live.app, record);
        let principal = principal.or_else(|| (guest.owner() == began).then(|| guest.clone()));
        let Some(principal) = principal else {
            return Ok(());
        };
        *woken = true;
        let settled = CancellationToken::new();
        self.work().settled = Some(settled.clone());
        let mut job = Job::resume(principal);
        job.settled = Some(settled.drop_guard());
        // Too busy to go on is busy with going on.
        let _ = self.submit(job);
        Ok(())
    }

    /// Returns true if this process runs a turn of the conversation, or has one that waits for a decision.
    fn goes_on(&self) -> bool {
        self.work().running.is_some() || !self.log().pending().is_empty()
    }

    /// Waits until a turn that was resumed has asked again about the calls that wait for a decision, is over, or goes on.
    pub(crate) async fn settle(&self) {
        let settled = self.work().settled.clone();
        if let Some(settled) = settled {
            // Another process may hold the conversation: then it is shown as running.
            let _ = timeout(SETTLING, settled.cancelled()).await;
        }
    }

    /// The conversation as it stands.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        for _ in 0..TRIES {
            let turn = self.log().turn().clone();
            let mut entries = self.live.store.load(&self.id).await?;
            // Before the log: a message that begins in between is told by the log, or tried again.
            let queued = self.queued();
            let log = self.log();
            // A turn that began meanwhile may have told the journal something already.
            if log.turn().count != turn.count {
                continue;
            }
            // The scopes of a principal are nobody else's business.
            entries.iter_mut().for_each(|entry| entry.principal = None);
            let whole = log.has(turn.after);
            let mut snapshot = Snapshot {
                id: self.name.clone(),
                entries: Vec::new(),
                seq: log.newest(),
                running: turn.runs,
                pending: log.pending().to_vec(),
                partial: None,
                queued,
                peers: self.peers(),
            };
            if turn.runs && whole {
                let known = |entry: &Entry| turn.entry.as_deref() == Some(&*entry.id);
                let end = entries.iter().position(known).map_or(0, |at| at + 1);
                entries.truncate(end);
                snapshot.seq = turn.after;
                // What waits is told by the events.
                snapshot.pending.clear();
            } else if turn.runs {
                snapshot.partial = Some(log.partial().clone());
            }
            snapshot.entries = entries;
            return Ok(snapshot);
        }
        Err(StoreError::new(
            "the conversation goes on too fast to be shown; try again",
        ))
    }

    /// The messages that wait for their turn, except those whose answers are for one participant only.
    fn queued(&self) -> Vec<Vec<Part>> {
        let work = self.work();
        let messages = work.waiting.iter().filter_map(|job| match &job.what {
            Task::Prompt(message) if self.live.audience(job.peer.as_ref()).is_none() => {
                Some(message)
            }
            _ => None,
        });
        let parts = messages.map(|message| {
            let parts = message.parts.iter().cloned();
            parts
                .map(|(role, content)| Part { role, content })
                .collect()
        });
        parts.collect()
    }

    /// A turn begins: what comes now is not in the journal yet.
    ///
    /// Returns the number before its first event. What goes on is still the answer that it was.
    pub(crate) async fn begin(&self, anew: bool) -> Result<u64, StoreError> {
        let last = self.live.store.tail(&self.id, None, 1).await?;
        let last = last.into_iter().next_back();
        Ok(self.log().begin(last.map(|entry| entry.id), anew))
    }

    /// Remembers who was chosen to answer.
    pub(crate) fn choose(&self, model: Option<Arc<dyn Model>>) {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = model;
    }

    /// Has a turn go on with the model that it began with.
    pub(crate) fn with_chosen(&self, ask: TurnRequest) -> TurnRequest {
        let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        match &*chosen {
            Some(model) => ask.model(self.live.guarded(Arc::clone(model))),
            None => ask,
        }
    }

    /// What the conversation has taken so far.
    pub(crate) async fn spent(&self) -> Result<Spent, StoreError> {
        let mut spent = self.spent.lock().await;
        if let Some(spent) = *spent {
            return Ok(spent);
        }
        // Nobody asks without interceptors, and a long conversation takes long to read.
        let sum = match self.live.interceptors.is_empty() {
            true => return Ok(Spent::default()),
            false => Spent::of(&self.live.store.load(&self.id).await?),
        };
        *spent = Some(sum);
        Ok(sum)
    }

    /// Adds what a turn took.
    pub(crate) async fn add_spent(&self, usage: Usage, cost: Option<f64>) {
        if let Some(spent) = &mut *self.spent.lock().await {
            spent.add(usage, cost);
            spent.turns += 1;
        }
    }

    /// What was taken is to be read from the journal again.
    pub(crate) async fn forget_spent(&self) {
        *self.spent.lock().await = None;
    }

    pub(crate) fn peers(&self) -> usize {
        *self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more takes part; returns how many do now.
    pub(crate) fn join(&self) -> usize {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        *peers += 1;
        *peers
    }

    /// One leaves.
    pub(crate) fn leave(&self) -> usize {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        *peers = peers.saturating_sub(1);
        *peers
    }

    /// Whatever was told is gone: whoever reads begins anew.
    pub(crate) async fn clear(&self) {
        self.work().waiting.clear();
        self.forget_spent().await;
        let newest = {
            let mut log = self.log();
            log.clear();
            log.newest()
        };
        self.moved.send_replace(newest);
    }
}

/// Too many wait already.
#[derive(Debug)]
pub(crate) struct Busy;
