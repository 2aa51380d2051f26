//! The sessions of a server: found by their ids, ended when nobody has used them for long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use crate::server::{McpServer, Session};

/// The sessions there are.
pub(crate) struct SessionStore {
    sessions: Mutex<HashMap<Box<str>, Arc<Session>>>,
    reaper: Once,
}

impl Default for SessionStore {
    fn default() -> Self {
        Self {
            sessions: Mutex::default(),
            reaper: Once::new(),
        }
    }
}

impl SessionStore {
    /// Adds a session; `false` if there are too many.
    pub(super) fn add(&self, server: &McpServer, session: Session) -> bool {
        self.reaper.call_once(|| spawn_reaper(server));
        let limits = &server.0.limits;
        if self.sessions().len() >= limits.max_sessions {
            self.remove_idle(limits.session_idle_timeout);
        }
        let mut all = self.sessions();
        if all.len() >= limits.max_sessions {
            return false;
        }
        all.insert(session.id.as_str().into(), Arc::new(session));
        true
    }

    /// Finds a session that is still good, and notes that it is used.
    pub(super) fn find_active(&self, id: &str, idle: Duration) -> Option<Arc<Session>> {
        let session = self.sessions().get(id).cloned()?;
        if session.in_flight.is_idle(idle) {
            self.end(&session);
            return None;
        }
        session.in_flight.touch();
        Some(session)
    }

    /// Ends a session, and whatever is under way in it.
    pub(super) fn end(&self, session: &Session) {
        self.sessions().remove(session.id.as_str());
        session.ended.cancel();
    }

    /// Ends those that nobody has used for long.
    fn remove_idle(&self, idle: Duration) {
        self.sessions().retain(|_, session| {
            let keep = !session.in_flight.is_idle(idle);
            if !keep {
                session.ended.cancel();
            }
            keep
        });
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sweeps from time to time, for as long as there is a server.
fn spawn_reaper(server: &McpServer) {
    let shared = Arc::downgrade(&server.0);
    let ending = server.0.shutdown.clone();
    let idle = server.0.limits.session_idle_timeout;
    let pause = (idle / 2).max(Duration::from_millis(10));
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = ending.cancelled() => break,
            }
            match shared.upgrade() {
                Some(shared) => shared.http.sessions.remove_idle(idle),
                None => break,
            }
        }
    });
}
