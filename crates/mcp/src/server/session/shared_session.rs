//! Sessions that all nodes of a cluster share: a record in the shared state, and a copy at each node that has seen a request.
//!
//! The record expires after the idle timeout. A copy is used without reading the record: other nodes announce changes, and the
//! copy is compared with the record when the record's time is renewed, which is at most once per minute.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use toolwright_core::{Caller, SessionId};

use super::session_store::AddError;
use super::{Session, SessionChange};
use crate::lock::lock;
use crate::server::cluster::{Announcement, Cluster, Space, StateKey};
use crate::server::{ClientCapabilities, LogLevel, McpServer, Revision, RpcError};

/// The longest time between two renewals of a record.
const MAX_REFRESH_INTERVAL: Duration = Duration::from_secs(60);
/// The time between two renewals if the first has failed.
const REFRESH_RETRY: Duration = Duration::from_secs(1);
/// How often a change is tried while other nodes change the same session.
const MAX_ATTEMPTS: usize = 16;

/// The other nodes read a record that is larger themselves.
const MAX_ANNOUNCED_BYTES: usize = 4 << 10;

/// The part of a session that other nodes need.
#[derive(Serialize, Deserialize)]
struct SessionRecord {
    /// Increases with each change.
    version: u64,
    revision: String,
    capabilities: ClientCapabilities,
    caller: Option<String>,
    log_level: LogLevel,
    subscriptions: BTreeSet<String>,
}

/// The connection of a session with its record.
pub(crate) struct SharedSession {
    node: Arc<str>,
    /// Whether another node has created the session.
    is_remote: bool,
    stored: Mutex<StoredRecord>,
}

/// The record as it was last read or stored.
struct StoredRecord {
    version: u64,
    text: Arc<str>,
    refresh_at: Instant,
}

impl SharedSession {
    fn new(cluster: &Cluster, text: String, is_remote: bool, refresh_at: Instant) -> Self {
        let stored = Mutex::new(StoredRecord { version: 0, text: text.into(), refresh_at });
        Self { node: Arc::clone(cluster.node()), is_remote, stored }
    }

    /// Returns the id of this node.
    pub(crate) fn node(&self) -> &Arc<str> {
        &self.node
    }

    fn text(&self) -> Arc<str> {
        Arc::clone(&lock(&self.stored).text)
    }
}

impl Session {
    /// Returns the id of this node if the session is shared with others.
    pub(crate) fn node(&self) -> Option<&Arc<str>> {
        self.shared.as_ref().map(SharedSession::node)
    }

    /// Returns true if other nodes can continue the session.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Returns true if another node has created the session.
    pub(crate) fn is_remote(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.is_remote)
    }

    fn record(&self) -> SessionRecord {
        let state = lock(&self.state);
        SessionRecord {
            version: 0,
            revision: self.revision.as_str().to_owned(),
            capabilities: self.capabilities,
            caller: self.caller.name().map(str::to_owned),
            log_level: state.log_level,
            subscriptions: state.subscribed_uris.clone(),
        }
    }

    fn from_record(id: &str, record: &SessionRecord) -> Option<Self> {
        let revision = Revision::from_date(&record.revision)?;
        let caller = record.caller.as_deref().map_or_else(Caller::default, Caller::new);
        let session = Self::new(SessionId::from(id), revision, record.capabilities, caller);
        session.apply(record);
        Some(session)
    }

    fn apply(&self, record: &SessionRecord) {
        let mut state = lock(&self.state);
        state.log_level = record.log_level;
        state.subscribed_uris.clone_from(&record.subscriptions);
    }

    /// Takes over a record that was read or stored, unless a newer one was.
    pub(crate) fn update_from(&self, text: &str) {
        let Some(shared) = &self.shared else { return };
        let record: SessionRecord = match serde_json::from_str(text) {
            Ok(record) => record,
            Err(error) => {
                tracing::warn!(%error, "the record of a session cannot be read");
                return;
            }
        };
        let mut stored = lock(&shared.stored);
        if record.version >= stored.version {
            (stored.version, stored.text) = (record.version, text.into());
            self.apply(&record);
        }
    }
}

impl Cluster {
    fn session_key(&self, session: &Session) -> StateKey {
        self.personal_key(Space::Session, &session.caller, session.id.as_str())
    }
}

impl McpServer {
    fn refresh_interval(&self) -> Duration {
        (self.0.limits.session_idle_timeout / 10).min(MAX_REFRESH_INTERVAL)
    }

    /// Shares a new session with the other nodes, if there are any.
    pub(crate) async fn share_session(&self, mut session: Session) -> Result<Session, RpcError> {
        let Some(cluster) = self.joined_cluster().await? else {
            return Ok(session);
        };
        let text = to_text(&session.record())?;
        let ttl = self.0.limits.session_idle_timeout;
        if !cluster.insert(&cluster.session_key(&session), &text, Some(ttl)).await? {
            return Err(RpcError::internal("the id of the session is in use: try again"));
        }
        let refresh_at = Instant::now() + self.refresh_interval();
        session.shared = Some(SharedSession::new(cluster, text, false, refresh_at));
        Ok(session)
    }

