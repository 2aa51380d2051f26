//! The requests of one connection that are under way, so that they can be cancelled by their ids.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolwright_core::CancellationToken;

/// The requests under way, and when the last of them was.
pub(crate) struct InFlightRequests(Mutex<InFlightState>);

struct InFlightState {
    requests: HashMap<Box<str>, CancellationToken>,
    last_activity: Instant,
}

impl Default for InFlightRequests {
    fn default() -> Self {
        Self(Mutex::new(InFlightState {
            requests: HashMap::new(),
            last_activity: Instant::now(),
        }))
    }
}

impl InFlightRequests {
    /// Notes that a request is under way, for as long as the guard lives; `None` if its id is taken.
    pub(crate) fn start(
        self: &Arc<Self>,
        id: &str,
        until: &CancellationToken,
    ) -> Option<InFlightGuard> {
        let mut held = self.state();
        if held.requests.contains_key(id) {
            return None;
        }
        let token = until.child_token();
        held.requests.insert(id.into(), token.clone());
        held.last_activity = Instant::now();
        Some(InFlightGuard {
            in_flight: Arc::clone(self),
            id: id.into(),
            token,
        })
    }

    /// Cancels a request; one that is not there is nothing to complain about.
    pub(crate) fn cancel(&self, id: &str) {
        let token = self.state().requests.get(id).cloned();
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// Notes that the client is still there.
    pub(crate) fn touch(&self) {
        self.state().last_activity = Instant::now();
    }

    /// Tells whether nothing was heard for so long, and nothing is under way.
    pub(crate) fn is_idle(&self, limit: Duration) -> bool {
        let held = self.state();
        held.requests.is_empty() && held.last_activity.elapsed() >= limit
    }

    fn state(&self) -> MutexGuard<'_, InFlightState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way.
pub(crate) struct InFlightGuard {
    in_flight: Arc<InFlightRequests>,
    id: Box<str>,
    pub(crate) token: CancellationToken,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut held = self.in_flight.state();
        held.requests.remove(&self.id);
        held.last_activity = Instant::now();
    }
}
