//! Finds the conversations that no process attends to: interrupted turns, and items that wait in an inbox.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolwright_chat::{Owner, Store, StoreError, random_hex};

use crate::endpoint::path_template::ID_PARAM;
use crate::server::Server;

/// The maximum number of conversations that are found at a time.
const MAX_FOUND: usize = 256;

/// The interval while there are more than that.
const SHORT_INTERVAL: Duration = Duration::from_secs(1);

/// How long a conversation is left alone that is still unattended after an attempt; the delay doubles up to the maximum.
const INITIAL_BACKOFF: Duration = Duration::from_secs(30);
const MAX_BACKOFF: Duration = Duration::from_secs(60 * 60);

/// The next attempts at conversations that were found before: the time, and the delay after it.
type Attempts = HashMap<String, (Instant, Duration)>;

impl Server {
    /// Attends to conversations that were left unfinished, at start and then about every
    /// [`sweep_interval`](crate::ServerLimits::sweep_interval), until the server shuts down: turns that a process has not
    /// ended, and messages, decisions and stops that it has accepted. Also deletes the conversations that are older than
    /// [`max_conversation_age`](crate::ServerLimits::max_conversation_age).
    ///
    /// [`serve`](Self::serve) runs it; an app that uses [`router`](Self::router) has to spawn it.
    pub async fn attend_unattended(&self) {
        let sweep = async {
            let mut attempts = Attempts::new();
            loop {
                let attended = self.sweep(&mut attempts).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "unattended conversations cannot be found now");
                    0
                });
                let interval = self.state.limits.sweep_interval;
                sleep(match attended < MAX_FOUND {
                    true => jittered(interval),
                    false => interval.min(SHORT_INTERVAL),
                })
                .await;
            }
        };
        tokio::select! {
            ((), ()) = async { tokio::join!(sweep, self.delete_expired_conversations()) } => {}
            () = self.state.draining.cancelled() => {}
        }
    }

    /// The store of all endpoints that keep conversations; `None` if no endpoint does.
    pub(super) fn persistent_store(&self) -> Option<&Arc<dyn Store>> {
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.is_persistent())?;
        Some(&endpoint.store)
    }

    /// Attends to unattended conversations, and returns how many it has attended to.
    async fn sweep(&self, attempts: &mut Attempts) -> Result<usize, StoreError> {
        let Some(store) = self.persistent_store() else {
            return Ok(0);
        };
        // Those that are left alone for a while are listed each time: with a fixed limit, they would hide the others.
        let found = store.list_unattended(MAX_FOUND + attempts.len()).await?;
        let mut attended = 0;
        attempts.retain(|conversation, _| found.contains(conversation));
        let limits = &self.state.limits;
        for conversation in found {
            if self.state.running_turns.len() >= limits.max_turns {
                return Ok(attended);
            }
            let (next, delay) = attempts
                .get(&conversation)
                .copied()
                .unwrap_or_else(|| (Instant::now(), INITIAL_BACKOFF));
            if next > Instant::now() {
                continue;
            }
            self.attend_to(&conversation);
            let later = (Instant::now() + delay, MAX_BACKOFF.min(delay * 2));
            attempts.insert(conversation, later);
            attended += 1;
        }
        Ok(attended)
    }

    /// Attends to a stored conversation, if it is one of this server's endpoints.
    fn attend_to(&self, conversation: &str) {
        let (owner, name) = Owner::split_stored_name(conversation);
        let room = self.endpoints.iter().find_map(|candidate| {
            let params = match name.starts_with('/') {
                true => candidate.template.match_path(name)?,
                false => vec![(ID_PARAM.to_owned(), name.to_owned())],
            };
            let room = candidate.open_room(params, &owner).ok()?;
            (room.id == conversation).then_some(room)
        });
        match room.filter(|room| room.endpoint.is_persistent()) {
            Some(room) => {
                tracing::info!(conversation, "an unattended conversation is attended to");
                room.wake();
            }
            None => tracing::debug!(conversation, "it is unattended, and no endpoint has it"),
        }
    }
}

/// A duration of half to one and a half times the given one, so that processes do not sweep at the same time.
pub(super) fn jittered(duration: Duration) -> Duration {
    let random = random_hex(1).ok().and_then(|hex| u32::from_str_radix(&hex, 16).ok());
    duration / 2 + duration * random.unwrap_or(128) / 256
}
