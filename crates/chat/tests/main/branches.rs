//! Branches: messages that continue after an earlier turn than the last.

use std::sync::Arc;

use futures::FutureExt as _;
use toolwright::chat::{
    Chat, ChatError, Entry, EntryBody, HistoryWindow, MemoryStore, Message, TurnEnd, load_path,
    newest_path,
};
use toolwright::testing::ScriptedModel;
use toolwright::{Content, Outcome, Tool};

use crate::support::{Log, assert_complete, builder, pay, store_entries, stored_entries};

const ROOM: &str = "room";

/// A stored conversation.
#[derive(Default)]
struct Room {
    store: Arc<MemoryStore>,
    log: Log,
}

impl Room {
    /// A chat as a process has it after a restart.
    fn chat(&self, model: ScriptedModel) -> Chat {
        let halt = Tool::builder("halt", "Never ends.");
        let halt = halt.run_async(|_, _| std::future::pending::<String>()).unwrap();
        let chat = builder(model, vec![halt, pay(&self.log)]).window(HistoryWindow::all());
        chat.store(Arc::clone(&self.store)).build()
    }

    /// Asks after an entry, or the newest; returns the texts that the model has read, and the id of the end of the turn.
    async fn ask(&self, after: Option<&str>, question: &str) -> (Vec<String>, String) {
        let model = ScriptedModel::new().replies(question.to_uppercase());
        let mut request = self.chat(model.clone()).message().conversation(ROOM).user(question);
        if let Some(after) = after {
            request = request.after(after);
        }
        let response = request.call().await.unwrap();
        assert_eq!(response.text(), question.to_uppercase());
        (texts(&model.requests()[0].messages), response.entries().last().unwrap().id.clone())
    }

    async fn path(&self, end: Option<&str>) -> Vec<String> {
        ids(&load_path(&*self.store, ROOM, end).await.unwrap())
    }

    async fn entries(&self) -> Vec<Entry> {
        stored_entries(&self.store, ROOM).await
    }
}

fn ids(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.id.clone()).collect()
}

fn texts(messages: &[Message]) -> Vec<String> {
    let text = |message: &Message| match message {
        Message::User(content) => match &content[0] {
            Content::Text { text } => text.clone(),
            other => panic!("no text: {other:?}"),
        },
        Message::Step(step) => step.text(),
        Message::Results(results) => results[0].outcome.to_string(),
        other => panic!("not expected: {other:?}"),
    };
    messages.iter().map(text).collect()
}

#[tokio::test]
async fn a_branch_reads_what_is_before_it_and_the_next_message_continues_it() {
    let room = Room::default();
    let (_, a) = room.ask(None, "a").await;
    let (_, b) = room.ask(None, "b").await;
    let to_b = room.path(None).await;
    let (seen, _) = room.ask(Some(&a), "c").await;
    assert_eq!(seen, ["a", "A", "c"]);
    let (seen, _) = room.ask(None, "d").await;
    assert_eq!(seen, ["a", "A", "c", "C", "d"]);
    // What was there stays.
    let entries = room.entries().await;
    assert_eq!(entries.len(), 4 * 3);
    assert_eq!(room.path(Some(&b)).await, to_b);
    let newest: Vec<String> = newest_path(&entries).iter().map(|it| it.id.clone()).collect();
    assert_eq!((newest.len(), room.path(None).await), (3 * 3, newest));
}

#[tokio::test]
async fn a_branch_begins_at_the_root_or_on_another_branch() {
    let room = Room::default();
    let (_, a) = room.ask(None, "a").await;
    let (_, b) = room.ask(None, "b").await;
    let (seen, x) = room.ask(Some(""), "x").await;
    assert_eq!(seen, ["x"]);
    let (seen, c) = room.ask(Some(&a), "c").await;
    assert_eq!(seen, ["a", "A", "c"]);
    let (seen, _) = room.ask(Some(&c), "d").await;
    assert_eq!(seen, ["a", "A", "c", "C", "d"]);
    let (seen, _) = room.ask(Some(&c), "e").await;
    assert_eq!(seen, ["a", "A", "c", "C", "e"]);
    let (seen, _) = room.ask(Some(&b), "f").await;
    assert_eq!(seen, ["a", "A", "b", "B", "f"]);
    let (seen, _) = room.ask(Some(&x), "y").await;
    assert_eq!(seen, ["x", "X", "y"]);
    assert!(room.path(Some("")).await.is_empty());
    assert!(room.path(Some("unknown")).await.is_empty());
}

