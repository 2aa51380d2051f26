//! Messages are accepted only if they can be stored and answered.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::chat::{MemoryStore, Store, StoreError, StoreFuture, delegate_store};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright_server::ServerBuilder;

use crate::rooms::Socket;
use crate::support::{
    HttpResponse, ManualModel, TestServer, joined_text, no_tools, serve, serve_built,
};

/// A store in memory whose `check_writable` returns what a test sets.
#[derive(Clone, Default)]
pub(crate) struct CheckedStore {
    pub(crate) kept: Arc<MemoryStore>,
    refuses: Arc<Mutex<Option<Option<Duration>>>>,
}

impl CheckedStore {
    pub(crate) fn refuse(&self, retry_after: Option<Duration>) {
        *self.refuses.lock().unwrap() = Some(retry_after);
    }

    fn accept(&self) {
        *self.refuses.lock().unwrap() = None;
    }
}

impl Store for CheckedStore {
    delegate_store!(|self| self.kept =>
        scope acquire renew release lease_status append push_inbox inbox remove_inbox_item list_unattended tail list list_by_owner
        list_older_than delete delete_expired shared_state signing_keys rotate_signing_key);

    fn check_writable(&self) -> StoreFuture<'_, ()> {
        let refuses = *self.refuses.lock().unwrap();
        Box::pin(async move {
            match refuses {
                None => Ok(()),
                Some(None) => Err(StoreError::new("the disk is full: make room")),
                Some(Some(retry_after)) => {
                    let message = "it cannot keep up".to_owned();
                    Err(StoreError::Overloaded { message, retry_after })
                }
            }
        })
    }
}

fn sdk() -> Value {
    let parts = json!([{ "type": "text", "text": "Hi" }]);
    json!({ "id": "c", "messages": [{ "id": "m", "role": "user", "parts": parts }] })
}

/// Sends a message in every protocol; returns the responses of those with a status.
async fn send(server: &TestServer) -> Vec<HttpResponse> {
    let run = json!({
        "threadId": "c", "runId": "r", "tools": [], "context": [], "state": {}, "forwardedProps": {},
        "messages": [{ "id": "m", "role": "user", "content": "Hi" }],
    });
    let path = "/api/conversations/c";
    let mut socket = Socket::open(server, path).await;
    let (hello, snapshot) = (socket.next().await.unwrap(), socket.next().await.unwrap());
    assert_eq!((&hello["type"], &snapshot["event"]["type"]), (&json!("hello"), &json!("snapshot")));
    socket.send(json!({ "type": "prompt", "text": "Hi" })).await;
    let refused = socket.next().await.unwrap();
    assert_eq!(refused["type"], "refused", "{refused}");
    vec![
        server.post(&format!("{path}/prompt"), json!({ "text": "Hi" })).await,
        server.post("/api/chat", sdk()).await,
        server.post("/agui", run).await,
        server.get("/readyz").await,
    ]
}

#[tokio::test]
async fn a_message_that_cannot_be_stored_is_refused_in_every_protocol() {
    let (store, model) = (CheckedStore::default(), ScriptedModel::new().replies("Hello."));
    let server = ServerBuilder::new(no_tools(), model.clone()).store(store.clone(), "checked");
    let in_process = server.mount_all().build().unwrap();
    let server = serve_built(in_process.clone()).await;
    assert_eq!(server.get("/readyz").await.status, 200);
    store.refuse(None);
    for refused in send(&server).await {
        assert_eq!(refused.status, 503, "{refused:?}");
        let error = &refused.json()["error"];
        assert_eq!(error["kind"], "store");
        assert_eq!(error["message"], "the disk is full: make room");
        assert_eq!(refused.header("retry-after"), "");
    }
    let path = "/api/conversations/c";
    let refused = in_process.send_message(path, "Hi").await.err().unwrap();
    assert_eq!(refused.to_string(), "the disk is full: make room");
    assert!(store.kept.load("c").await.unwrap().is_empty());
    assert!(model.requests().is_empty());
    store.accept();
    let events = server.post_and_collect(path, "Hi").await;
    assert_eq!(joined_text(&events), "Hello.");
}

#[tokio::test]
async fn an_overloaded_store_sets_retry_after() {
    let store = CheckedStore::default();
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).store(store.clone(), "checked");
    let server = serve(server).await;
    store.refuse(Some(Duration::from_millis(2_500)));
    for refused in send(&server).await {
        assert_eq!(refused.status, 503, "{refused:?}");
        assert_eq!(refused.json()["error"]["kind"], "overloaded");
        assert_eq!(refused.header("retry-after"), "3");
    }
}

#[tokio::test]
async fn no_more_messages_are_accepted_than_turns_may_run() {
    let (model, strings) = ManualModel::new();
    let server = ServerBuilder::new(no_tools(), model).limits(|limits| {
        limits.max_turns = 1;
        limits.max_waiting_turns = 0;
    });
    let server = serve(server).await;
    let path = "/api/conversations/first";
    let after = server.post_message(path, "Hi").await;
    let mut refused = send(&server).await;
    let completion =
        json!({ "model": "puppet", "messages": [{ "role": "user", "content": "Hi" }] });
    refused.push(server.post("/v1/chat/completions", completion).await);
    for refused in refused {
        assert_eq!(refused.status, 503, "{refused:?}");
        assert_ne!(refused.header("retry-after"), "");
        let message = refused.json()["error"]["message"].to_string();
        assert!(message.contains("as many turns as it can"), "{message}");
    }
    strings.send("Hello.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    let events = server.events(path, Some(after)).await.collect_turn().await;
    assert_eq!(joined_text(&events), "Hello.");
}
