//! The nodes that serve: each has a record in the shared state, which expires unless the node refreshes it.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};
use toolwright_core::__internal::{random_hex, unix_millis_now};
use toolwright_core::{SharedState, SharedStateError};

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
    #[serde(default)]
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
        // A newer version may write records that this one cannot read.
        Ok(listed.iter().filter_map(|(_, value)| serde_json::from_str(value).ok()).collect())
    }
}

impl Server {
    /// Keeps the record of this node until the server shuts down, then removes it.
    pub(crate) async fn register_node(&self, address: Option<SocketAddr>) {
        let state = &self.state;
        if !state.registers_node {
            return;
        }
        let mut record = NodeInfo {
            name: state.node.clone(),
            program: state.info.name.clone(),
            version: state.info.version.clone(),
            address: address.map(|address| address.to_string()),
            started: unix_millis_now(),
            refreshed: 0,
            turns: 0,
            draining: false,
            instance: random_hex(8).unwrap_or_default(),
        };
        let mut written = None;
        while !state.shutdown.is_cancelled() {
            record.refreshed = unix_millis_now();
            record.turns = u64::try_from(state.running_turns.len()).unwrap_or(u64::MAX);
            record.draining = state.draining.is_cancelled();
            tokio::select! {
                written = self.write_record(&record, &mut written) => if let Err(error) = written {
                    tracing::warn!(%error, "this node cannot be listed now");
                },
                () = state.shutdown.cancelled() => {}
            }
            tokio::select! {
                () = sleep(REFRESH_INTERVAL) => {}
                () = state.draining.cancelled(), if !record.draining => {}
                () = state.shutdown.cancelled() => {}
            }
        }
        // Otherwise it expires by itself.
        let _ = timeout(REMOVE_TIMEOUT, state.shared_state.remove(SPACE, &record.name)).await;
    }

    /// Writes the record in place of the one that this node has written before.
    async fn write_record(
        &self,
        record: &NodeInfo,
        written: &mut Option<String>,
    ) -> Result<(), SharedStateError> {
        let shared = &self.state.shared_state;
        let Ok(value) = serde_json::to_string(record) else {
            return Ok(());
        };
        let (name, lifetime) = (&record.name, Some(RECORD_LIFETIME));
        if let Some(last) = written.take() {
            if shared.replace(SPACE, name, &last, &value, lifetime).await? {
                *written = Some(value);
                return Ok(());
            }
            // It has expired, or another process writes under the same name.
            let other = shared.get(SPACE, name).await?;
            let other: Option<NodeInfo> = other.and_then(|it| serde_json::from_str(&it).ok());
            if other.is_some_and(|other| other.instance != record.instance) {
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
}
