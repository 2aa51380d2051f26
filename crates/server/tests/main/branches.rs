//! Branches: a message that continues after an earlier entry, and the paths that are shown and exported.

use serde_json::{Value, json};
use toolwright::Content;
use toolwright::chat::Message;
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright_server::{Endpoint, IncomingMessage, ServerBuilder, Session};

use crate::support::{
    ManualModel, TestServer, event_types, find_event, joined_text, no_tools, serve,
};

const PATH: &str = "/api/conversations/c";

/// A model that answers with the texts of all user messages.
fn joining_model() -> FnModel {
    FnModel::new(|request| {
        let texts = request.messages.iter().filter_map(|message| match message {
            Message::User(content) => match content.first()? {
                Content::Text { text } => Some(text.as_str()),
                _ => None,
            },
            _ => None,
        });
        texts.collect::<Vec<_>>().join(" ")
    })
}

impl TestServer {
    /// Sends a message that continues after an entry, and returns the events of its turn.
    async fn continue_after(&self, path: &str, text: &str, after: &str) -> Vec<Value> {
        let message = json!({ "text": text, "after": after });
        let accepted = self.post(&format!("{path}/prompt"), message).await;
        assert_eq!(accepted.status, 202, "{accepted:?}");
        let seq = accepted.json()["seq"].as_u64();
        self.events(path, seq).await.collect_turn().await
    }

    async fn snapshot_at(&self, at: &str) -> Value {
        let shown = self.get(&format!("{PATH}?at={at}")).await;
        assert_eq!(shown.status, 200, "{shown:?}");
        shown.json()
    }
}

