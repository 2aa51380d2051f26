//! Lists of conversations.

use toolwright::Content;
use toolwright::chat::{Entry, EntryBody, Owner};

use crate::Backend;
use crate::fixtures::{append, numbered_entries, user_entry};

pub async fn the_latest_conversation_comes_first(backend: &dyn Backend) {
    let store = backend.open().await;
    assert!(store.list(9).await.unwrap().is_empty());
    append(&store, "old", &[user_entry("a", 10, "x")]).await;
    append(&store, "new", &[user_entry("a", 30, "x")]).await;
    append(&store, "c", &[user_entry("a", 20, "x")]).await;
    append(&store, "b", &[user_entry("a", 20, "x")]).await;
    let names = async |most| -> Vec<String> {
        let listed = store.list(most).await.unwrap();
        listed.into_iter().map(|it| it.conversation).collect()
    };
    assert_eq!(names(9).await, ["new", "b", "c", "old"]);
    assert_eq!(names(2).await, ["new", "b"]);
    assert!(names(0).await.is_empty());
    append(&store, "old", &[user_entry("b", 40, "y")]).await;
    assert_eq!(names(9).await, ["old", "new", "b", "c"]);
    let old = store.list(1).await.unwrap().remove(0);
    assert_eq!((old.entries, old.began, old.last), (2, 10, 40));
}

pub async fn the_oldest_of_the_old_conversations_comes_first(backend: &dyn Backend) {
    let store = backend.open().await;
    for (name, at) in [("a", 10), ("b", 30), ("c", 20), ("d", 40)] {
        append(&store, name, &[user_entry("a", at, "x")]).await;
    }
    append(&store, "a", &[user_entry("b", 35, "x")]).await;
    let names = async |time, most| -> Vec<String> {
        let listed = store.list_older_than(time, most).await.unwrap();
        listed.into_iter().map(|it| it.conversation).collect()
    };
    assert_eq!(names(40, 9).await, ["c", "b", "a"]);
    assert_eq!(names(40, 2).await, ["c", "b"]);
    assert_eq!(names(u64::MAX, 9).await.len(), 4);
    assert!(names(20, 9).await.is_empty());
}

pub async fn an_owner_is_shown_its_own_conversations_only(backend: &dyn Backend) {
    let store = backend.open().await;
    let subject = |name: &str| Owner::Subject(name.to_owned());
    let (ada, bob) = (subject("ada"), subject("bob"));
    for (at, name) in [
        ada.stored_name("notes"),
        bob.stored_name("notes"),
        subject("ad").stored_name("a/notes"),
        "notes".to_owned(),
        "/help/7".to_owned(),
        "Zebra".to_owned(),
        ada.stored_name("/help/7"),
    ]
    .iter()
    .enumerate()
    {
        append(&store, name, &[user_entry("a", 10 + at as u64, "x")]).await;
    }
    let names = async |owner: &Owner, most| -> Vec<String> {
        let listed = store.list_by_owner(owner, most).await.unwrap();
        listed.into_iter().map(|it| it.conversation).collect()
    };
    assert_eq!(names(&ada, 9).await, ["@ada//help/7", "@ada/notes"]);
    assert_eq!(names(&ada, 1).await, ["@ada//help/7"]);
    assert_eq!(names(&bob, 9).await, ["@bob/notes"]);
    assert!(names(&subject("eve"), 9).await.is_empty());
    assert_eq!(names(&Owner::Operator, 9).await, ["Zebra", "/help/7", "notes"]);
    assert_eq!(store.list(9).await.unwrap().len(), 7);
}

pub async fn a_title_is_the_beginning_of_the_first_entry(backend: &dyn Backend) {
    let store = backend.open().await;
    let long = format!("  What\n\tis  it? {}", "é".repeat(100));
    append(&store, "a", &[user_entry("1", 4, &long), user_entry("2", 4, "No.")]).await;
    append(&store, "b", &[user_entry("1", 3, "A\0B")]).await;
    let picture = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned() };
    let what = EntryBody::User { content: vec![picture, Content::text("This")] };
    append(&store, "c", &[Entry::new("1", 2, what)]).await;
    append(&store, "d", &numbered_entries(1, 1)).await;
    let listed = backend.open().await.list(9).await.unwrap();
    let titles: Vec<&str> = listed.iter().map(|it| it.title.as_str()).collect();
    let long = format!("What is it? {}", "é".repeat(68));
    assert_eq!(titles, [long.as_str(), "A\0B", "This", "entry 1"]);
}
