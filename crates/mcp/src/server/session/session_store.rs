//! The sessions in memory by id; idle ones end after a timeout.
//!
//! In a cluster these are copies of shared sessions: one that is removed here is loaded again when it is needed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::lock::lock;
use crate::server::{McpServer, Session};

/// The number of ids of ended sessions that are kept.
const MAX_ENDED: usize = 1024;

#[derive(Default)]
pub(crate) struct SessionStore {
    sessions: Mutex<Sessions>,
    /// Set when the task that removes idle sessions runs.
    reaper: OnceLock<()>,
}

#[derive(Default)]
struct Sessions {
    by_id: HashMap<Box<str>, Arc<Session>>,
    /// The last sessions that other nodes have ended: one that is loaded at the same time must not come back.
    ended: VecDeque<Box<str>>,
}

/// Why a session cannot be added.
pub(crate) enum AddError {
    /// There are too many.
    Full,
    /// Another node has ended it.
    Ended,
}

impl SessionStore {
    /// Makes room for one more session; returns false if there are too many.
    ///
    /// A session that another node has created gives way if no request of it is in flight.
    pub(crate) fn make_room(&self, server: &McpServer) -> bool {
        self.reaper.get_or_init(|| spawn_reaper(server));
        let limits = &server.0.limits;
        if lock(&self.sessions).by_id.len() < limits.max_sessions {
            return true;
        }
        self.remove_idle(limits.session_idle_timeout);
        let mut sessions = lock(&self.sessions);
        if sessions.by_id.len() < limits.max_sessions {
            return true;
        }
        let copies = sessions.by_id.values().filter(|session| session.is_remote());
        let oldest = copies
            .filter_map(|session| Some((session.in_flight.idle_since()?, session)))
            .min_by_key(|(idle_since, _)| *idle_since)
            .map(|(_, session)| Arc::clone(session));
        if let Some(session) = &oldest {
            sessions.by_id.remove(session.id.as_str());
            session.ended.cancel();
        }
        oldest.is_some()
    }

    /// Adds a session and returns it, or the one that has the same id.
    pub(crate) fn add(
        &self,
        server: &McpServer,
        session: Session,
    ) -> Result<Arc<Session>, AddError> {
        let has_room = self.make_room(server);
        let mut sessions = lock(&self.sessions);
        if let Some(known) = sessions.by_id.get(session.id.as_str()) {
            return Ok(Arc::clone(known));
        }
        if sessions.ended.iter().any(|id| **id == *session.id.as_str()) {
            return Err(AddError::Ended);
        }
        if !has_room || sessions.by_id.len() >= server.0.limits.max_sessions {
            return Err(AddError::Full);
        }
        let session = Arc::new(session);
        sessions.by_id.insert(session.id.as_str().into(), Arc::clone(&session));
        Ok(session)
    }

    /// Finds a session that was not idle for longer than the timeout, and restarts its idle time.
    pub(crate) fn find_active(&self, id: &str, idle_timeout: Duration) -> Option<Arc<Session>> {
        let session = self.get(id)?;
        if session.in_flight.is_idle(idle_timeout) {
            self.end(&session);
            return None;
        }
        session.in_flight.touch();
        Some(session)
    }

    /// Returns a session, and leaves its idle time as it is.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).by_id.get(id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        lock(&self.sessions).by_id.values().cloned().collect()
    }

    /// Ends a session at this node, and cancels its requests in flight.
    pub(crate) fn end(&self, session: &Session) {
        lock(&self.sessions).by_id.remove(session.id.as_str());
        session.ended.cancel();
    }

    /// Ends a session that another node has ended.
    pub(crate) fn end_by_id(&self, id: &str) {
        let mut sessions = lock(&self.sessions);
        if sessions.ended.len() >= MAX_ENDED {
            sessions.ended.pop_front();
        }
        sessions.ended.push_back(id.into());
        let session = sessions.by_id.remove(id);
        drop(sessions);
        if let Some(session) = session {
            session.ended.cancel();
        }
    }

    /// Ends the sessions that were idle for longer than the timeout.
    fn remove_idle(&self, idle_timeout: Duration) {
        lock(&self.sessions).by_id.retain(|_, session| {
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
            let Some(server) = state.upgrade().map(McpServer) else { break };
            let sessions = &server.0.sessions;
            sessions.remove_idle(idle_timeout);
            // One with a request in flight must not expire for the other nodes.
            for session in sessions.all() {
                if session.in_flight.idle_since().is_none() {
                    server.refresh_if_due(&session);
                }
            }
        }
    });
}
