//! What is forgotten is gone.

use toolwright::chat::Lease;

use crate::backend::Place;
use crate::fixtures::{hold, ids, several, tell};

pub(crate) async fn a_forgotten_conversation_is_gone_and_others_stay(place: &Place) {
    let store = place.open().await;
    tell(&store, "other", &several(0, 3)).await;
    tell(&store, "room", &several(0, 3)).await;
    let room = hold(&store, "room").await;
    assert!(store.forget(&room).await.unwrap());
    assert!(!store.forget(&room).await.unwrap(), "it is gone already");
    let store = place.open().await;
    assert!(store.load("room").await.unwrap().is_empty());
    assert_eq!(store.load("other").await.unwrap().len(), 3);
    assert_eq!(store.list(9).await.unwrap().len(), 1);
    // It begins anew, with ids that were there before.
    store.append(&room, &several(2, 2)).await.unwrap();
    assert_eq!(ids(&store.load("room").await.unwrap()), ["2", "3"]);
    let listed = store.list(1).await.unwrap().remove(0);
    assert_eq!((listed.title.as_str(), listed.entries), ("entry 2", 2));
    assert_eq!((listed.began, listed.last), (2, 3));
}

pub(crate) async fn only_its_holder_forgets_a_conversation(place: &Place) {
    let store = place.open().await;
    tell(&store, "room", &several(0, 3)).await;
    let nobody = Lease::new("room", "nobody");
    store.forget(&nobody).await.unwrap_err();
    let room = hold(&store, "room").await;
    let refused = store.forget(&nobody).await.unwrap_err().to_string();
    assert!(refused.contains("in the hands of another"), "{refused}");
    assert_eq!(store.load("room").await.unwrap().len(), 3);
    assert!(store.forget(&room).await.unwrap());
}
