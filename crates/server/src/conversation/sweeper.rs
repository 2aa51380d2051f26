//! Finds the conversations that no process attends to: interrupted turns, and items that wait in an inbox.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolwright_chat::{Owner, Store, StoreError, TailEnd};
use toolwright_core::__internal::with_jitter;

use crate::endpoint::path_template::ID_PARAM;
use crate::server::Server;

/// The maximum number of conversations that are found at a time.
const MAX_FOUND: usize = 256;

/// The interval while there are more than that.
const SHORT_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum number of conversations that are read at a time, with those that wait for their next attempt.
const MAX_READ: usize = 1024;

/// The factors of an interval, so that processes do not sweep at the same time.
pub(super) const SWEEP_JITTER: Range<f64> = 0.5..1.5;

/// How long a conversation is left alone that is still unattended after an attempt; the delay doubles up to the maximum.
const INITIAL_BACKOFF: Duration = Duration::from_secs(30);
const MAX_BACKOFF: Duration = Duration::from_secs(60 * 60);

/// The last attempts at conversations that were found before.
type Attempts = HashMap<String, Attempt>;

/// An attempt at a conversation.
struct Attempt {
    /// What was to be done then.
    revision: Revision,
    /// When the next one is due, unless there is something else to do.
    next: Instant,
    /// The delay until the one after that.
    delay: Duration,
}

/// Changes when a conversation does: the positions of its inbox, and its last entry.
#[derive(PartialEq, Eq)]
struct Revision {
    inbox: Vec<u64>,
    last_entry: Option<String>,
}

impl Revision {
    async fn read(store: &dyn Store, conversation: &str) -> Result<Self, StoreError> {
        let inbox = store.inbox(conversation).await?.into_iter().map(|item| item.position);
        let last = store.tail(conversation, TailEnd::Newest, 1).await?;
        let last_entry = last.into_iter().next_back().map(|entry| entry.id);
        Ok(Self { inbox: inbox.collect(), last_entry })
    }
}

impl Server {
    /// Attends to conversations that were left unfinished, at start and then about every
    /// [`sweep_interval`](crate::ServerLimits::sweep_interval), until the server shuts down: turns that a process has not
    /// ended, and messages, decisions and stops that it has accepted. Also deletes the conversations that are older than
    /// [`max_conversation_age`](crate::ServerLimits::max_conversation_age), and logs when a provider that people sign in with cannot be
    /// reached.
    ///
    /// [`serve`](Self::serve) runs it; an app that uses [`router`](Self::router) calls
    /// [`spawn_background_work`](Self::spawn_background_work).
    pub async fn attend_unattended(&self) {
        let sweep = async {
            let mut attempts = Attempts::new();
            // A process of the same name may have ended without releasing its leases.
            let mut includes_own = true;
            loop {
                let attended = self.sweep(&mut attempts, includes_own).await;
                includes_own = includes_own && attended.is_err();
                let attended = attended.unwrap_or_else(|error| {
                    tracing::warn!(%error, "unattended conversations cannot be found now");
                    0
                });
                let interval = self.state.limits.sweep_interval;
                sleep(match attended < MAX_FOUND {
                    true => with_jitter(interval, &SWEEP_JITTER),
                    false => interval.min(SHORT_INTERVAL),
                })
                .await;
            }
        };
        tokio::select! {
            ((), (), (), ()) = async {
                tokio::join!(
                    sweep,
                    self.delete_expired_conversations(),
                    self.accept_handovers(),
                    self.watch_providers(),
                )
            } => {}
            () = self.state.draining.cancelled() => {}
        }
    }

    /// Spawns [`attend_unattended`](Self::attend_unattended), once, for an app that serves the [`router`](Self::router) itself.
    ///
    /// Beside a node of another version that this one cannot work with, it logs an error and [shuts down](Self::shutdown).
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn spawn_background_work(&self) {
        if !self.state.background_work.swap(true, Ordering::Relaxed) {
            let server = self.clone();
            tokio::spawn(async move {
                match server.register_until_known().await {
                    Ok(node) => {
                        tokio::join!(server.attend_unattended(), server.keep_registered(node));
                    }
                    Err(error) => {
                        tracing::error!(%error, "this node shuts down");
                        server.shutdown().await;
                    }
                }
            });
        }
    }

    /// The store of all endpoints that keep conversations; `None` if no endpoint does.
    pub(super) fn persistent_store(&self) -> Option<&Arc<dyn Store>> {
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.is_persistent())?;
        Some(&endpoint.store)
    }

    /// Attends to unattended conversations, and returns how many it has attended to; `includes_own` for those whose lease a node of
    /// this name has, too.
    async fn sweep(
        &self,
        attempts: &mut Attempts,
        includes_own: bool,
    ) -> Result<usize, StoreError> {
        let Some(store) = self.persistent_store() else {
            return Ok(0);
        };
        // Those that are left alone for a while are listed each time: with a fixed limit, they would hide the others.
        let mut found = store.list_unattended(MAX_FOUND + attempts.len()).await?;
        if includes_own {
            found.extend(store.list_held_by(&self.state.node, MAX_FOUND).await?);
        }
        let mut attended = 0;
        let found: HashSet<String> = found.into_iter().collect();
        attempts.retain(|conversation, _| found.contains(conversation));
        let limits = &self.state.limits;
        let (waiting, new): (Vec<String>, Vec<String>) =
            found.into_iter().partition(|conversation| attempts.contains_key(conversation));
        for conversation in new.into_iter().chain(waiting).take(MAX_READ) {
            if self.state.running_turns.len() >= limits.max_turns {
                return Ok(attended);
            }
            let revision = match Revision::read(&**store, &conversation).await {
                Ok(revision) => revision,
                Err(error) => {
                    tracing::warn!(conversation, %error, "it cannot be attended to now");
                    continue;
                }
            };
            // A conversation that has changed since is not one that cannot be attended to.
            let last = attempts.get(&conversation).filter(|last| last.revision == revision);
            if last.is_some_and(|last| last.next > Instant::now()) {
                continue;
            }
            let delay = last.map_or(INITIAL_BACKOFF, |last| last.delay);
            self.attend_to(&conversation);
            let (next, delay) = (Instant::now() + delay, MAX_BACKOFF.min(delay * 2));
            attempts.insert(conversation, Attempt { revision, next, delay });
            attended += 1;
        }
        Ok(attended)
    }

    /// Attends to a stored conversation, if it is one of this server's endpoints.
    pub(super) fn attend_to(&self, conversation: &str) {
        let (owner, name) = Owner::split_stored_name(conversation);
        let room = self.endpoints.iter().find_map(|candidate| {
            let params = match name.starts_with('/') {
                true => candidate.template.match_path(name)?,
                false => vec![(ID_PARAM.to_owned(), name.to_owned())],
            };
            let room = candidate.open_room(params, &owner).ok()?;
            (room.id == conversation).then_some(room)
        });
        match room.filter(|room| room.endpoint.is_persistent() || self.state.bus.is_some()) {
            Some(room) => {
                tracing::info!(conversation, "an unattended conversation is attended to");
                tokio::spawn(async move {
                    room.connect_to_nodes().await;
                    room.wake();
                });
            }
            None => tracing::debug!(conversation, "it is unattended, and no endpoint has it"),
        }
    }
}
