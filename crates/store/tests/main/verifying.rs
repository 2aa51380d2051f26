//! A store is checked for damage.

use std::sync::Arc;

use toolwright::chat::{Entry, EntryBody, import_journal, sign_imported_decisions};
use toolwright::testing::ScriptedModel;
use toolwright_store::verify;

use crate::backend::Backend;
use crate::fixtures::{Log, append, chat, inbox_message, numbered_entries, pay_tool};

/// Damages a store in each way; each has one problem, which names the conversation and the entry.
async fn check(backend: Backend) {
    let store = backend.open().await;
    append(&store, "room", &numbered_entries(0, 3)).await;
    append(&store, "other", &numbered_entries(0, 2)).await;
    store.push_inbox("room", &inbox_message("m", "Hi"), 9).await.unwrap().unwrap();
    let intact = verify(&backend.url()).await.unwrap();
    assert_eq!((intact.conversations, intact.entries, intact.inbox_items), (2, 5, 1));
    assert_eq!(intact.problems, []);
    let stray = r#"{"id":"1","at":1,"what":{"started":{"call":"c"}}}"#;
    for (damage, repair, expected) in [
        (
            "UPDATE conversations SET entries = 4 WHERE entries = 3".to_owned(),
            "UPDATE conversations SET entries = 3 WHERE entries = 4",
            "conversation `room`: it has 3 entries, and its row counts 4",
        ),
        (
            "UPDATE conversations SET last = 9 WHERE entries = 3".to_owned(),
            "UPDATE conversations SET last = 2 WHERE entries = 3",
            "conversation `room`: its title or times are not those of its entries",
        ),
        (
            "UPDATE inbox SET payload = '{' WHERE position = 1".to_owned(),
            "UPDATE inbox SET payload = '\"stop\"' WHERE position = 1",
            "conversation `room`: inbox item `m` cannot be read: ",
        ),
        (
            "UPDATE inbox SET position = 7 WHERE position = 1".to_owned(),
            "UPDATE inbox SET position = 1 WHERE position = 7",
            "conversation `room`: inbox item `m` is after the last position of its row",
        ),
        (
            format!("UPDATE entries SET entry = '{stray}' WHERE id = '1' AND conversation = 2"),
            "UPDATE entries SET entry = '{' WHERE id = '1' AND conversation = 2",
            "conversation `other`: entry `1` tells something of call `c`",
        ),
        (
            "UPDATE entries SET id = '9' WHERE id = '0' AND conversation = 1".to_owned(),
            "UPDATE entries SET id = '0' WHERE id = '9' AND conversation = 1",
            "conversation `room`: entry `9` has the id `0` in its JSON",
        ),
    ] {
        backend.update(&damage).await;
        let problems = verify(&backend.url()).await.unwrap().problems;
        let matches =
            problems.iter().filter(|problem| problem.to_string().starts_with(expected)).count();
        assert_eq!(matches, 1, "{expected}: {problems:?}");
        backend.update(repair).await;
    }
    let problems = verify(&backend.url()).await.unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].entry.as_deref(), Some("1"));
    let problem = problems[0].to_string();
    assert!(problem.starts_with("conversation `other`: entry `1` cannot be read: "), "{problem}");
    assert!(problem.ends_with("; restore a backup, or delete the conversation"), "{problem}");
}

/// Changes a decision, with and without its signature, and removes the key of another one; an import is no problem.
async fn check_signatures(backend: Backend) {
    let store = backend.open().await;
    let model = ScriptedModel::new().calls("pay", r#"{"amount": 1}"#);
    let model = model.replies("Paid.");
    let chat = chat(model, vec![pay_tool(&Log::default())], Arc::clone(&store));
    let paused = chat.message().conversation("room").user("Pay 1.").call().await.unwrap();
    let approve = paused.pending_approvals()[0].approve();
    chat.submit_approvals("room", vec![approve]).call().await.unwrap();
    let entries = store.load("room").await.unwrap();
    let (mut imported, _) = import_journal(entries.clone());
    let keys = store.signing_keys().await.unwrap();
    sign_imported_decisions(&keys, "imported", &mut imported);
    append(&store, "imported", &imported).await;
    let decided = |entry: &&Entry| matches!(entry.body, EntryBody::ApprovalDecided { .. });
    let decided = entries.iter().find(decided).unwrap();
    assert_eq!(verify(&backend.url()).await.unwrap().problems, []);
    store.rotate_signing_key(2).await.unwrap();
    assert_eq!(verify(&backend.url()).await.unwrap().problems, []);
    let text = serde_json::to_string(decided).unwrap();
    let update = |text: &str| {
        format!(
            "UPDATE entries SET entry = '{text}' WHERE id = '{}' AND conversation = 1",
            decided.id
        )
    };
    let changed = text.replace(r#""approve""#, r#""deny","reason":"no""#);
    assert_ne!(text, changed);
    backend.update(&update(&changed)).await;
    let problems = verify(&backend.url()).await.unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].entry.as_ref(), Some(&decided.id));
    assert_eq!(problems[0].conversation, "room");
    // Without its signature, or with the one of an import of another conversation.
    let unsigned = |changed: &str| serde_json::from_str::<Entry>(changed).unwrap().without_mac();
    let moved = imported.iter().find(|entry| entry.id == decided.id).unwrap();
    for altered in [unsigned(&changed), unsigned(&text), moved.clone()] {
        backend.update(&update(&serde_json::to_string(&altered).unwrap())).await;
        let problems = verify(&backend.url()).await.unwrap().problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].entry.as_ref(), Some(&decided.id));
    }
    backend.update(&update(&text)).await;
    assert_eq!(verify(&backend.url()).await.unwrap().problems, []);
    store.rotate_signing_key(2).await.unwrap();
    // The key of both decisions is gone.
    assert_eq!(verify(&backend.url()).await.unwrap().problems.len(), 2);
}

#[tokio::test]
async fn damage_in_a_file_is_reported() {
    check(Backend::sqlite()).await;
}

#[tokio::test]
async fn damage_in_a_database_is_reported() {
    if let Some(backend) = Backend::postgres().await {
        check(backend).await;
    }
}

#[tokio::test]
async fn a_decision_that_was_changed_is_reported() {
    check_signatures(Backend::sqlite()).await;
}

#[tokio::test]
async fn a_decision_that_was_changed_in_a_database_is_reported() {
    if let Some(backend) = Backend::postgres().await {
        check_signatures(backend).await;
    }
}
