//! Errors of handlers: whatever kind a handler names, its message is answered once.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolwright::chat::{MemoryStore, Store as _};
use toolwright::testing::FnModel;
use toolwright_server::{Endpoint, IncomingMessage, ServerBuilder, TurnError};

use crate::endpoints::stored_kinds;
use crate::support::{find_event, no_tools, serve};

/// Has a handler fail with an error of this kind, which the server uses for errors of its own, too.
async fn check_answered_once(kind: &'static str) {
    let texts = Arc::<Mutex<Vec<String>>>::default();
    let answered = Arc::clone(&texts);
    let endpoint =
        Endpoint::new("/shop").memory(true).on_message(move |message: IncomingMessage| {
            let text = message.text();
            answered.lock().unwrap().push(text.clone());
            async move {
                match text.as_str() {
                    "buy" => Err(TurnError::new(kind, "sold out")),
                    _ => Ok(()),
                }
            }
        });
    let store = Arc::new(MemoryStore::new());
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server.store(Arc::clone(&store), "memory")).await;
    let path = "/shop/1";
    let failed = server.post_and_collect(path, "buy").await;
    let mut error = find_event(&failed, "error").clone();
    let seq = error["seq"].take();
    let expected = json!({ "seq": null, "type": "error", "kind": kind, "message": "sold out" });
    assert_eq!(error, expected, "event {seq}");
    assert_eq!(stored_kinds(&*store, path).await, ["buy", "ended: failed"]);
    assert_eq!(store.inbox(path).await.unwrap(), []);
    server.post_and_collect(path, "leave").await;
    let journal = ["buy", "ended: failed", "leave", "ended: answered"];
    assert_eq!(stored_kinds(&*store, path).await, journal);
    assert_eq!(*texts.lock().unwrap(), ["buy", "leave"]);
}

#[tokio::test]
async fn a_handler_whose_own_store_fails_is_not_called_again_for_the_message() {
    check_answered_once("store").await;
}

#[tokio::test]
async fn a_handler_that_withdraws_from_something_has_its_message_in_the_journal() {
    check_answered_once("withdrawn").await;
}

#[tokio::test]
async fn a_handler_that_refuses_has_its_message_in_the_journal() {
    check_answered_once("refused").await;
}

#[tokio::test]
async fn a_handler_that_forbids_has_its_message_in_the_journal() {
    check_answered_once("forbidden").await;
}
