//! Every node that serves is listed, with its turns, until it is gone.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use serde_json::json;
use tokio::net::TcpListener;
use toolwright::chat::{MemoryStore, Store};
use toolwright::testing::FnModel;
use toolwright_server::{NodeInfo, Server, ServerBuilder};
use tower::ServiceExt as _;

use crate::support::{ManualModel, no_tools, serve, serve_built, within_timeout};

/// Lists the nodes until the condition is true.
async fn list_until(
    store: &Arc<MemoryStore>,
    condition: impl Fn(&[NodeInfo]) -> bool,
) -> Vec<NodeInfo> {
    within_timeout(async {
        loop {
            let nodes = NodeInfo::list(&*store.shared_state()).await.unwrap();
            if condition(&nodes) {
                return nodes;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn nodes_are_listed_while_they_serve() {
    let store = Arc::new(MemoryStore::new());
    let (model, texts) = ManualModel::new();
    let one = ServerBuilder::new(no_tools(), model)
        .store(Arc::clone(&store), "memory")
        .name("shop", "1.2.3")
        .node_name("one")
        .register_node()
        .limits(|limits| limits.shutdown_grace = Duration::from_secs(600));
    let one = serve(one).await;
    let two = ServerBuilder::new(no_tools(), FnModel::echo())
        .store(Arc::clone(&store), "memory")
        .node_name("two")
        .register_node();
    let two = serve(two).await;
    let unlisted = ServerBuilder::new(no_tools(), FnModel::echo()).store(Arc::clone(&store), "");
    let _unlisted = serve(unlisted.node_name("three")).await;
    let nodes = list_until(&store, |nodes| nodes.len() == 2).await;
    assert_eq!((&*nodes[0].name, &*nodes[1].name), ("one", "two"));
    assert_eq!((&*nodes[0].program, &*nodes[0].version), ("shop", "1.2.3"));
    assert_eq!(nodes[0].address, Some(one.addr.to_string()));
    assert!(!nodes[0].draining && nodes[0].turns == 0);
    // A node that shuts down is listed until its turns are over.
    one.post_message("/api/conversations/c", "Go.").await;
    let ended = tokio::spawn(one.end());
    let nodes = list_until(&store, |nodes| nodes.iter().any(|node| node.draining)).await;
    assert_eq!((&*nodes[0].name, nodes[0].turns, nodes[1].draining), ("one", 1, false));
    texts.send(String::new()).unwrap();
    within_timeout(ended).await.unwrap();
    let nodes = list_until(&store, |nodes| nodes.len() == 1).await;
    assert_eq!(nodes[0].name, "two");
    two.end().await;
    list_until(&store, <[_]>::is_empty).await;
}

/// Lists a node whose program has another protocol, or none at all, until the time has passed.
async fn list_other(store: &MemoryStore, name: &str, protocol: Option<u32>, ttl: Duration) {
    let mut record = json!({ "program": "shop", "version": "0.9.0", "unknown": [] });
    if let Some(protocol) = protocol {
        record["protocol"] = protocol.into();
    }
    let state = store.shared_state();
    state.put("node", name, &record.to_string(), Some(ttl)).await.unwrap();
}

fn node(store: &Arc<MemoryStore>) -> Server {
    let node = ServerBuilder::new(no_tools(), FnModel::echo()).store(Arc::clone(store), "memory");
    let node = node.name("shop", "1.2.3").node_name("new").register_node().mount_all();
    node.build().unwrap()
}

#[tokio::test]
async fn a_node_does_not_serve_beside_nodes_of_another_protocol() {
    const LONG: Duration = Duration::from_secs(600);
    let store = Arc::new(MemoryStore::new());
    for (protocol, shown) in [(Some(99), "protocol 99"), (None, "protocol 0")] {
        list_other(&store, "other", protocol, LONG).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let node = node(&store);
        let served = within_timeout(node.serve(listener, std::future::pending()));
        let error = served.await.unwrap_err().to_string();
        let expected = format!(
            "node `other` (shop 0.9.0) serves from this store with {shown} between nodes, and this node (shop 1.2.3) has protocol 1: stop the nodes of the other version"
        );
        assert!(error.starts_with(&expected), "{error}");
        assert_eq!(store.shared_state().get("node", "new").await.unwrap(), None);
    }
    // Its own name is that of a process that it replaces; the record of one that has crashed expires.
    list_other(&store, "new", Some(99), LONG).await;
    list_other(&store, "other", Some(99), Duration::ZERO).await;
    let server = serve_built(node(&store)).await;
    let nodes = list_until(&store, |nodes| !nodes.is_empty()).await;
    assert_eq!((&*nodes[0].name, nodes[0].protocol), ("new", 1));
    server.end().await;
}

#[tokio::test]
async fn a_node_that_serves_its_router_itself_shuts_down_beside_nodes_of_another_protocol() {
    let store = Arc::new(MemoryStore::new());
    list_other(&store, "other", Some(99), Duration::from_secs(600)).await;
    let node = node(&store);
    node.spawn_background_work();
    let state = store.shared_state();
    within_timeout(async {
        let request = || {
            let peer = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4000)));
            let request = hyper::Request::get("/readyz").header("host", "localhost");
            request.extension(peer).body(Body::empty()).unwrap()
        };
        while node.router().oneshot(request()).await.unwrap().status() != 404 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(state.get("node", "new").await.unwrap(), None);
}
