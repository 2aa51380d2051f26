//! Turns that the handler of a running turn starts and waits for.

use std::sync::{Arc, Mutex, OnceLock};

use futures::StreamExt as _;
use tokio::sync::Notify;
use toolwright::chat::ChatEvent;
use toolwright::testing::FnModel;
use toolwright_server::{
    ConversationEvent, Endpoint, IncomingMessage, Server, ServerBuilder, Session,
};

use crate::support::{no_tools, within_timeout};

/// A server that runs one turn at once. The handler of `/outer` has `/inner/c` answer, waits for that, and answers with it.
#[derive(Clone, Default)]
struct OneTurn {
    server: Arc<OnceLock<Server>>,
    /// Notified when the handler runs.
    has_begun: Arc<Notify>,
    /// Notified when it may send its message.
    may_send: Arc<Notify>,
    /// The messages that `/inner` has answered.
    answered: Arc<Mutex<Vec<String>>>,
}

impl OneTurn {
    fn build(max_waiting: usize) -> Self {
        let this = Self::default();
        let of_handler = this.clone();
        let outer = move |message: IncomingMessage, session: Session| {
            let this = of_handler.clone();
            async move {
                this.has_begun.notify_one();
                this.may_send.notified().await;
                let inner = this.send("/inner/c", &message.text()).await;
                session.send_text(inner);
            }
        };
        let answered = Arc::clone(&this.answered);
        let inner = move |message: IncomingMessage, session: Session| {
            answered.lock().unwrap().push(message.text());
            async move { session.send_text(format!("inner: {}", message.text())) }
        };
        let server = ServerBuilder::new(no_tools(), FnModel::echo())
            .endpoint(Endpoint::new("/outer").on_message(outer))
            .endpoint(Endpoint::new("/inner").on_message(inner))
            .limits(|limits| (limits.max_turns, limits.max_waiting_turns) = (1, max_waiting))
            .build();
        assert!(this.server.set(server.unwrap()).is_ok());
        this
    }

    /// Sends a message and returns the text of its answer.
    async fn send(&self, path: &str, text: &str) -> String {
        let server = self.server.get().unwrap().clone();
        let events = server.send_message(path, text).await.unwrap();
        let texts = events.map(|event| match &event.event {
            ConversationEvent::Chat(ChatEvent::Text { delta }) => delta.clone(),
            _ => String::new(),
        });
        texts.collect().await
    }
}

#[tokio::test]
async fn a_turn_that_a_handler_waits_for_runs_though_its_own_turn_is_the_only_one_allowed() {
    let it = OneTurn::build(0);
    it.may_send.notify_one();
    let text = within_timeout(it.send("/outer/a", "Hi")).await;
    assert_eq!(text, "inner: Hi");
    // The permit was released once, and the next turn has it.
    it.may_send.notify_one();
    let text = within_timeout(it.send("/outer/a", "Again")).await;
    assert_eq!(text, "inner: Again");
}

#[tokio::test]
async fn a_handler_that_waits_behind_a_waiting_turn_has_both_run() {
    let it = OneTurn::build(8);
    let handler = it.clone();
    let outer = tokio::spawn(async move { handler.send("/outer/a", "second").await });
    within_timeout(it.has_begun.notified()).await;
    let server = it.server.get().unwrap();
    let first = server.send_message("/inner/c", "first").await.unwrap();
    assert!(it.answered.lock().unwrap().is_empty(), "it waits for the permit of the handler");
    it.may_send.notify_one();
    let text = within_timeout(outer).await.unwrap();
    assert_eq!(text, "inner: second");
    assert_eq!(*it.answered.lock().unwrap(), ["first", "second"]);
    assert!(within_timeout(first.collect::<Vec<_>>()).await.len() > 1);
}

#[tokio::test]
async fn turns_that_no_handler_has_started_still_wait() {
    let it = OneTurn::build(0);
    let handler = it.clone();
    let outer = tokio::spawn(async move { handler.send("/outer/a", "Hi").await });
    within_timeout(it.has_begun.notified()).await;
    let server = it.server.get().unwrap();
    let refused = server.send_message("/inner/d", "no room").await.err().unwrap();
    assert!(refused.to_string().contains("as many turns"), "{refused}");
    it.may_send.notify_one();
    within_timeout(outer).await.unwrap();
    assert_eq!(*it.answered.lock().unwrap(), ["Hi"]);
}
