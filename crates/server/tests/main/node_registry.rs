//! Every node that serves is listed, with its turns, until it is gone.

use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::{MemoryStore, Store};
use toolwright::testing::FnModel;
use toolwright_server::{NodeInfo, ServerBuilder};

use crate::support::{ManualModel, no_tools, serve, within_timeout};

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
