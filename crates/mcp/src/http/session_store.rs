//! The sessions of a server by id; idle ones end after a timeout.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::lock::lock;
use crate::server::{McpServer, Session};

#[derive(Default)]
pub(crate) struct SessionStore {
    sessions: Mutex<HashMap<Box<str>, Arc<Session>>>,
    /// Set when the task that removes idle sessions runs.
    reaper: OnceLock<()>,
}

impl SessionStore {
    /// Adds a session; returns false if there are too many.
    pub(super) fn add(&self, server: &McpServer, session: Session) -> bool {
        self.reaper.get_or_init(|| spawn_reaper(server));
        let limits = &server.0.limits;
        if lock(&self.sessions).len() >= limits.max_sessions {
            self.remove_idle(limits.session_idle_timeout);
        }
        let mut sessions = lock(&self.sessions);
        if sessions.len() >= limits.max_sessions {
            return false;
        }
        sessions.insert(session.id.as_str().into(), Arc::new(session));
        true
    }

    /// Finds a session that was not idle for longer than the timeout, and restarts its idle time.
    pub(super) fn find_active(&self, id: &str, idle_timeout: Duration) -> Option<Arc<Session>> {
        let session = lock(&self.sessions).get(id).cloned()?;
        if session.in_flight.is_idle(idle_timeout) {
            self.end(&session);
            return None;
        }
        session.in_flight.touch();
        Some(session)
    }

    /// Ends a session, and cancels its requests in flight.
    pub(super) fn end(&self, session: &Session) {
        lock(&self.sessions).remove(session.id.as_str());
        session.ended.cancel();
    }

    /// Ends the sessions that were idle for longer than the timeout.
    fn remove_idle(&self, idle_timeout: Duration) {
        lock(&self.sessions).retain(|_, session| {
            let keep = !session.in_flight.is_idle(idle_timeout);
            if !keep {
                session.ended.cancel();
            }
            keep
        });
    }
}

/// Removes idle sessions periodically, until the server is shut down or dropped.
fn spawn_reaper(server: &McpServer) {
    let state = Arc::downgrade(&server.0);
    let shutdown = server.0.shutdown.clone();
    let idle_timeout = server.0.limits.session_idle_timeout;
    let interval = (idle_timeout / 2).max(Duration::from_millis(10));
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(interval) => {}
                () = shutdown.cancelled() => break,
            }
            match state.upgrade() {
                Some(state) => state.http.sessions.remove_idle(idle_timeout),
                None => break,
            }
        }
    });
}
