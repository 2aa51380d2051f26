//! The other nodes that serve the same tools: messages to them, and the state that all nodes share.
//!
//! A session, a task or a response stream belongs to the node that has created it only as far as running code and open
//! connections do. Whatever another node needs to continue is in the shared state; the rest it requests over the bus.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use toolwright_bus::Bus;
use toolwright_core::__internal::random_hex;
use toolwright_core::{
    Caller, CancellationToken, Secret, SharedState, SharedStateFuture, subject_key,
};

use crate::server::{McpServer, RpcError};

mod background;
mod message;
mod node_calls;
mod node_requests;

pub(crate) use message::{
    Announcement, EventPage, EventQuery, ListChanges, NodeReply, NodeRequest,
};

/// The connection of a server to the other nodes.
pub(crate) struct Cluster {
    bus: Arc<dyn Bus>,
    shared_state: Arc<dyn SharedState>,
    /// Random, so that a node that was started again is another one.
    node: Arc<str>,
    /// Identifies the servers with the same name, which share sessions and tasks.
    group: Box<str>,
    /// The time that another node or the shared state has to respond.
    timeout: Duration,
    /// Set when this node receives messages.
    joined: OnceCell<()>,
    /// Whether a task in the background tries to join.
    is_joining: AtomicBool,
    calls: node_calls::PendingCalls,
    /// Cancelled when the server is dropped; ends the tasks in the background.
    dropped: CancellationToken,
    _cancel_on_drop: DropGuard,
}

/// A space of the shared state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Space {
    /// The records of sessions.
    Session,
    /// The records of tasks.
    Task,
    /// The rounds of input whose approval was used.
    Round,
    /// The key that signs request states.
    Key,
    /// The nodes that run.
    Node,
}

impl Space {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "mcp_session",
            Self::Task => "mcp_task",
            Self::Round => "mcp_round",
            Self::Key => "mcp_key",
            Self::Node => "mcp_node",
        }
    }
}

/// A key of the shared state in its space.
pub(crate) struct StateKey {
    space: Space,
    key: String,
}

impl StateKey {
    fn space(&self) -> &'static str {
        self.space.as_str()
    }
}

impl Cluster {
    pub(crate) fn new(
        bus: Arc<dyn Bus>,
        shared_state: Arc<dyn SharedState>,
        node: String,
        server_name: &str,
        timeout: Duration,
    ) -> Self {
        let digest = HEXLOWER.encode(&Sha256::digest(server_name));
        let dropped = CancellationToken::new();
        Self {
            bus,
            shared_state,
            node: node.into(),
            group: digest.chars().take(16).collect::<String>().into(),
            timeout,
            joined: OnceCell::new(),
            is_joining: AtomicBool::new(false),
            calls: Default::default(),
            _cancel_on_drop: dropped.clone().drop_guard(),
            dropped,
        }
    }

    /// Returns the id of this node.
    pub(crate) fn node(&self) -> &Arc<str> {
        &self.node
    }

    /// Sends a message to all other nodes, unless the bus cannot be reached.
    pub(crate) fn announce(&self, announcement: &Announcement) {
        if let Ok(text) = serde_json::to_string(announcement) {
            self.bus.publish(&self.announcement_channel(), text);
        }
    }

    /// Returns an error if the bus cannot be reached.
    pub(crate) fn check_bus(&self) -> Result<(), RpcError> {
        match self.bus.status().error {
            None => Ok(()),
            Some(error) => {
                tracing::warn!(%error, "the bus cannot be reached");
                Err(RpcError::unavailable("the other nodes cannot be reached now: try again"))
            }
        }
    }

    fn announcement_channel(&self) -> String {
        format!("mcp.{}.all", self.group)
    }

    fn node_channel(&self, node: &str) -> String {
        format!("mcp.{}.node.{node}", self.group)
    }

    /// Returns a key of the shared state that belongs to the servers of this name.
    pub(crate) fn key(&self, space: Space, name: &str) -> StateKey {
        StateKey { space, key: format!("{}-{name}", self.group) }
    }

    /// Returns the key of something that belongs to a caller, and is erased with the other data of this person.
    pub(crate) fn personal_key(&self, space: Space, caller: &Caller, name: &str) -> StateKey {
        StateKey { space, key: subject_key(caller.name(), &self.key(space, name).key) }
    }

