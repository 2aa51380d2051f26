//! Turns of a chat, with a restart of the process in between.

use toolwright::chat::{ChatError, Entry, EntryBody, Message};
use toolwright::testing::ScriptedModel;

use crate::Backend;
use crate::fixtures::{Log, append, chat, pay_tool};

pub async fn a_conversation_continues_after_a_restart(backend: &dyn Backend) {
    let log = Log::default();
    for (n, answer) in ["One.", "Two.", "Three."].into_iter().enumerate() {
        let model = ScriptedModel::new().replies(answer);
        let chat = chat(model.clone(), vec![pay_tool(&log)], backend.open().await);
        let ask = chat.message().conversation("room").user(format!("{n}?"));
        assert_eq!(ask.call().await.unwrap().text(), answer);
        let sent = model.requests().remove(0).messages;
        assert_eq!(sent.len(), 2 * n + 1, "{sent:?}");
    }
    let listed = backend.open().await.list(9).await.unwrap();
    assert_eq!((listed[0].title.as_str(), listed.len()), ("0?", 1));
}

pub async fn a_pending_approval_survives_a_restart(backend: &dyn Backend) {
    let log = Log::default();
    let model = ScriptedModel::new().calls("pay", r#"{"amount": 40}"#);
    let first = chat(model, vec![pay_tool(&log)], backend.open().await);
    let ask = first.message().conversation("room").user("Pay!");
    let paused = ask.call().await.unwrap();
    let decided = paused.pending_approvals()[0].approve();
    drop((first, paused));

    let model = ScriptedModel::new().replies("Done.");
    let second = chat(model.clone(), vec![pay_tool(&log)], backend.open().await);
    // The approval is still pending, and nothing has run.
    let pending = second.resume("room").call().await.unwrap();
    assert_eq!(pending.pending_approvals().len(), 1);
    assert_eq!(pending.pending_approvals()[0].arguments, serde_json::json!({"amount": 40}));
    assert_eq!(pending.pending_approvals()[0].token, decided.token);
    assert_eq!(log.lines(), Vec::<String>::new());
    let done = second.submit_approvals("room", vec![decided.clone()]).call().await;
    assert_eq!(done.unwrap().text(), "Done.");
    assert_eq!(log.lines(), ["paid 40"]);
    let sent = model.requests().remove(0).messages;
    assert!(
        matches!(sent.last(), Some(Message::Results(results)) if results[0].text() == "paid 40")
    );

    // An approval is used once, also after a restart.
    let model = ScriptedModel::new();
    let third = chat(model, vec![pay_tool(&log)], backend.open().await);
    let again = third.submit_approvals("room", vec![decided]).call().await;
    assert!(matches!(again, Err(ChatError::Rejected { .. })), "{again:?}");
    assert_eq!(log.lines(), ["paid 40"]);
}

pub async fn an_approval_is_valid_only_for_the_arguments_it_was_requested_for(
    backend: &dyn Backend,
) {
    let log = Log::default();
    let store = backend.open().await;
    let model = ScriptedModel::new().calls("pay", r#"{"amount": 40}"#);
    let first = chat(model, vec![pay_tool(&log)], store.clone());
    let ask = first.message().conversation("room").user("Pay!");
    let decided = ask.call().await.unwrap().pending_approvals()[0].approve();

    // An attacker changes the call's arguments in the journal.
    let changed: Vec<Entry> = store.load("room").await.unwrap();
    let changed = changed.into_iter().map(|entry| {
        let json = serde_json::to_string(&entry).unwrap();
        match entry.body {
            EntryBody::Step { .. } => serde_json::from_str(&json.replace("40", "4000")).unwrap(),
            _ => entry,
        }
    });
    append(&store, "changed", &changed.collect::<Vec<_>>()).await;

    let model = ScriptedModel::new().replies("I could not pay.");
    let second = chat(model.clone(), vec![pay_tool(&log)], backend.open().await);
    let done = second.submit_approvals("changed", vec![decided]).call().await;
    assert_eq!(done.unwrap().text(), "I could not pay.");
    assert_eq!(log.lines(), Vec::<String>::new());
    let sent = model.requests().remove(0).messages;
    let Some(Message::Results(results)) = sent.last() else { panic!("{sent:?}") };
    let result = results[0].text();
    assert!(result.contains("the approval is for another call"), "{result}");
}

pub async fn messages_of_two_processes_wait_for_each_other(backend: &dyn Backend) {
    let chats = [backend.open().await, backend.open().await].map(|store| {
        let model = ScriptedModel::new().replies("1").replies("2").replies("3");
        chat(model, Vec::new(), store)
    });
    let ask = |n: usize| {
        let ask = chats[n % 2].message().conversation("room");
        ask.user(format!("{n}?")).call()
    };
    let answers = futures::future::join_all((0..6).map(ask)).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    let entries = backend.open().await.load("room").await.unwrap();
    // The entries of a turn are not interleaved with those of another.
    let kinds = entries.iter().map(|entry| match entry.body {
        EntryBody::User { .. } => "user",
        EntryBody::Step { .. } => "step",
        EntryBody::TurnEnded { .. } => "ended",
        _ => "other",
    });
    let kinds: Vec<&str> = kinds.collect();
    assert_eq!(kinds, ["user", "step", "ended"].repeat(6));
}
