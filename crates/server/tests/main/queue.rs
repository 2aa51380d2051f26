//! Queued messages, and how they are withdrawn.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::Secret;
use toolwright::chat::{MemoryStore, Store};
use toolwright_mcp::{Claims, StaticTokens};
use toolwright_server::{Endpoint, ServerBuilder};

use crate::owners::{HERE, resource_server, token};
use crate::support::{
    ManualModel, ManualModelSender, SseEvents, TestServer, find_event, no_tools, serve,
};

const PATH: &str = "/api/conversations/c";

/// A server with a running turn and the events after its beginning; the test sends the output of the model.
async fn busy_server() -> (TestServer, SseEvents, ManualModelSender) {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let after = server.post_message(PATH, "First.").await;
    let mut events = server.events(PATH, Some(after)).await;
    events.read_until("began").await;
    (server, events, strings)
}

/// Queues a message and returns its position.
async fn queue(server: &TestServer, text: &str) -> u64 {
    let accepted = server.post(&format!("{PATH}/prompt"), json!({ "text": text })).await.json();
    assert_eq!(accepted["queued"], true);
    accepted["position"].as_u64().unwrap()
}

fn finish_turn(strings: &ManualModelSender) {
    strings.send("Done.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
}

#[tokio::test]
async fn a_withdrawn_message_is_not_answered() {
    let (server, mut events, strings) = busy_server().await;
    let positions = [queue(&server, "Second.").await, queue(&server, "Third.").await];
    assert_eq!(server.get(PATH).await.json()["queued_positions"], json!(positions));
    let withdraw = format!("{PATH}/queue/{}", positions[0]);
    assert_eq!(server.delete(&withdraw).await.status, 204);
    let withdrawn = events.read_until("withdrawn").await;
    assert_eq!(withdrawn["event"]["position"], positions[0]);
    assert_eq!(withdrawn.get("seq"), None);
    let shown = server.get(PATH).await.json();
    assert_eq!(shown["queued_positions"], json!([positions[1]]));
    assert_eq!(shown["queued"][0][0]["content"][0]["text"], "Third.");
    assert_eq!(server.delete(&withdraw).await.status, 404, "withdrawn already");
    finish_turn(&strings);
    events.read_until("ended").await;
    let said = events.read_until("said").await;
    assert_eq!(said["event"]["content"][0]["text"], "Third.");
}

#[tokio::test]
async fn a_message_whose_turn_has_begun_cannot_be_withdrawn() {
    let (server, mut events, strings) = busy_server().await;
    let position = queue(&server, "Second.").await;
    finish_turn(&strings);
    events.read_until("said").await;
    let answer = server.delete(&format!("{PATH}/queue/{position}")).await;
    assert_eq!(answer.status, 404, "{answer:?}");
    assert!(answer.text().contains("no message waits at this position"), "{answer:?}");
    finish_turn(&strings);
    assert_eq!(events.read_until("ended").await["event"]["end"], "answered");
    for position in ["99", "-1", "x"] {
        assert_eq!(server.delete(&format!("{PATH}/queue/{position}")).await.status, 404);
    }
}

#[tokio::test]
async fn a_withdrawn_message_makes_room_in_the_queue() {
    let (server, _events, _strings) = busy_server().await;
    let prompt = format!("{PATH}/prompt");
    let mut positions = Vec::new();
    let status = loop {
        let answer = server.post(&prompt, json!({ "text": "More." })).await;
        match answer.status {
            202 => positions.push(answer.json()["position"].as_u64().unwrap()),
            status => break status,
        }
    };
    assert_eq!(status, 429);
    let withdraw = format!("{PATH}/queue/{}", positions[3]);
    assert_eq!(server.delete(&withdraw).await.status, 204);
    assert_eq!(server.post(&prompt, json!({ "text": "More." })).await.status, 202);
}

#[tokio::test]
async fn in_a_room_only_the_sender_may_withdraw_a_message() {
    let table = ["ada", "bob"].into_iter().fold(StaticTokens::new(), |table, subject| {
        table.token(&Secret::new(token(subject)), Claims::new(subject, [HERE]))
    });
    let (model, strings) = ManualModel::new();
    let store = Arc::<MemoryStore>::default();
    let server = ServerBuilder::new(no_tools(), model)
        .endpoint(Endpoint::new("/room/{name}").memory(true).broadcast(true).open_to_all())
        .store(Arc::clone(&store) as Arc<dyn Store>, "memory")
        .configure_auth(|guard| guard.oauth(resource_server(table)));
    let server = serve(server).await;
    let room = "/room/lobby";
    let prompt = format!("{room}/prompt");
    let first = server.send_as("bob", "POST", &prompt, json!({ "text": "First." })).await;
    let seq = first.json()["seq"].as_u64().unwrap();
    let mut events = server.events_as("bob", room, seq).await;
    events.read_until("began").await;
    let second = server.send_as("ada", "POST", &prompt, json!({ "text": "Second." })).await;
    let withdraw = format!("{room}/queue/{}", second.json()["position"]);
    let answer = server.send_as("bob", "DELETE", &withdraw, Value::Null).await;
    assert_eq!(answer.status, 403, "{answer:?}");
    assert_eq!(server.send_as("ada", "DELETE", &withdraw, Value::Null).await.status, 204);
    assert!(store.inbox(room).await.unwrap().is_empty());
    // The other participants receive the event, too.
    events.read_until("withdrawn").await;
    finish_turn(&strings);
    find_event(&events.collect_turn().await, "ended");
}
