//! An endpoint that a foreign agent answers.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use serde_json::json;
use toolwright::chat::{ChatEvent, ModelId, StopReason, TurnEnd, Usage};
use toolwright::testing::ScriptedModel;
use toolwright::{ToolCall, ToolResult};
use toolwright_server::{Endpoint, IncomingMessage, ServerBuilder, Session};

use crate::support::{event_types, joined_text, no_tools, serve};

/// The events of a hand-written agent that calls a tool and answers.
fn agent(question: String) -> Vec<ChatEvent> {
    let call = ToolCall::new("look_up", r#"{"word":"rain"}"#).with_id("c1");
    let mut result = ToolResult::success("wet");
    (result.call_id, result.tool) = (call.id.clone(), call.name.clone());
    vec![
        ChatEvent::TurnStarted {
            conversation: String::new(),
            model: ModelId::new("mine", "agent"),
        },
        ChatEvent::Call { call },
        ChatEvent::Step { stop: StopReason::Calls, usage: Usage::new(3, 2), cost: None },
        ChatEvent::Result { result, millis: 1 },
        ChatEvent::Text { delta: format!("{question} It is wet.") },
    ]
}

#[tokio::test]
async fn events_of_another_agent_are_published_and_stored_like_those_of_a_model() {
    let endpoint = Endpoint::new("/agent/{r}").memory(true).on_message(
        |message: IncomingMessage, session: Session| async move {
            session.forward(stream::iter(agent(message.text()))).await;
        },
    );
    let server = ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint);
    let server = serve(server).await;
    let events = server.post_and_collect("/agent/x", "Rain?").await;
    assert_eq!(event_types(&events), ["said", "began", "call", "step", "result", "text", "ended"]);
    assert_eq!(joined_text(&events), "Rain? It is wet.");
    let shown = server.get("/agent/x").await.json();
    let entries = shown["entries"].as_array().unwrap();
    let whats: Vec<&String> =
        entries.iter().flat_map(|entry| entry["what"].as_object().unwrap().keys()).collect();
    assert_eq!(whats, ["user", "step", "finished", "step", "ended"]);
    assert_eq!(entries[1]["what"]["step"]["step"]["model"]["vendor"], "mine");
    assert_eq!(entries[4]["what"]["ended"]["end"], json!({ "end": "answered" }));
}

#[tokio::test]
async fn an_agent_without_a_memory_receives_the_history() {
    for (memory, expected) in [(true, [0, 4, 8]), (false, [0, 0, 0])] {
        let endpoint = Endpoint::new("/agent/{r}").memory(memory).on_message(
            |message: IncomingMessage, session: Session| async move {
                let before = session.history().await.unwrap();
                session.send_text(before.len().to_string());
                session.forward(stream::iter(agent(message.text()))).await;
            },
        );
        let server = ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint);
        let server = serve(server).await;
        for before in expected {
            let events = server.post_and_collect("/agent/x", "Rain?").await;
            assert_eq!(joined_text(&events), format!("{before}Rain? It is wet."));
        }
    }
}

#[tokio::test]
async fn an_agent_sets_the_end_of_its_turn() {
    let endpoint = Endpoint::new("/agent/{r}").on_message(|session: Session| async move {
        let ended = ChatEvent::TurnEnded {
            end: TurnEnd::Length,
            content: Vec::new(),
            usage: Usage::new(1, 1),
            cost: Some(0.5),
        };
        session.forward(stream::iter([ended])).await;
    });
    let server = ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint);
    let server = serve(server).await;
    let events = server.post_and_collect("/agent/x", "Go").await;
    let ended = events.last().unwrap();
    assert_eq!((&ended["end"], &ended["cost"]), (&json!("length"), &json!(0.5)));
}

#[tokio::test]
async fn an_agent_that_never_ends_is_stopped() {
    let endpoint =
        Endpoint::new("/agent/{r}").memory(true).on_message(|session: Session| async move {
            session.send_text("Let me think.");
            session.forward(stream::pending()).await;
        });
    let server = ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint);
    let server = serve(server).await;
    let after = server.post_message("/agent/x", "Go").await;
    let mut events = server.events("/agent/x", Some(after)).await;
    events.read_until("text").await;
    server.post("/agent/x/stop", json!({})).await;
    assert_eq!(events.read_until("ended").await["event"]["end"], "cancelled");
}

#[tokio::test]
async fn an_agent_that_drips_is_cut_off_when_the_time_of_the_turn_is_up() {
    let limit = Duration::from_secs(1);
    let endpoint = Endpoint::new("/agent/{r}").memory(true).timeout(limit).on_message(
        |session: Session| async move {
            let words = stream::repeat(ChatEvent::Text { delta: "and ".to_owned() }).take(3);
            session.forward(words.chain(stream::pending())).await;
        },
    );
    let server = ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint);
    let server = serve(server).await;
    let events = server.post_and_collect("/agent/x", "Go").await;
    assert_eq!(joined_text(&events), "and and and ");
    let ended = events.last().unwrap();
    assert_eq!((&ended["type"], &ended["end"]), (&json!("ended"), &json!("limit")), "{ended}");
    let shown = server.get("/agent/x").await.json();
    let last = shown["entries"].as_array().unwrap().last().unwrap();
    assert_eq!(last["what"]["ended"]["end"]["end"], "limit", "{last}");
}
