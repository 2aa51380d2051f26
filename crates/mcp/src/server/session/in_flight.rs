//! The requests of one connection that are in flight, so that clients can cancel them by id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolwright_core::CancellationToken;

use crate::lock::lock;
use crate::server::RpcMessage;

/// The requests in flight, and the time of the last one.
pub(crate) struct InFlightRequests(Mutex<InFlightState>);

struct InFlightState {
    requests: HashMap<Box<str>, CancellationToken>,
    last_activity: Instant,
}

impl Default for InFlightRequests {
    fn default() -> Self {
        Self(Mutex::new(InFlightState { requests: HashMap::new(), last_activity: Instant::now() }))
    }
}

impl InFlightRequests {
    /// Registers a request until the guard is dropped; `None` if its id is in use. Cancelling `parent` cancels the request.
    pub(crate) fn start(
        self: &Arc<Self>,
        id: &str,
        parent: &CancellationToken,
    ) -> Option<InFlightGuard> {
        let mut state = lock(&self.0);
        if state.requests.contains_key(id) {
            return None;
        }
        let token = parent.child_token();
        state.requests.insert(id.into(), token.clone());
        state.last_activity = Instant::now();
        Some(InFlightGuard { in_flight: Arc::clone(self), id: id.into(), token })
    }

    /// Returns true if a request in flight has this id.
    pub(crate) fn contains(&self, id: &str) -> bool {
        lock(&self.0).requests.contains_key(id)
    }

    /// Handles `notifications/cancelled`; other notifications are ignored, and unknown ids.
    ///
    /// Returns the id, as raw JSON, if no request has it.
    pub(crate) fn handle_notification<'m>(&self, message: &RpcMessage<'m>) -> Option<&'m str> {
        if message.method() != "notifications/cancelled" {
            return None;
        }
        let id = message.params.request_id?.get();
        (!self.cancel(id)).then_some(id)
    }

    /// Cancels a request; returns false if none has this id.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let token = lock(&self.0).requests.get(id).cloned();
        token.as_ref().map(CancellationToken::cancel).is_some()
    }

    /// Restarts the idle time.
    pub(crate) fn touch(&self) {
        lock(&self.0).last_activity = Instant::now();
    }

    /// Returns true if no request is in flight, and the last one was at least `limit` ago.
    pub(crate) fn is_idle(&self, limit: Duration) -> bool {
        self.idle_since().is_some_and(|since| since.elapsed() >= limit)
    }

    /// Returns the time of the last request; `None` while one is in flight.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = lock(&self.0);
        state.requests.is_empty().then_some(state.last_activity)
    }
}

/// A registered request; `token` is cancelled when the client cancels it.
pub(crate) struct InFlightGuard {
    in_flight: Arc<InFlightRequests>,
    id: Box<str>,
    pub(crate) token: CancellationToken,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut state = lock(&self.in_flight.0);
        state.requests.remove(&self.id);
        state.last_activity = Instant::now();
    }
}
