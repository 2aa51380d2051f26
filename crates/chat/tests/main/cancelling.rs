//! Turns that are cancelled or dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::{FutureExt as _, StreamExt as _, stream};
use tokio::sync::Notify;
use toolwright::chat::{
    ChatEvent, EntryBody, Item, MemoryStore, Message, Model, ModelEvent, ModelId, ModelRequest,
    ModelStream, TurnEnd,
};
use toolwright::testing::ScriptedModel;
use toolwright::{CancellationToken, Outcome, Tool};

use crate::support::{assert_complete, builder, chat, events, none, stored_entries, write};

/// A model that streams two words and then waits; it records when its stream is dropped.
struct PendingModel {
    id: ModelId,
    dropped: Arc<AtomicBool>,
    silent: Arc<Notify>,
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Model for PendingModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, _: ModelRequest) -> ModelStream {
        let held = SetOnDrop(Arc::clone(&self.dropped));
        let silent = Arc::clone(&self.silent);
        let words = ["Once ", "upon "].map(|word| Ok(ModelEvent::Text(word.to_owned())));
        let call = Item::call(toolwright::ToolCall::new("write", "{}"));
        let words = stream::iter(words).chain(stream::iter([Ok(ModelEvent::Item(call))]));
        let pause = stream::once(async move {
            silent.notify_one();
            std::future::pending::<()>().await;
            drop(held);
            Ok(ModelEvent::Text("a time".to_owned()))
        });
        words.chain(pause).boxed()
    }
}

fn halting() -> (PendingModel, Arc<AtomicBool>, Arc<Notify>) {
    let (dropped, silent) = (Arc::default(), Arc::default());
    let model = PendingModel {
        id: ModelId::new("halting", ""),
        dropped: Arc::clone(&dropped),
        silent: Arc::clone(&silent),
    };
    (model, dropped, silent)
}

#[tokio::test]
async fn the_text_before_a_cancellation_is_stored() {
    let (model, dropped, silent) = halting();
    let log = crate::support::Log::default();
    let store = Arc::new(MemoryStore::new());
    let chat = builder(model, write(&log)).store(Arc::clone(&store)).build();
    let token = CancellationToken::new();
    let ask = chat.message().conversation("tale").cancel_on(token.clone());
    let ((emitted, error), ()) = tokio::join!(events(ask.user("Go!").stream()), async {
        silent.notified().await;
        token.cancel();
    });
    assert!(error.is_none());
    assert!(dropped.load(Ordering::SeqCst), "the request was ended");
    match emitted.last().unwrap() {
        ChatEvent::TurnEnded { end, content, usage, .. } => {
            assert_eq!(*end, TurnEnd::Cancelled);
            assert_eq!(*content, [toolwright::Content::text("Once upon ")]);
            // What the vendor has sent is not free because somebody stopped it.
            assert!(usage.estimated && usage.input > 0 && usage.output > 0, "{usage:?}");
        }
        other => panic!("{other:?}"),
    }
    let entries = stored_entries(&store, "tale").await;
    let bodies: Vec<&EntryBody> = entries.iter().map(|entry| &entry.body).collect();
    assert!(matches!(
        bodies[..],
        [
            EntryBody::User { .. },
            EntryBody::Step { .. },
            EntryBody::TurnEnded { end: TurnEnd::Cancelled }
        ]
    ));
    assert!(log.is_empty(), "a call of an answer that is not whole");
    // The conversation goes on.
    let next = ScriptedModel::new().replies("…a time.");
    let ask = chat.message().model(next.clone()).conversation("tale");
    ask.user("Go on!").call().await.unwrap();
    let requests = next.requests();
    assert!(matches!(
        requests[0].messages[..],
        [Message::User(_), Message::Step(_), Message::User(_)]
    ));
}

#[tokio::test]
async fn dropping_the_stream_or_the_future_ends_the_request() {
    for streamed in [true, false] {
        let (model, dropped, _) = halting();
        let chat = chat(model, none());
        let ask = chat.message().user("Go!");
        if streamed {
            let mut stream = ask.stream();
            while let Some(Some(event)) = stream.next().now_or_never() {
                event.unwrap();
            }
            drop(stream);
        } else {
            assert!(ask.call().now_or_never().is_none());
        }
        assert!(dropped.load(Ordering::SeqCst));
    }
}

#[tokio::test]
async fn a_tool_that_runs_is_dropped_and_its_result_is_cancelled() {
    let (dropped, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let (on_drop, begins) = (Arc::clone(&dropped), Arc::clone(&begun));
    let wait = Tool::builder("wait", "Waits for the end of time.").run_async(move |_, cx| {
        let (held, begins) = (SetOnDrop(Arc::clone(&on_drop)), Arc::clone(&begins));
        async move {
            begins.notify_one();
            std::future::pending::<()>().await;
            drop((held, cx));
        }
    });
    let log = crate::support::Log::default();
    let model = ScriptedModel::new().calls_all([("wait", "{}"), ("write", "{}")]);
    let chat = chat(model.clone(), vec![wait.unwrap(), write(&log)]);
    let token = CancellationToken::new();
    let ask = chat.message().cancel_on(token.clone()).user("Wait!");
    let (response, ()) = tokio::join!(ask.call(), async {
        begun.notified().await;
        token.cancel();
    });
    let response = response.unwrap();
    assert!(dropped.load(Ordering::SeqCst));
    assert_eq!(response.end(), Some(&TurnEnd::Cancelled));
    let outcomes: Vec<Outcome> = response.results().iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [Outcome::Cancelled, Outcome::Cancelled]);
    assert!(log.is_empty());
    assert_complete(response.entries());
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn with_a_token_that_is_cancelled_before_no_model_is_called() {
    let model = ScriptedModel::new().replies("Too late.");
    let chat = chat(model.clone(), none());
    let token = CancellationToken::new();
    token.cancel();
    let response = chat.message().cancel_on(token).user("?").call().await.unwrap();
    assert_eq!(response.end(), Some(&TurnEnd::Cancelled));
    assert_eq!(response.text(), "");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_model_that_never_pauses_can_be_cancelled() {
    struct Breathless(ModelId);
    impl Model for Breathless {
        fn id(&self) -> &ModelId {
            &self.0
        }
        fn stream(&self, _: ModelRequest) -> ModelStream {
            let word = || Ok(ModelEvent::Text("and ".to_owned()));
            stream::repeat_with(word).take(1_000_000).boxed()
        }
    }
    let chat = chat(Breathless(ModelId::new("breathless", "")), none());
    let token = CancellationToken::new();
    let ask = chat.message().cancel_on(token.clone()).user("Go!");
    let (response, ()) = tokio::join!(ask.call(), async { token.cancel() });
    let response = response.unwrap();
    assert_eq!(response.end(), Some(&TurnEnd::Cancelled));
    assert!(response.text().starts_with("and "));
}
