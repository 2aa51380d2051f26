//! The sessions of a server: found by their ids, ended when nobody has used them for long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use crate::server::{McpServer, Session};

/// The sessions there are.
pub(crate) struct Sessions {
    all: Mutex<HashMap<Box<str>, Arc<Session>>>,
    reaper: Once,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            all: Mutex::default(),
            reaper: Once::new(),
        }
    }
}

impl Sessions {
    /// Adds a session; `false` if there are too many.
    pub(super) fn add(&self, server: &McpServer, session: Session) -> bool {
        self.reaper.call_once(|| reap(server));
        let limits = &server.0.limits;
        if self.all().len() >= limits.sessions {
            self.sweep(limits.idle);
        }
        let mut all = self.all();
        if all.len() >= limits.sessions {
            return false;
        }
        all.insert(session.id.as_str().into(), Arc::new(session));
        true
    }

    /// Finds a session that is still good, and notes that it is used.
    pub(super) fn find(&self, id: &str, idle: Duration) -> Option<Arc<Session>> {
        let session = self.all().get(id).cloned()?;
        if session.calls.are_idle(idle) {
            self.end(&session);
            return None;
        }
        session.calls.touch();
        Some(session)
    }

    /// Ends a session, and whatever is under way in it.
    pub(super) fn end(&self, session: &Session) {
        self.all().remove(session.id.as_str());
        session.ended.cancel();
    }

    /// Ends those that nobody has used for long.
    fn sweep(&self, idle: Duration) {
        self.all().retain(|_, session| {
            let keep = !session.calls.are_idle(idle);
            if !keep {
                session.ended.cancel();
            }
            keep
        });
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<Session>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sweeps from time to time, for as long as there is a server.
fn reap(server: &McpServer) {
    let shared = Arc::downgrade(&server.0);
    let ending = server.0.ending.clone();
    let idle = server.0.limits.idle;
    let pause = (idle / 2).max(Duration::from_millis(10));
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = ending.cancelled() => break,
            }
            match shared.upgrade() {
                Some(shared) => shared.http.sessions.sweep(idle),
                None => break,
            }
        }
    });
}