fn entry_ids(snapshot: &Value) -> Vec<String> {
    let entries = snapshot["entries"].as_array().unwrap().iter();
    entries.map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

/// The texts of the user messages of a snapshot.
fn messages(snapshot: &Value) -> String {
    let entries = snapshot["entries"].as_array().unwrap().iter();
    let texts = entries.filter_map(|it| it["what"]["user"]["content"][0]["text"].as_str());
    texts.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_message_continues_after_an_earlier_turn_and_what_was_there_stays() {
    let server = serve(ServerBuilder::new(no_tools(), joining_model())).await;
    server.post_and_collect(PATH, "a").await;
    server.post_and_collect(PATH, "b").await;
    let before = server.get(PATH).await.json();
    assert_eq!(before.get("branches"), None);
    let ids = entry_ids(&before);
    let events = server.continue_after(PATH, "c", &ids[2]).await;
    assert_eq!(joined_text(&events), "a c");
    assert_eq!(find_event(&events, "said")["after"], *ids[2]);

    let newest = server.get(PATH).await.json();
    assert_eq!(messages(&newest), "a c");
    let new_ids = entry_ids(&newest);
    let branches = json!([
        { "first": ids[0], "after": "", "last": ids[2] },
        { "first": ids[3], "after": ids[2], "last": ids[5] },
        { "first": new_ids[3], "after": ids[2], "last": new_ids[5] },
    ]);
    assert_eq!(newest["branches"], branches);
    let other = server.snapshot_at(&ids[5]).await;
    assert_eq!((messages(&other), &other["branches"]), ("a b".to_owned(), &branches));
    assert_eq!(entry_ids(&other), ids);

    // The older branch goes on.
    let events = server.continue_after(PATH, "d", &ids[5]).await;
    assert_eq!(joined_text(&events), "a b d");
    assert_eq!(messages(&server.get(PATH).await.json()), "a b d");
    // A message without `after` follows the newest one.
    assert_eq!(joined_text(&server.post_and_collect(PATH, "e").await), "a b d e");
    // Empty: before the first entry.
    let events = server.continue_after(PATH, "f", "").await;
    assert_eq!(joined_text(&events), "f");
    assert_eq!(server.get(PATH).await.json()["branches"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_path_is_exported() {
    let server = serve(ServerBuilder::new(no_tools(), joining_model())).await;
    server.post_and_collect(PATH, "a").await;
    let end = entry_ids(&server.get(PATH).await.json()).pop().unwrap();
    server.continue_after(PATH, "b", "").await;
    let export = format!("{PATH}/export");
    for (query, text) in [(String::new(), "b"), (format!("?at={end}"), "a")] {
        let exported = server.get(&format!("{export}{query}")).await;
        let lines: Vec<&str> = exported.text().lines().collect();
        assert_eq!(lines.len(), 4);
        let message: Value = serde_json::from_str(lines[1]).unwrap();
        assert_eq!(message["what"]["user"]["content"][0]["text"], text);
    }
}

#[tokio::test]
async fn a_path_to_an_unknown_entry_is_not_found() {
    let server = serve(ServerBuilder::new(no_tools(), joining_model())).await;
    server.post_and_collect(PATH, "a").await;
    for path in ["", "/export"] {
        for at in ["nonsense", ""] {
            let answer = server.get(&format!("{PATH}{path}?at={at}")).await;
            assert_eq!(answer.status, 404, "{answer:?}");
            assert!(answer.text().contains("`at`"), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_message_that_continues_within_a_turn_is_not_accepted() {
    let server = serve(ServerBuilder::new(no_tools(), joining_model())).await;
    server.post_and_collect(PATH, "a").await;
    let before = server.get(PATH).await.json();
    for after in ["nonsense", &entry_ids(&before)[0]] {
        let message = json!({ "text": "b", "after": after });
        let answer = server.post(&format!("{PATH}/prompt"), message).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.text().contains("no turn of this conversation ends with"), "{answer:?}");
    }
    assert_eq!(server.get(PATH).await.json(), before);
}

#[tokio::test]
async fn a_running_turn_is_shown_on_its_own_branch_only() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let finish = || {
        strings.send("Done.".to_owned()).unwrap();
        strings.send(String::new()).unwrap();
    };
    for text in ["a", "b"] {
        finish();
        server.post_and_collect(PATH, text).await;
    }
    let ids = entry_ids(&server.get(PATH).await.json());
    let message = json!({ "text": "c", "after": ids[2] });
    let seq = server.post(&format!("{PATH}/prompt"), message).await.json()["seq"].as_u64();
    let mut events = server.events(PATH, seq).await;
    strings.send("Half".to_owned()).unwrap();
    events.read_until("text").await;

    let newest = server.get(PATH).await.json();
    assert_eq!((messages(&newest), &newest["running"]), ("a".to_owned(), &json!(true)));
    let other = server.snapshot_at(&ids[5]).await;
    assert_eq!((messages(&other), &other["running"]), ("a b".to_owned(), &json!(false)));
    // The events of the turn follow the snapshot that shows it.
    let mut replayed = server.events(PATH, newest["seq"].as_u64()).await;
    finish();
    let replayed = replayed.collect_turn().await;
    assert_eq!(event_types(&replayed)[0], "said");
    assert_eq!(joined_text(&replayed), "HalfDone.");
}

#[tokio::test]
async fn an_agent_without_a_memory_receives_the_history_of_the_branch() {
    let endpoint = Endpoint::new("/agent/{r}").memory(true).on_message(
        |message: IncomingMessage, session: Session| async move {
            let before = session.history().await.unwrap();
            session.send_text(format!("{} after {}", message.text(), before.len()));
        },
    );
    let server =
        serve(ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint)).await;
    for (text, answer) in [("a", "a after 0"), ("b", "b after 2")] {
        assert_eq!(joined_text(&server.post_and_collect("/agent/x", text).await), answer);
    }
    let ids = entry_ids(&server.get("/agent/x").await.json());
    let events = server.continue_after("/agent/x", "c", &ids[2]).await;
    assert_eq!(joined_text(&events), "c after 2");
    assert_eq!(messages(&server.get("/agent/x").await.json()), "a c");
}
