//! What conversations there are.

use toolwright::Content;
use toolwright::chat::{Entry, Owner, What};

use crate::backend::Place;
use crate::fixtures::{said, several, tell};

pub(crate) async fn the_latest_conversation_comes_first(place: &Place) {
    let store = place.open().await;
    assert!(store.list(9).await.unwrap().is_empty());
    tell(&store, "old", &[said("a", 10, "x")]).await;
    tell(&store, "new", &[said("a", 30, "x")]).await;
    tell(&store, "c", &[said("a", 20, "x")]).await;
    tell(&store, "b", &[said("a", 20, "x")]).await;
    let names = async |most| -> Vec<String> {
        let listed = store.list(most).await.unwrap();
        listed.into_iter().map(|it| it.conversation).collect()
    };
    assert_eq!(names(9).await, ["new", "b", "c", "old"]);
    assert_eq!(names(2).await, ["new", "b"]);
    assert!(names(0).await.is_empty());
    tell(&store, "old", &[said("b", 40, "y")]).await;
    assert_eq!(names(9).await, ["old", "new", "b", "c"]);
    let old = store.list(1).await.unwrap().remove(0);
    assert_eq!((old.entries, old.began, old.last), (2, 10, 40));
}

pub(crate) async fn an_owner_is_shown_its_own_conversations_only(place: &Place) {
    let store = place.open().await;
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
        tell(&store, name, &[said("a", 10 + at as u64, "x")]).await;
    }
    let names = async |owner: &Owner, most| -> Vec<String> {
        let listed = store.list_of(owner, most).await.unwrap();
        listed.into_iter().map(|it| it.conversation).collect()
    };
    assert_eq!(names(&ada, 9).await, ["@ada//help/7", "@ada/notes"]);
    assert_eq!(names(&ada, 1).await, ["@ada//help/7"]);
    assert_eq!(names(&bob, 9).await, ["@bob/notes"]);
    assert!(names(&subject("eve"), 9).await.is_empty());
    assert_eq!(
        names(&Owner::Operator, 9).await,
        ["Zebra", "/help/7", "notes"]
    );
    assert_eq!(store.list(9).await.unwrap().len(), 7);
}

pub(crate) async fn a_title_is_the_beginning_of_what_was_said_first(place: &Place) {
    let store = place.open().await;
    let long = format!("  What\n\tis  it? {}", "é".repeat(100));
    tell(&store, "a", &[said("1", 4, &long), said("2", 4, "No.")]).await;
    tell(&store, "b", &[said("1", 3, "A\0B")]).await;
    let picture = Content::Image {
        data: "AAAA".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let what = What::User {
        content: vec![picture, Content::text("This")],
    };
    tell(&store, "c", &[Entry::new("1", 2, what)]).await;
    tell(&store, "d", &several(1, 1)).await;
    let listed = place.open().await.list(9).await.unwrap();
    let titles: Vec<&str> = listed.iter().map(|it| it.title.as_str()).collect();
    let long = format!("What is it? {}", "é".repeat(68));
    assert_eq!(titles, [long.as_str(), "A\0B", "This", "entry 1"]);
}
