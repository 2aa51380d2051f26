//! The requests of one connection that are under way, so that they can be cancelled by their ids.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolwright_core::CancellationToken;

/// The requests under way, and when the last of them was.
pub(crate) struct Calls(Mutex<Held>);

struct Held {
    running: HashMap<Box<str>, CancellationToken>,
    seen: Instant,
}

impl Default for Calls {
    fn default() -> Self {
        Self(Mutex::new(Held {
            running: HashMap::new(),
            seen: Instant::now(),
        }))
    }
}

impl Calls {
    /// Notes that a request is under way, for as long as the guard lives; `None` if its id is taken.
    pub(crate) fn start(self: &Arc<Self>, id: &str, until: &CancellationToken) -> Option<Underway> {
        let mut held = self.held();
        if held.running.contains_key(id) {
            return None;
        }
        let token = until.child_token();
        held.running.insert(id.into(), token.clone());
        held.seen = Instant::now();
        Some(Underway {
            calls: Arc::clone(self),
            id: id.into(),
            token,
        })
    }

    /// Cancels a request; one that is not there is nothing to complain about.
    pub(crate) fn cancel(&self, id: &str) {
        let token = self.held().running.get(id).cloned();
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// Notes that the client is still there.
    pub(crate) fn touch(&self) {
        self.held().seen = Instant::now();
    }

    /// Tells whether nothing was heard for so long, and nothing is under way.
    pub(crate) fn are_idle(&self, limit: Duration) -> bool {
        let held = self.held();
        held.running.is_empty() && held.seen.elapsed() >= limit
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way.
pub(crate) struct Underway {
    calls: Arc<Calls>,
    id: Box<str>,
    pub(crate) token: CancellationToken,
}

impl Drop for Underway {
    fn drop(&mut self) {
        let mut held = self.calls.held();
        held.running.remove(&self.id);
        held.seen = Instant::now();
    }
}
