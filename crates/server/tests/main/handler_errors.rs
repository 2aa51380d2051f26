//! Errors of handlers: whatever kind of error a handler returns, its message is answered once.

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::json;
use toolwright::chat::{MemoryStore, Store as _};
use toolwright::testing::FnModel;
use toolwright_server::{
    ConversationError, Endpoint, IncomingMessage, Server, ServerBuilder, TurnError,
};

use crate::admission::CheckedStore;
use crate::endpoints::stored_kinds;
use crate::support::{find_event, no_tools, serve, serve_built};

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

#[tokio::test]
async fn a_handler_whose_message_to_another_conversation_is_rejected_has_its_own_in_the_journal() {
    let (store, server) = (CheckedStore::default(), Arc::<OnceLock<Server>>::default());
    let (full, of_handler) = (store.clone(), Arc::clone(&server));
    let endpoint = Endpoint::new("/shop").memory(true).on_message(move || {
        let (full, server) = (full.clone(), Arc::clone(&of_handler));
        async move {
            full.refuse(None);
            let sent = server.get().unwrap().send_message("/shop/2", "order").await;
            let error = sent.err().unwrap();
            assert!(matches!(error, ConversationError::Store(_)), "{error:?}");
            Err::<(), TurnError>(error.into())
        }
    });
    let built = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let built = built.store(store.clone(), "checked").mount_all().build().unwrap();
    assert!(server.set(built.clone()).is_ok());
    let served = serve_built(built).await;
    let failed = served.post_and_collect("/shop/1", "buy").await;
    let error = find_event(&failed, "error");
    assert_eq!(error["kind"], "store");
    assert_eq!(error["message"], "the disk is full: make room");
    assert_eq!(stored_kinds(&*store.kept, "/shop/1").await, ["buy", "ended: failed"]);
}
