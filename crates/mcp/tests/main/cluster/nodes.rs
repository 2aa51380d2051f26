//! Two servers with one bus and one shared state, which a test can take away.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use test_support_mcp::client::{
    HttpAnswer, RawConnection, RunningServer, http_request, initialize, request, send, serve,
    stateless_request,
};
use test_support_mcp::tools::{Kit, kit, server};
use toolwright_bus::{
    Bus, BusFuture, BusStatus, Delivery, InProcessBus, Subscription, SubscriptionSender,
};
use toolwright_core::{
    MemorySharedState, SharedState, SharedStateError, SharedStateFuture, SharedValue, TimeToLive,
};
use toolwright_mcp::{McpServer, McpServerBuilder};

use crate::oauth::with;

/// What happens to the bus of a node, or to the shared state.
#[derive(Clone, Default)]
pub(crate) struct Fault {
    is_away: Arc<AtomicBool>,
    is_silent: Arc<AtomicBool>,
}

impl Fault {
    /// It reports that it cannot be reached.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// It seems to work, and nothing comes of it.
    pub(crate) fn set_silent(&self, is_silent: bool) {
        self.is_silent.store(is_silent, Ordering::SeqCst);
    }

    fn away(&self) -> bool {
        self.is_away.load(Ordering::SeqCst)
    }

    fn silent(&self) -> bool {
        self.is_silent.load(Ordering::SeqCst)
    }
}

struct FaultyBus {
    bus: InProcessBus,
    fault: Fault,
    gaps: Gaps,
}

/// Tells the subscriptions of a node that messages are missing.
#[derive(Clone, Default)]
pub(crate) struct Gaps(Arc<Mutex<Vec<SubscriptionSender>>>);

impl Gaps {
    pub(crate) fn report(&self) {
        self.0.lock().unwrap().iter().for_each(|sender| sender.send(Delivery::Gap));
    }
}

impl Bus for FaultyBus {
    fn publish(&self, channel: &str, message: String) {
        if !self.fault.away() && !self.fault.silent() {
            self.bus.publish(channel, message);
        }
    }

    fn subscribe<'a>(&'a self, channel: &'a str) -> BusFuture<'a, Subscription> {
        Box::pin(async move {
            let mut inner = self.bus.subscribe(channel).await?;
            let (sender, subscription) = Subscription::new(());
            self.gaps.0.lock().unwrap().push(sender.clone());
            tokio::spawn(async move {
                while let Some(delivery) = inner.next().await {
                    sender.send(delivery);
                }
            });
            Ok(subscription)
        })
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        self.bus.flush()
    }

    fn status(&self) -> BusStatus {
        let mut status = BusStatus::default();
        status.error = self.fault.away().then(|| "the cable is cut".to_owned());
        status
    }
}

/// Shared state that counts its operations by name.
#[derive(Default)]
pub(crate) struct FaultyState {
    state: MemorySharedState,
    pub(crate) fault: Fault,
    operations: Mutex<HashMap<String, usize>>,
}

impl FaultyState {
    /// How often an operation was performed in a space, such as `get mcp_session`.
    pub(crate) fn operations_of(&self, operation: &str) -> usize {
        self.operations.lock().unwrap().get(operation).copied().unwrap_or_default()
    }

    pub(crate) async fn keys(&self, space: &str) -> Vec<String> {
        let listed = self.state.list(space, "", 100).await.unwrap();
        listed.into_iter().map(|(key, _)| key).collect()
    }

    /// Ends a node without its knowledge, as far as others can see it in the shared state.
    pub(crate) async fn forget_node(&self, node: &str) {
        for key in self.keys("mcp_node").await {
            if key.ends_with(node) {
                self.state.remove("mcp_node", &key).await.unwrap();
            }
        }
    }

    fn perform<'a, T: Send + 'a>(
        &'a self,
        name: &str,
        space: &str,
        operation: SharedStateFuture<'a, T>,
    ) -> SharedStateFuture<'a, T> {
        *self.operations.lock().unwrap().entry(format!("{name} {space}")).or_default() += 1;
        Box::pin(async move {
            if self.fault.silent() {
                std::future::pending::<()>().await;
            }
            if self.fault.away() {
                return Err(SharedStateError::new("the disk is out"));
            }
            operation.await
        })
    }
}

impl SharedState for FaultyState {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        self.perform("get", space, self.state.get(space, key))
    }

    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool> {
        self.perform("swap", space, self.state.swap(space, key, expected, new, ttl))
    }

    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>> {
        let scanned = self.state.scan(space, prefix, limit);
        self.perform("scan", space.unwrap_or_default(), scanned)
    }
}

/// One node, with tools of its own.
pub(crate) struct Node {
    pub(crate) kit: Kit,
    pub(crate) server: McpServer,
    pub(crate) served: RunningServer,
    pub(crate) bus: Fault,
    pub(crate) gaps: Gaps,
}