    /// Adds a new session to those in memory.
    pub(crate) async fn add_session(&self, session: Session) -> Result<(), RpcError> {
        let cluster = self.0.cluster.as_ref();
        let shared = cluster.map(|cluster| (cluster, cluster.session_key(&session)));
        let added = self.0.sessions.add(self, session);
        if added.is_err()
            && let Some((cluster, key)) = shared
        {
            // If this fails, the record expires.
            let _ = cluster.remove(&key).await;
        }
        added.map(|_| ()).map_err(|_| RpcError::too_many_sessions())
    }

    /// Loads a session of this caller that is not in memory; `None` if there is none.
    pub(crate) async fn load_session(
        &self,
        id: &str,
        caller: &Caller,
    ) -> Result<Option<Arc<Session>>, RpcError> {
        // Other ids cannot exist, so the store is not asked for them.
        let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.0.cluster.is_none() || !is_id {
            return Ok(None);
        }
        let Some(cluster) = self.joined_cluster().await? else {
            return Ok(None);
        };
        let Some(text) = cluster.get(&cluster.personal_key(Space::Session, caller, id)).await?
        else {
            return Ok(None);
        };
        let record = serde_json::from_str(&text);
        let session = record.ok().and_then(|record| Session::from_record(id, &record));
        let Some(mut session) = session else {
            tracing::warn!("the record of a session cannot be read");
            return Ok(None);
        };
        if session.caller != *caller {
            return Ok(None);
        }
        // The record may be about to expire.
        let refresh_at = Instant::now();
        session.shared = Some(SharedSession::new(cluster, text, true, refresh_at));
        match self.0.sessions.add(self, session) {
            Ok(session) => {
                self.refresh_if_due(&session);
                Ok(Some(session))
            }
            Err(AddError::Ended) => Ok(None),
            Err(AddError::Full) => Err(RpcError::too_many_sessions()),
        }
    }

    /// Renews the record of a session in the background, if the time has come.
    pub(crate) fn refresh_if_due(&self, session: &Arc<Session>) {
        let Some(shared) = &session.shared else { return };
        {
            let mut stored = lock(&shared.stored);
            let now = Instant::now();
            if now < stored.refresh_at {
                return;
            }
            stored.refresh_at = now + self.refresh_interval();
        }
        let (server, session) = (self.clone(), Arc::clone(session));
        tokio::spawn(async move {
            if server.refresh_session(&session).await.is_err()
                && let Some(shared) = &session.shared
            {
                lock(&shared.stored).refresh_at = Instant::now() + REFRESH_RETRY;
            }
        });
    }

    /// Renews the record of a session; takes over what other nodes have changed, and ends the session if there is none.
    async fn refresh_session(&self, session: &Session) -> Result<(), RpcError> {
        let (Some(cluster), Some(shared)) = (&self.0.cluster, &session.shared) else {
            return Ok(());
        };
        let ttl = self.0.limits.session_idle_timeout;
        for _ in 0..MAX_ATTEMPTS {
            let text = shared.text();
            if cluster.replace(&cluster.session_key(session), &text, &text, ttl).await?
                || !self.reload_session(session).await?
            {
                break;
            }
        }
        Ok(())
    }

    /// Reads the record of a session again, and ends the session if there is none; returns false then.
    pub(crate) async fn reload_session(&self, session: &Session) -> Result<bool, RpcError> {
        let Some(cluster) = self.0.cluster.as_ref().filter(|_| session.shared.is_some()) else {
            return Ok(true);
        };
        match cluster.get(&cluster.session_key(session)).await? {
            Some(text) => {
                session.update_from(&text);
                Ok(true)
            }
            None => {
                self.0.sessions.end(session);
                Ok(false)
            }
        }
    }

    /// Changes a session at all nodes.
    pub(crate) async fn change_session(
        &self,
        session: &Session,
        change: &SessionChange,
    ) -> Result<(), RpcError> {
        let (Some(cluster), Some(shared)) = (&self.0.cluster, &session.shared) else {
            return session.change(change);
        };
        let id = session.id.as_str();
        let ttl = self.0.limits.session_idle_timeout;
        for _ in 0..MAX_ATTEMPTS {
            let text = shared.text();
            let mut record: SessionRecord = serde_json::from_str(&text)
                .map_err(|_| RpcError::internal("the record of the session cannot be read"))?;
            change.apply(&mut record.log_level, &mut record.subscriptions)?;
            record.version += 1;
            let changed = to_text(&record)?;
            if cluster.replace(&cluster.session_key(session), &text, &changed, ttl).await? {
                session.update_from(&changed);
                let record = (changed.len() <= MAX_ANNOUNCED_BYTES).then_some(changed);
                let session = id.to_owned();
                cluster.announce(&Announcement::SessionChanged { session, record });
                return Ok(());
            }
            if !self.reload_session(session).await? {
                return Err(RpcError::invalid_request("the session has ended"));
            }
        }
        Err(RpcError::unavailable("the session is changed by too many requests: try again"))
    }

    /// Ends a session at all nodes.
    pub(crate) async fn end_session(&self, session: &Session) -> Result<(), RpcError> {
        if let Some(cluster) = self.0.cluster.as_ref().filter(|_| session.shared.is_some()) {
            cluster.remove(&cluster.session_key(session)).await?;
            let session = session.id.as_str().to_owned();
            cluster.announce(&Announcement::SessionEnded { session });
        }
        self.0.sessions.end(session);
        Ok(())
    }
}

fn to_text(record: &SessionRecord) -> Result<String, RpcError> {
    serde_json::to_string(record)
        .map_err(|_| RpcError::internal("the record of the session cannot be written"))
}
