//! Conversations that are older than the server keeps them are deleted.

use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::{Append, Entry, EntryBody, MemoryStore, Store, TurnEnd};
use toolwright::testing::FnModel;
use toolwright_server::ServerBuilder;

use crate::restart::kept;
use crate::support::{no_tools, serve, within_timeout};

async fn append(store: &MemoryStore, conversation: &str, entries: &[Entry]) {
    let lease = store.acquire(conversation, "test", Duration::from_secs(60)).await.unwrap();
    let lease = lease.unwrap();
    store.append(&lease, Append::new(entries)).await.unwrap();
    store.release(&lease).await.unwrap();
}

#[tokio::test]
async fn a_conversation_that_has_expired_is_deleted_when_the_server_starts() {
    let store = Arc::<MemoryStore>::default();
    let end = EntryBody::TurnEnded { end: TurnEnd::Answered };
    let turn =
        [Entry::new("a", 1, EntryBody::User { content: Vec::new() }), Entry::new("b", 2, end)];
    append(&store, "old", &turn).await;
    let server = ServerBuilder::new(no_tools(), FnModel::echo());
    let server = kept(server, &store);
    let without_age = serve(server).await;
    without_age.post_and_collect("/api/conversations/new", "Hi").await;
    without_age.end().await;
    assert_eq!(store.list(9).await.unwrap().len(), 2);

    let day = Duration::from_secs(24 * 60 * 60);
    let server = ServerBuilder::new(no_tools(), FnModel::echo());
    let server = server.limits(|limits| limits.max_conversation_age = Some(day));
    let server = serve(kept(server, &store)).await;
    let metric = "toolwright_conversations_expired_total 1";
    within_timeout(async { while !server.get("/metrics").await.text().contains(metric) {} }).await;
    let left = store.list(9).await.unwrap();
    assert_eq!((left.len(), left[0].conversation.as_str()), (1, "new"));
}