    /// Returns a value of the shared state.
    pub(crate) async fn get(&self, key: &StateKey) -> Result<Option<String>, RpcError> {
        self.within_timeout(self.shared_state.get(key.space(), &key.key)).await
    }

    /// Sets a value of the shared state.
    pub(crate) async fn put(
        &self,
        key: &StateKey,
        value: &str,
        ttl: Duration,
    ) -> Result<(), RpcError> {
        self.within_timeout(self.shared_state.put(key.space(), &key.key, value, Some(ttl))).await
    }

    /// Sets a value of the shared state if there is none; otherwise returns false.
    pub(crate) async fn insert(
        &self,
        key: &StateKey,
        value: &str,
        ttl: Option<Duration>,
    ) -> Result<bool, RpcError> {
        self.within_timeout(self.shared_state.insert(key.space(), &key.key, value, ttl)).await
    }

    /// Sets a value of the shared state if it is `expected`; otherwise returns false.
    pub(crate) async fn replace(
        &self,
        key: &StateKey,
        expected: &str,
        value: &str,
        ttl: Duration,
    ) -> Result<bool, RpcError> {
        let replaced = self.shared_state.replace(key.space(), &key.key, expected, value, Some(ttl));
        self.within_timeout(replaced).await
    }

    /// Removes a value of the shared state, and returns it.
    pub(crate) async fn remove(&self, key: &StateKey) -> Result<Option<String>, RpcError> {
        self.within_timeout(self.shared_state.remove(key.space(), &key.key)).await
    }

    async fn within_timeout<T>(&self, operation: SharedStateFuture<'_, T>) -> Result<T, RpcError> {
        within_timeout(self.timeout, operation).await
    }

    /// Returns the key that all nodes sign request states with; the first node creates it.
    async fn signing_key(&self) -> Result<Secret, RpcError> {
        let name = self.key(Space::Key, "request_state");
        if let Some(key) = self.get(&name).await? {
            return Ok(Secret::new(key));
        }
        let key = random_hex(32)
            .map_err(|_| RpcError::internal("there are no random numbers for a signing key"))?;
        if self.insert(&name, &key, None).await? {
            return Ok(Secret::new(key));
        }
        self.get(&name).await?.map(Secret::new).ok_or_else(state_unavailable)
    }
}

impl McpServer {
    /// Returns the cluster after this node has joined it; `None` if there is only this node.
    pub(crate) async fn joined_cluster(&self) -> Result<Option<&Cluster>, RpcError> {
        let Some(cluster) = &self.0.cluster else {
            return Ok(None);
        };
        if !cluster.joined.initialized() {
            cluster.joined.get_or_try_init(|| Box::pin(self.join(cluster))).await?;
        }
        Ok(Some(cluster))
    }

    /// Joins the cluster in the background, so that this node announces changes of its tools to the others.
    pub(crate) fn join_in_background(&self) {
        let Some(cluster) = &self.0.cluster else { return };
        if cluster.joined.initialized() || cluster.is_joining.swap(true, Ordering::Relaxed) {
            return;
        }
        let server = self.clone();
        tokio::spawn(async move {
            // After an error, the next request tries again.
            let _ = server.joined_cluster().await;
            if let Some(cluster) = &server.0.cluster {
                cluster.is_joining.store(false, Ordering::Relaxed);
            }
        });
    }

    async fn join(&self, cluster: &Cluster) -> Result<(), RpcError> {
        self.0.request_states.set_key(cluster.signing_key().await?);
        self.start_background_tasks(cluster).await
    }
}

async fn within_timeout<T>(
    limit: Duration,
    operation: SharedStateFuture<'_, T>,
) -> Result<T, RpcError> {
    match timeout(limit, operation).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            tracing::warn!(%error, source, "the shared state cannot be reached");
            Err(state_unavailable())
        }
        Err(_) => {
            tracing::warn!("the shared state did not respond within {limit:?}");
            Err(state_unavailable())
        }
    }
}

fn state_unavailable() -> RpcError {
    RpcError::unavailable("the state that the nodes share cannot be reached now: try again")
}