#[tokio::test]
async fn a_branch_where_no_turn_ends_is_refused_and_changes_nothing() {
    let room = Room::default();
    room.ask(None, "a").await;
    let model = ScriptedModel::new().calls("pay", r#"{"n": 1}"#);
    let request = room.chat(model).message().conversation(ROOM).user("Pay!");
    let paused = request.call().await.unwrap();
    let before = room.entries().await;
    let inside = before.iter().filter(|it| !matches!(it.body, EntryBody::TurnEnded { .. }));
    let inside: Vec<&str> = inside.map(|entry| entry.id.as_str()).collect();
    assert_eq!(inside.len(), 2 + 3);
    let model = ScriptedModel::new();
    for refused in inside.into_iter().chain(["unknown"]) {
        let request = room.chat(model.clone()).message().conversation(ROOM).user("b");
        match request.after(refused).call().await {
            Err(ChatError::NoTurnEnd { entry }) => assert_eq!(entry, refused),
            other => panic!("{refused}: {other:?}"),
        }
        assert_eq!(ids(&room.entries().await), ids(&before));
    }
    assert!(model.requests().is_empty());
    // The open turn still waits.
    let decided = vec![paused.pending_approvals()[0].approve()];
    let chat = room.chat(ScriptedModel::new().replies("Paid."));
    assert_eq!(chat.submit_approvals(ROOM, decided).call().await.unwrap().text(), "Paid.");
    assert_eq!(room.log.lines(), ["pay 1"]);
}

#[tokio::test]
async fn an_open_turn_is_ended_before_the_branch_begins() {
    let room = Room::default();
    let (_, a) = room.ask(None, "a").await;
    let model = ScriptedModel::new().calls("pay", r#"{"n": 1}"#);
    let request = room.chat(model).message().conversation(ROOM).user("Pay!");
    let paused = request.call().await.unwrap();
    let before = room.entries().await.len();
    let (seen, _) = room.ask(Some(&a), "b").await;
    assert_eq!(seen, ["a", "A", "b"]);
    let entries = room.entries().await;
    assert_complete(&entries);
    let [finished, ended, message, ..] = &entries[before..] else { panic!("{entries:?}") };
    assert!(
        matches!(&finished.body, EntryBody::CallFinished { result } if result.outcome == Outcome::Denied)
    );
    assert!(matches!(ended.body, EntryBody::TurnEnded { end: TurnEnd::Cancelled }));
    assert_eq!(message.after, Some(a));
    // Its decision is too late, and it can be continued.
    let decided = vec![paused.pending_approvals()[0].approve()];
    room.chat(ScriptedModel::new()).submit_approvals(ROOM, decided).call().await.unwrap_err();
    assert!(room.log.is_empty());
    let (seen, _) = room.ask(Some(&ended.id), "c").await;
    assert_eq!(seen, ["a", "A", "Pay!", "", "denied", "c"]);
}

#[tokio::test]
async fn a_turn_that_was_interrupted_on_a_branch_resumes_there() {
    let room = Room::default();
    let (_, a) = room.ask(None, "a").await;
    room.ask(None, "b").await;
    let chat = room.chat(ScriptedModel::new().calls("halt", "{}"));
    let request = chat.message().conversation(ROOM).user("c").after(a);
    assert!(request.call().now_or_never().is_none());
    let model = ScriptedModel::new().replies("Again.");
    let response = room.chat(model.clone()).resume(ROOM).call().await.unwrap();
    assert_eq!(response.text(), "Again.");
    assert_eq!(texts(&model.requests()[0].messages), ["a", "A", "c", "", "outcome_unknown"]);
    let (seen, _) = room.ask(None, "d").await;
    assert_eq!(seen, ["a", "A", "c", "", "outcome_unknown", "Again.", "d"]);
}

/// Turns of a message and its end.
fn turns(name: &str, count: usize, after: Option<&str>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for n in 0..count {
        let content = vec![Content::text(format!("{name}{n}"))];
        let message = EntryBody::User { content };
        entries.push(Entry::new(format!("{name}{n}"), 0, message));
        let ended = EntryBody::TurnEnded { end: TurnEnd::Answered };
        entries.push(Entry::new(format!("{name}{n} ends"), 0, ended));
    }
    entries[0].after = after.map(str::to_owned);
    entries
}

#[tokio::test]
async fn a_path_is_read_whole_however_many_pages_its_branches_have() {
    // Pages have 128 and 1,024 entries, two for each turn.
    for trunk in [1, 63, 513] {
        for branch in [1, 64, 65, 512] {
            let room = Room::default();
            let end = format!("t{} ends", trunk - 1);
            let entries = [
                turns("t", trunk, None),
                turns("other", 100, None),
                turns("b", branch, Some(&end)),
                turns("aside", 70, Some("other9 ends")),
                turns("c", 2, Some(&format!("b{} ends", branch - 1))),
            ];
            let path = [&*entries[0], &*entries[2], &*entries[4]].concat();
            let entries = entries.concat();
            store_entries(&room.store, ROOM, &entries).await;
            let case = format!("{trunk} turns, a branch of {branch}");
            assert_eq!(room.path(None).await, ids(&path), "{case}");
            let newest: Vec<String> =
                newest_path(&entries).iter().map(|it| it.id.clone()).collect();
            assert_eq!(newest, ids(&path), "{case}");
            for window in [
                HistoryWindow::all(),
                HistoryWindow::all().turns(branch + 2),
                HistoryWindow::default(),
            ] {
                let read = window.load_entries(&*room.store, ROOM).await.unwrap();
                let seen = texts(&window.select_messages(&read));
                assert_eq!(seen, texts(&window.select_messages(&path)), "{case}");
            }
        }
    }
}
