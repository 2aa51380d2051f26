//! One turn of a conversation at a time: in this process by queueing, among processes by a lease.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};

use crate::error::ChatError;
use crate::store::{Lease, Store, StoreError};

/// How long a lease lasts when its holder dies, unless said otherwise.
pub(crate) const LIFE: Duration = Duration::from_secs(30);

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Prompts that wait for their conversation, at most; more would only grow old.
pub(crate) const MOST_WAITING: usize = 16;

/// The conversations whose turns run, each with a line of prompts that wait.
#[derive(Default)]
pub(crate) struct Queues(Mutex<HashMap<String, Weak<Line>>>);

#[derive(Default)]
struct Line {
    turn: Arc<tokio::sync::Mutex<()>>,
    waiting: AtomicUsize,
}

/// The turn that runs now.
pub(crate) struct Place {
    _turn: OwnedMutexGuard<()>,
    _line: Arc<Line>,
}

impl Queues {
    /// Waits until it is this prompt's turn; refuses where too many wait already.
    pub(crate) async fn wait(&self, conversation: &str) -> Result<Place, ChatError> {
        let line = {
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            lines.retain(|_, line| line.strong_count() > 0);
            let known = lines.get(conversation).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let line = Arc::default();
                lines.insert(conversation.to_owned(), Arc::downgrade(&line));
                line
            })
        };
        if let Ok(turn) = Arc::clone(&line.turn).try_lock_owned() {
            return Ok(Place {
                _turn: turn,
                _line: line,
            });
        }
        let _waiting = Waiting::join(&line)?;
        let turn = Arc::clone(&line.turn).lock_owned().await;
        Ok(Place {
            _turn: turn,
            _line: Arc::clone(&line),
        })
    }
}

/// One who waits; who gives up waiting makes room.
struct Waiting<'a>(&'a Line);

impl<'a> Waiting<'a> {
    fn join(line: &'a Line) -> Result<Self, ChatError> {
        let before = line.waiting.fetch_add(1, Ordering::SeqCst);
        let waiting = Self(line);
        match before < MOST_WAITING {
            true => Ok(waiting),
            false => Err(ChatError::Busy {
                reason: format!("{MOST_WAITING} prompts wait for this conversation already"),
            }),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A lease that is held.
pub(crate) struct Held {
    store: Arc<dyn Store>,
    pub(crate) lease: Lease,
    life: Duration,
    /// Kept until the lease is given back: whoever comes next has the same name, and would lose it to a late release.
    place: Option<Place>,
}

impl Held {
    /// Takes a conversation, as soon as no other process has it.
    pub(crate) async fn take(
        store: Arc<dyn Store>,
        lease: Lease,
        life: Duration,
        place: Place,
    ) -> Result<Self, ChatError> {
        let began = Instant::now();
        let mut wait = Duration::from_millis(20);
        while !store.lease(&lease, life).await? {
            if began.elapsed() >= PATIENCE {
                let reason = StoreError::taken(&lease).to_string();
                return Err(ChatError::Busy { reason });
            }
            sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(1));
        }
        Ok(Self {
            store,
            lease,
            life,
            place: Some(place),
        })
    }

    /// Does something while the lease is renewed; stops when it is lost.
    pub(crate) async fn during<T>(
        &self,
        work: impl Future<Output = Result<T, ChatError>>,
    ) -> Result<T, ChatError> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = sleep(self.life / 3) => {}
            }
            let mut renewal = self.store.lease(&self.lease, self.life);
            let renewed = tokio::select! {
                done = &mut work => {
                    // If it is still under way when the lease is given back, it takes it again.
                    let _ = renewal.await;
                    return done;
                }
                renewed = &mut renewal => renewed,
            };
            match renewed {
                Ok(true) => {}
                Ok(false) => return Err(StoreError::taken(&self.lease).into()),
                // It may come back before the lease is over; appending says so if it does not.
                Err(error) => tracing::warn!(%error, "a lease could not be renewed"),
            }
        }
    }

    /// Gives it back.
    pub(crate) async fn release(mut self) {
        let place = self.place.take();
        give_back(&*self.store, &self.lease, place).await;
    }
}

async fn give_back(store: &dyn Store, lease: &Lease, place: Option<Place>) {
    if let Err(error) = store.release(lease).await {
        tracing::warn!(%error, "a lease could not be given back; it ends by itself");
    }
    drop(place);
}

impl Drop for Held {
    fn drop(&mut self) {
        // Whoever drops a turn cannot wait; without a runtime the lease ends by itself.
        if let Some(place) = self.place.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (store, lease) = (Arc::clone(&self.store), self.lease.clone());
            runtime.spawn(async move { give_back(&*store, &lease, Some(place)).await });
        }
    }
}
