//! Requests to another node, and the replies to them.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use toolwright_bus::MAX_MESSAGE_BYTES;

use super::message::{NodeMessage, NodeReply, NodeRequest};
use super::{Cluster, Space};
use crate::lock::lock;
use crate::server::RpcError;

/// A node that has not announced for a while that it runs has this part of the timeout to reply.
const GONE_DIVISOR: u32 = 5;

/// The requests of this node that wait for a reply.
#[derive(Default)]
pub(super) struct PendingCalls {
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<NodeReply>>>,
}

impl PendingCalls {
    pub(super) fn resolve(&self, call: u64, reply: NodeReply) {
        let waiting = lock(&self.waiting).remove(&call);
        if let Some(waiting) = waiting {
            // The receiver may have been dropped.
            let _ = waiting.send(reply);
        }
    }
}

/// Removes a pending call when it is dropped.
struct PendingCall<'a> {
    calls: &'a PendingCalls,
    call: u64,
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        lock(&self.calls.waiting).remove(&self.call);
    }
}

impl Cluster {
    /// Sends a request to another node, and waits for the reply; `None` if that node has ended.
    ///
    /// A node has `extra_time` more for a request that is expected to take its time.
    pub(crate) async fn ask(
        &self,
        node: &str,
        request: NodeRequest,
        extra_time: Duration,
    ) -> Result<Option<NodeReply>, RpcError> {
        self.check_bus()?;
        if !self.is_running(node).await? {
            return Ok(None);
        }
        let reply = self.ask_within(node, request, self.timeout + extra_time).await;
        let silent = || RpcError::unavailable("another node does not respond now: try again");
        reply.map(Some).ok_or_else(silent)
    }

    /// Returns true if a node replies, or has announced a short time ago that it runs.
    pub(crate) async fn is_running(&self, node: &str) -> Result<bool, RpcError> {
        if self.get(&self.key(Space::Node, node)).await?.is_some() {
            return Ok(true);
        }
        // Its announcements may be missing because the shared state was away.
        Ok(self.ask_within(node, NodeRequest::Ping, self.timeout / GONE_DIVISOR).await.is_some())
    }

    async fn ask_within(
        &self,
        node: &str,
        request: NodeRequest,
        patience: Duration,
    ) -> Option<NodeReply> {
        let call = self.calls.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        lock(&self.calls.waiting).insert(call, sender);
        let _pending = PendingCall { calls: &self.calls, call };
        let request = NodeMessage::Request { from: self.node.to_string(), call, request };
        if !self.send_to(node, &request) {
            return Some(NodeReply::TooLarge);
        }
        timeout(patience, receiver).await.ok()?.ok()
    }

    /// Sends a reply to another node.
    pub(super) fn reply_to(&self, node: &str, call: u64, reply: NodeReply) {
        if !self.send_to(node, &NodeMessage::Reply { call, reply }) {
            self.send_to(node, &NodeMessage::Reply { call, reply: NodeReply::TooLarge });
        }
    }

    /// Sends a message to another node; returns false if it is too large.
    fn send_to(&self, node: &str, message: &NodeMessage) -> bool {
        let text = serde_json::to_string(message).unwrap_or_default();
        let fits = text.len() <= MAX_MESSAGE_BYTES;
        if fits {
            self.bus.publish(&self.node_channel(node), text);
        }
        fits
    }
}