pub(crate) struct Nodes {
    pub(crate) state: Arc<FaultyState>,
    pub(crate) a: Node,
    pub(crate) b: Node,
    /// The number of requests so far: the balancer alternates.
    requests: AtomicU64,
}

pub(crate) async fn nodes() -> Nodes {
    nodes_with(|_, server| server).await
}

/// Starts two nodes whose servers `configure` changes.
pub(crate) async fn nodes_with(
    configure: impl Fn(&Kit, McpServerBuilder) -> McpServerBuilder,
) -> Nodes {
    let (bus, state) = (InProcessBus::new(), Arc::new(FaultyState::default()));
    let node = async || {
        let (kit, fault, gaps) = (kit(), Fault::default(), Gaps::default());
        let bus = FaultyBus { bus: bus.node(), fault: fault.clone(), gaps: gaps.clone() };
        let server = configure(&kit, server(&kit)).cluster(bus, Arc::clone(&state));
        let server = server.build().unwrap();
        Node { kit, served: serve(&server).await, server, bus: fault, gaps }
    };
    Nodes { a: node().await, b: node().await, state, requests: AtomicU64::new(0) }
}

impl Node {
    pub(crate) async fn send(&self, text: impl AsRef<[u8]>) -> HttpAnswer {
        send(self.served.addr, text).await
    }

    pub(crate) async fn connect(&self, text: impl AsRef<[u8]>) -> RawConnection {
        let mut wire = RawConnection::open(self.served.addr).await;
        wire.send(text).await;
        wire
    }

    pub(crate) async fn open_session(&self, revision: &str, capabilities: Value) -> ClientSession {
        self.open_session_as("no token", revision, capabilities).await
    }

    /// Opens a session of the caller with this token.
    pub(crate) async fn open_session_as(
        &self,
        token: &str,
        revision: &str,
        capabilities: Value,
    ) -> ClientSession {
        let text = http_request("POST", &[], &initialize(revision, capabilities).to_string());
        let answer = self.send(with(token, &text)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"]["protocolVersion"], revision);
        ClientSession { id: answer.header("Mcp-Session-Id").unwrap().to_owned() }
    }

    /// Ends the node as an operator does, and waits until it has ended.
    pub(crate) async fn stop(self) {
        let Self { served: mut running, server, .. } = self;
        running.end.take().unwrap().send(()).unwrap();
        running.running.take().unwrap().await.unwrap();
        drop(server);
    }
}

impl Nodes {
    /// The node that the balancer chooses for the next request.
    pub(crate) fn next(&self) -> &Node {
        match self.requests.fetch_add(1, Ordering::SeqCst) % 2 {
            0 => &self.a,
            _ => &self.b,
        }
    }

    /// Sends a request to the next node.
    pub(crate) async fn send(&self, text: impl AsRef<[u8]>) -> HttpAnswer {
        self.next().send(text).await
    }
}

/// A session as its client knows it.
pub(crate) struct ClientSession {
    pub(crate) id: String,
}

impl ClientSession {
    fn http(&self, method: &str, more: &[(&str, &str)], body: &str) -> String {
        let mut headers = vec![("Mcp-Session-Id", self.id.as_str())];
        headers.extend(more);
        http_request(method, &headers, body)
    }

    pub(crate) fn post(&self, message: &Value) -> String {
        self.http("POST", &[], &message.to_string())
    }

    pub(crate) fn call(&self, id: u32, name: &str, arguments: Value) -> String {
        self.post(&request(id, "tools/call", json!({ "name": name, "arguments": arguments })))
    }

    pub(crate) fn ping(&self) -> String {
        self.post(&request(1, "ping", json!({})))
    }

    pub(crate) fn get(&self) -> String {
        self.http("GET", &[], "")
    }

    pub(crate) fn resume(&self, last_event: &str) -> String {
        self.http("GET", &[("Last-Event-ID", last_event)], "")
    }

    pub(crate) fn delete(&self) -> String {
        self.http("DELETE", &[], "")
    }
}

/// The id of the last event in a text.
pub(crate) fn last_event_id(text: &str) -> String {
    let mut ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.next_back().unwrap_or_else(|| panic!("no event id: {text}")).to_owned()
}

/// Waits until a node has handled what another one has announced so far.
pub(crate) async fn await_announcements(from: &Node, to: &Node) {
    let filter = json!({ "resourceSubscriptions": ["test://announced"] });
    let listen = json!({ "notifications": filter });
    let mut wire = to.connect(stateless_request(1, "subscriptions/listen", listen)).await;
    wire.until("acknowledged").await;
    from.server.resource_updated("test://announced");
    wire.until("notifications/resources/updated").await;
}
