//! The nodes that serve: each has a record in the shared state, which expires unless the node refreshes it.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};
use toolwright_bus::NODE_PROTOCOL;
use toolwright_core::__internal::{random_hex, unix_millis_now};
use toolwright_core::{SharedState, SharedStateError};

use crate::http::serve::ListenError;
use crate::server::Server;

/// The space of the shared state; a key is the name of a node.
const SPACE: &str = "node";

/// How often a node writes its record, and how long it is listed after the last time.
const REFRESH_INTERVAL: Duration = Duration::from_secs(10);
const RECORD_LIFETIME: Duration = Duration::from_secs(30);

/// How long a node that shuts down waits for the shared state.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum number of nodes that are listed.
const MAX_LISTED: usize = 4096;

/// A node that serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeInfo {
    /// Its name, under which it holds leases.
    pub name: String,
    /// The name of its program.
    pub program: String,
    /// The version of its program.
    pub version: String,
    /// Its [`NODE_PROTOCOL`]; nodes of different numbers do not serve at the same time.
    pub protocol: u32,
    /// The address that it listens on; `None` if the program serves the router itself.
    pub address: Option<String>,
    /// When it started, in milliseconds since 1970, by its own clock.
    pub started: u64,
    /// When it last wrote this, in milliseconds since 1970, by its own clock.
    pub refreshed: u64,
    /// The number of turns that it runs.
    pub turns: u64,
    /// Whether it shuts down: turns that run go on, and no new one begins.
    pub draining: bool,
    /// Random: distinguishes two processes of the same name.
    instance: String,
}

impl NodeInfo {
    /// Returns the nodes that serve, by name; a node that has crashed is listed for up to 30 seconds.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read.
    pub async fn list(state: &dyn SharedState) -> Result<Vec<Self>, SharedStateError> {
        let listed = state.list(SPACE, "", MAX_LISTED).await?;
        // The record of a node with another protocol may be another one.
        Ok(listed.iter().filter_map(|(_, value)| serde_json::from_str(value).ok()).collect())
    }
}

/// What the records of nodes have in every protocol. Development versions had no protocol.
#[derive(Default, Deserialize)]
#[serde(default)]
struct NodeProtocol {
    program: String,
    version: String,
    protocol: u32,
}

/// This node, which is listed.
pub(crate) struct RegisteredNode {
    info: NodeInfo,
    /// The record as it was last written.
    written: Option<String>,
}

impl Server {
    /// Lists this node until [`keep_registered`](Self::keep_registered) ends; `None` if it is not to be listed.
    ///
    /// # Errors
    ///
    /// When a node with another protocol serves, or the nodes cannot be listed. Then this node is not listed.
    pub(crate) async fn register_node(
        &self,
        address: Option<SocketAddr>,
    ) -> Result<Option<RegisteredNode>, ListenError> {
        let state = &self.state;
        if !state.registers_node {
            return Ok(None);
        }
        let info = NodeInfo {
            name: state.node.clone(),
            program: state.info.name.clone(),
            version: state.info.version.clone(),
            protocol: NODE_PROTOCOL,
            address: address.map(|address| address.to_string()),
            started: unix_millis_now(),
            refreshed: 0,
            turns: 0,
            draining: false,
            instance: random_hex(8).unwrap_or_default(),
        };
        let mut node = RegisteredNode { info, written: None };
        self.check_protocols(&node.info).await?;
        self.refresh_record(&mut node).await.map_err(ListenError::Nodes)?;
        // Of nodes that start at the same time, one at least sees the other.
        if let Err(error) = self.check_protocols(&node.info).await {
            self.remove_record(&node.info).await;
            return Err(error);
        }
        Ok(Some(node))
    }

    /// Does the same, and tries again while the nodes cannot be listed.
    pub(crate) async fn register_until_known(&self) -> Result<Option<RegisteredNode>, ListenError> {
        loop {
            match self.register_node(None).await {
                Err(ListenError::Nodes(error)) => {
                    tracing::warn!(%error, "this node cannot be listed now");
                    tokio::select! {
                        () = sleep(REFRESH_INTERVAL) => {}
                        () = self.state.shutdown.cancelled() => return Ok(None),
                    }
                }
                registered => return registered,
            }
        }
    }

    /// Keeps the record of this node until the server shuts down, then removes it.
    pub(crate) async fn keep_registered(&self, node: Option<RegisteredNode>) {
        let state = &self.state;
        let Some(mut node) = node else { return };
        while !state.shutdown.is_cancelled() {
            tokio::select! {
                () = sleep(REFRESH_INTERVAL) => {}
                () = state.draining.cancelled(), if !node.info.draining => {}
                () = state.shutdown.cancelled() => break,
            }
            tokio::select! {
                refreshed = self.refresh_record(&mut node) => if let Err(error) = refreshed {
                    tracing::warn!(%error, "this node cannot be listed now");
                },
                () = state.shutdown.cancelled() => {}
            }
        }
        self.remove_record(&node.info).await;
    }

    /// Returns an error if a node with another protocol serves.
    async fn check_protocols(&self, own: &NodeInfo) -> Result<(), ListenError> {
        let listed = self.state.shared_state.list(SPACE, "", MAX_LISTED).await;
        for (name, value) in listed.map_err(ListenError::Nodes)? {
            let other: NodeProtocol = serde_json::from_str(&value).unwrap_or_default();
            // A record of this name is of a process that this one replaces.
            if name != own.name && other.protocol != own.protocol {
                return Err(ListenError::OtherProtocol {
                    node: name,
                    version: format!("{} {}", other.program, other.version),
                    protocol: other.protocol,
                    own_version: format!("{} {}", own.program, own.version),
                });
            }
        }
        Ok(())
    }

    /// Writes the record in place of the one that this node has written before.
    async fn refresh_record(&self, node: &mut RegisteredNode) -> Result<(), SharedStateError> {
        let state = &self.state;
        let RegisteredNode { info, written } = node;
        info.refreshed = unix_millis_now();
        info.turns = u64::try_from(state.running_turns.len()).unwrap_or(u64::MAX);
        info.draining = state.draining.is_cancelled();
        let shared = &state.shared_state;
        let Ok(value) = serde_json::to_string(info) else {
            return Ok(());
        };
        let (name, lifetime) = (&info.name, Some(RECORD_LIFETIME));
        if let Some(last) = written.take() {
            if shared.replace(SPACE, name, &last, &value, lifetime).await? {
                *written = Some(value);
                return Ok(());
            }
            // It has expired, or another process writes under the same name.
            let other = shared.get(SPACE, name).await?;
            let other: Option<NodeInfo> = other.and_then(|it| serde_json::from_str(&it).ok());
            if other.is_some_and(|other| other.instance != info.instance) {
                tracing::warn!(
                    node = name,
                    "another process has the name of this node, and would acquire its leases: set `cluster.node` to different names"
                );
            }
        }
        shared.put(SPACE, name, &value, lifetime).await?;
        *written = Some(value);
        Ok(())
    }

    /// Removes the record, which otherwise expires by itself.
    async fn remove_record(&self, node: &NodeInfo) {
        let remove = self.state.shared_state.remove(SPACE, &node.name);
        let _ = timeout(REMOVE_TIMEOUT, remove).await;
    }
}
