//! A turn as events: their order, their form, their end.

use futures::StreamExt as _;
use serde_json::{Value, json};
use toolwright::ToolCall;
use toolwright::chat::{ChatError, ChatEvent, Item, ItemKind, ModelErrorKind};
use toolwright::testing::{ModelReply, ScriptedModel};

use crate::support::{Log, chat, events, kinds, none, pay, read_tool, write};

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .replies_with(|_| {
            let text = "Hm.".to_owned();
            ModelReply::from_items(vec![Item::new(ItemKind::Reasoning { text })])
                .with_item(Item::text("Let me see."))
                .with_item(Item::call(ToolCall::new("write", r#"{"n": 1}"#).with_id("a")))
                .with_item(Item::call(ToolCall::new("write", r#"{"n": 2}"#).with_id("b")))
        })
        .replies("Two.")
}

#[tokio::test]
async fn events_come_in_the_order_things_happen() {
    let log = Log::default();
    let chat = chat(model(), write(&log));
    let (events, error) = events(chat.message().user("Go!").stream()).await;
    assert!(error.is_none());
    assert_eq!(
        kinds(&events),
        [
            "began",
            "reasoning",
            "text",
            "text",
            "text",
            "call_begins",
            "call_delta",
            "call",
            "call_begins",
            "call_delta",
            "call",
            "step",
            "running",
            "result",
            "running",
            "result",
            "text",
            "step",
            "ended",
        ]
    );
}

#[tokio::test]
async fn events_are_json_with_a_type() {
    let log = Log::default();
    let model = ScriptedModel::new().calls("pay", r#"{"n": 1}"#).replies("Paid.");
    let chat = chat(model, pay(&log));
    let request = chat.message().conversation("room").user("Pay!");
    let (emitted, _) = events(request.stream()).await;
    let json: Vec<Value> = emitted.iter().map(|it| serde_json::to_value(it).unwrap()).collect();
    let find = |kind: &str| json.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!(
        *find("began"),
        json!({"type": "began", "conversation": "room", "model": {"vendor": "script", "name": ""}})
    );
    let asked = find("asked");
    assert_eq!(asked["arguments"], json!({"n": 1}));
    assert_eq!(asked["tool"]["name"], "pay");
    assert_eq!(asked["call"]["id"], "call_0_0");
    assert_eq!(*find("paused"), json!({"type": "paused", "calls": ["call_0_0"]}));
    // A page that has only seen JSON can decide.
    let decided = json!({
        "call": asked["call"]["id"],
        "token": asked["token"],
        "verdict": {"verdict": "approve"},
    });
    let decided = serde_json::from_value(decided).unwrap();
    let (emitted, _) = events(chat.submit_approvals("room", vec![decided]).stream()).await;
    let json: Vec<Value> = emitted.iter().map(|it| serde_json::to_value(it).unwrap()).collect();
    let find = |kind: &str| json.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!(
        *find("decided"),
        json!({"type": "decided", "call": "call_0_0", "verdict": "approve"})
    );
    assert_eq!(find("result")["result"]["content"][0]["text"], "pay 1");
    let ended = find("ended");
    assert_eq!(
        (&ended["end"], &ended["content"][0]["text"]),
        (&json!("answered"), &json!("Paid."))
    );
}

#[tokio::test]
async fn an_error_comes_after_the_events_before_it() {
    let model = ScriptedModel::new().replies_with(|_| {
        ModelReply::text("I was about to").then_error(ModelErrorKind::Overloaded, "too busy")
    });
    let chat = chat(model, none());
    let (events, error) = events(chat.message().user("?").stream()).await;
    assert_eq!(kinds(&events), ["began", "text", "text", "text", "text", "step"]);
    match error {
        Some(ChatError::Model(error)) => {
            assert_eq!(error.kind, ModelErrorKind::Overloaded);
            assert!(error.is_transient());
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_without_an_end_is_an_error() {
    struct Broken(toolwright::chat::ModelId);
    impl toolwright::chat::Model for Broken {
        fn id(&self) -> &toolwright::chat::ModelId {
            &self.0
        }
        fn stream(&self, _: toolwright::chat::ModelRequest) -> toolwright::chat::ModelStream {
            let call = Item::call(ToolCall::new("write", "{}"));
            futures::stream::iter([Ok(toolwright::chat::ModelEvent::Item(call))]).boxed()
        }
    }
    let log = Log::default();
    let chat = chat(Broken(toolwright::chat::ModelId::new("broken", "")), write(&log));
    let error = chat.message().user("?").call().await.unwrap_err();
    assert_eq!(error.to_string(), "the answer ended before it was finished");
    assert!(log.is_empty());
}

#[tokio::test]
async fn a_stream_can_be_read_in_part_and_finished() {
    let log = Log::default();
    let chat = chat(model(), write(&log));
    let mut stream = chat.message().user("Go!").stream();
    assert!(log.is_empty(), "nothing happens before it is read");
    let first = stream.next().await.unwrap().unwrap();
    assert!(matches!(first, ChatEvent::TurnStarted { .. }));
    let response = stream.finish().await.unwrap();
    assert_eq!(response.text(), "Two.");
}

#[tokio::test]
async fn a_stream_has_a_response_once_it_is_over() {
    let log = Log::default();
    let asking = || chat(model(), write(&log)).message().user("Go!");
    assert!(asking().stream().into_response().is_none());
    let mut stream = asking().stream();
    while stream.next().await.is_some() {}
    assert!(stream.next().await.is_none(), "it stays over");
    assert_eq!(stream.into_response().unwrap().text(), "Two.");
}

#[tokio::test]
async fn finishing_a_stream_that_failed_is_the_error() {
    let chat = chat(ScriptedModel::new(), none());
    let error = chat.message().user("?").stream().finish().await.unwrap_err();
    assert!(error.to_string().contains("the script is over"), "{error}");
    let mut stream = chat.message().user("?").stream();
    while stream.next().await.is_some() {}
    let over = stream.finish().await.unwrap_err();
    assert!(matches!(over, ChatError::StreamEnded));
}

#[tokio::test]
async fn a_stream_and_a_call_append_the_same_entries() {
    let log = Log::default();
    let tools = || vec![write(&log), read_tool(&log)];
    let called = chat(model(), tools()).message().user("Go!").call().await.unwrap();
    let streamed = chat(model(), tools()).message().user("Go!").stream();
    let streamed = streamed.finish().await.unwrap();
    let bodies = |response: &toolwright::chat::Response| -> Vec<Value> {
        let entries = response.entries().iter();
        entries.map(|entry| serde_json::to_value(&entry.body).unwrap()).collect()
    };
    assert_eq!(bodies(&called), bodies(&streamed));
}
