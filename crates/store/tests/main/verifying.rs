//! A store is checked for damage.

use toolwright_store::verify;

use crate::backend::Backend;
use crate::fixtures::{append, inbox_message, numbered_entries};

/// Damages a store in each way; each has one problem, which names the conversation and the entry.
async fn check(backend: Backend) {
    let store = backend.open().await;
    append(&store, "room", &numbered_entries(0, 3)).await;
    append(&store, "other", &numbered_entries(0, 2)).await;
    store.push_inbox("room", &inbox_message("m", "Hi"), 9).await.unwrap().unwrap();
    let intact = verify(&backend.url()).await.unwrap();
    assert_eq!((intact.conversations, intact.entries, intact.inbox_items), (2, 5, 1));
    assert_eq!(intact.problems, Vec::<String>::new());
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
        let matches = problems.iter().filter(|problem| problem.starts_with(expected)).count();
        assert_eq!(matches, 1, "{expected}: {problems:?}");
        backend.update(repair).await;
    }
    let problems = verify(&backend.url()).await.unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("conversation `other`: entry `1` cannot be read: "));
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn damage_in_a_file_is_reported() {
    check(Backend::sqlite()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn damage_in_a_database_is_reported() {
    if let Some(backend) = Backend::postgres().await {
        check(backend).await;
    }
}
