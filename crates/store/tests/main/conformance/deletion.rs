//! Deleted conversations.

use toolwright::chat::{Append, Lease};

use crate::backend::Backend;
use crate::fixtures::{acquire, append, ids, numbered_entries};

pub(crate) async fn a_deleted_conversation_is_gone_and_others_stay(backend: &Backend) {
    let store = backend.open().await;
    append(&store, "other", &numbered_entries(0, 3)).await;
    append(&store, "room", &numbered_entries(0, 3)).await;
    let room = acquire(&store, "room").await;
    assert!(store.delete(&room).await.unwrap());
    assert!(!store.delete(&room).await.unwrap(), "it is gone already");
    let store = backend.open().await;
    assert!(store.load("room").await.unwrap().is_empty());
    assert_eq!(store.load("other").await.unwrap().len(), 3);
    assert_eq!(store.list(9).await.unwrap().len(), 1);
    // A new conversation may have the ids of the deleted one.
    store.append(&room, Append::new(&numbered_entries(2, 2))).await.unwrap();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["2", "3"]);
    let listed = store.list(1).await.unwrap().remove(0);
    assert_eq!((listed.title.as_str(), listed.entries), ("entry 2", 2));
    assert_eq!((listed.began, listed.last), (2, 3));
}

pub(crate) async fn only_the_holder_of_its_lease_deletes_a_conversation(backend: &Backend) {
    let store = backend.open().await;
    append(&store, "room", &numbered_entries(0, 3)).await;
    let other = Lease::new("room", "other", 1);
    store.delete(&other).await.unwrap_err();
    let room = acquire(&store, "room").await;
    let error = store.delete(&other).await.unwrap_err().to_string();
    assert!(error.contains("in the hands of another"), "{error}");
    assert_eq!(store.load("room").await.unwrap().len(), 3);
    assert!(store.delete(&room).await.unwrap());
}
