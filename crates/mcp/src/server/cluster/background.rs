//! The tasks of a node in a cluster: it receives messages, announces that it runs, and watches its own tools.
//!
//! They end when the server is dropped, not when it shuts down: requests that finish meanwhile still need the other nodes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::StreamExt as _;
use tokio::time::sleep;
use toolwright_bus::{Delivery, Subscription};
use toolwright_core::{CancellationToken, Invoker, RegistryError, SharedState};

use super::message::{Announcement, ListChanges, NodeMessage};
use super::{Cluster, Space, StateKey, within_timeout};
use crate::export;
use crate::server::{McpServer, Revision, RpcError, ServerState, digest_entries};

/// The time after which a node that has not announced itself counts as ended.
const NODE_TTL: Duration = Duration::from_secs(30);
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// The delay after an announcement failed.
const HEARTBEAT_RETRY: Duration = Duration::from_secs(1);

/// A server that a task in the background does not keep alive.
#[derive(Clone)]
struct WeakServer {
    state: Weak<ServerState>,
    dropped: CancellationToken,
}

impl WeakServer {
    fn upgrade(&self) -> Option<McpServer> {
        self.state.upgrade().map(McpServer)
    }

    /// Runs a task until the server is dropped.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let dropped = self.dropped.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = task => {}
                () = dropped.cancelled() => {}
            }
        });
    }
}

impl McpServer {
    pub(super) async fn start_background_tasks(&self, cluster: &Cluster) -> Result<(), RpcError> {
        let server =
            WeakServer { state: Arc::downgrade(&self.0), dropped: cluster.dropped.clone() };
        let announcements = subscribe(cluster, &cluster.announcement_channel()).await?;
        let messages = subscribe(cluster, &cluster.node_channel(&cluster.node)).await?;
        let node_key = cluster.key(Space::Node, &cluster.node);
        cluster.put(&node_key, "", NODE_TTL).await?;
        server.spawn(receive_announcements(server.clone(), announcements));
        server.spawn(receive_messages(server.clone(), messages));
        let tools = self.0.all_tools.invoker().clone();
        server.spawn(announce_list_changes(server.clone(), tools));
        let heartbeat = Heartbeat {
            state: Arc::clone(&cluster.shared_state),
            key: node_key,
            timeout: cluster.timeout,
        };
        // Not with `server.spawn`: it has something to do after the server is dropped.
        tokio::spawn(heartbeat.run(cluster.dropped.clone()));
        Ok(())
    }
}

async fn subscribe(cluster: &Cluster, channel: &str) -> Result<Subscription, RpcError> {
    cluster.bus.subscribe(channel).await.map_err(|error| {
        tracing::warn!(%error, "the bus cannot be subscribed to");
        RpcError::unavailable("the other nodes cannot be reached now: try again")
    })
}

async fn receive_announcements(server: WeakServer, mut subscription: Subscription) {
    while let Some(delivery) = subscription.next().await {
        let Some(server) = server.upgrade() else { return };
        match delivery {
            Delivery::Message(text) => match serde_json::from_str(&text) {
                Ok(announcement) => server.handle_announcement(announcement),
                Err(error) => tracing::warn!(%error, "a node sent no announcement"),
            },
            Delivery::Gap => server.handle_gap(),
        }
    }
}

async fn receive_messages(server: WeakServer, mut subscription: Subscription) {
    while let Some(delivery) = subscription.next().await {
        // After a gap, the requests whose replies are missing time out.
        let Delivery::Message(text) = delivery else { continue };
        let Some(server) = server.upgrade() else { return };
        match serde_json::from_str(&text) {
            Ok(NodeMessage::Reply { call, reply }) => {
                if let Some(cluster) = &server.0.cluster {
                    cluster.calls.resolve(call, reply);
                }
            }
            Ok(NodeMessage::Request { from, call, request }) => {
                tokio::spawn(async move {
                    let reply = server.handle_node_request(request).await;
                    if let Some(cluster) = &server.0.cluster {
                        cluster.reply_to(&from, call, reply);
                    }
                });
            }
            Err(error) => tracing::warn!(%error, "a node sent no message"),
        }
    }
}

/// Announces that the node runs.
struct Heartbeat {
    state: Arc<dyn SharedState>,
    key: StateKey,
    timeout: Duration,
}

impl Heartbeat {
    /// Announces periodically that the node runs, and at the end that it does not.
    async fn run(self, dropped: CancellationToken) {
        let Self { state, key: StateKey { space, key }, timeout } = self;
        let space = space.as_str();
        let mut interval = HEARTBEAT_INTERVAL;
        loop {
            tokio::select! {
                () = sleep(interval) => {}
                () = dropped.cancelled() => break,
            }
            let stored = within_timeout(timeout, state.put(space, &key, "", Some(NODE_TTL))).await;
            interval = if stored.is_ok() { HEARTBEAT_INTERVAL } else { HEARTBEAT_RETRY };
        }
        // If this fails, the key expires.
        let _ = within_timeout(timeout, state.remove(space, &key)).await;
    }
}

/// Announces changes of this node's tools and prompts: a client may be connected to another node, and list them at this one.
async fn announce_list_changes(server: WeakServer, tools: Invoker) {
    let mut changes = tools.changes().boxed();
    let mut last = list_digests(&tools).unwrap_or_default();
    while changes.next().await.is_some() {
        // If the tools cannot be listed, clients have to list them again when they can.
        let now = list_digests(&tools).unwrap_or_default();
        let changed = ListChanges { tools: now.0 != last.0, prompts: now.1 != last.1 };
        last = now;
        let Some(server) = server.upgrade() else { return };
        if (changed.tools || changed.prompts)
            && let Some(cluster) = &server.0.cluster
        {
            cluster.announce(&Announcement::ListsChanged(changed));
        }
    }
}

/// Returns the digests of all tools and of all prompts.
fn list_digests(invoker: &Invoker) -> Result<([u8; 32], [u8; 32]), RegistryError> {
    let revision = Revision::V2026_07_28;
    let snapshot = invoker.snapshot()?;
    let tools = digest_entries(snapshot.iter(), |body, tool| {
        export::tool::write_tool_entry(body, tool.spec(), revision);
    });
    let prompts = digest_entries(snapshot.prompts(), |body, prompt| {
        export::prompt::write_prompt_entry(body, prompt, revision);
    });
    Ok((tools, prompts))
}
