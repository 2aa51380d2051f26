//! What is streamed, and in which order.

use toolwright_chat::{ItemKind, ModelEvent, StopReason};

use crate::bundles::assistant;

/// Each event by the first letter of its name: text, begin, delta, item, finished.
fn order(events: &[ModelEvent]) -> String {
    let letter = |event: &ModelEvent| match event {
        ModelEvent::Text(_) => 't',
        ModelEvent::CallBegins { .. } => 'b',
        ModelEvent::CallDelta { .. } => 'd',
        ModelEvent::Item(_) => 'i',
        ModelEvent::Finished { .. } => 'f',
        _ => '?',
    };
    let mut order: Vec<char> = events.iter().map(letter).collect();
    order.dedup();
    order.into_iter().collect()
}

#[tokio::test]
async fn text_comes_in_pieces_and_then_whole() {
    let mut talk = assistant();
    talk.say("hello");
    let events = talk.events().await;
    assert_eq!(order(&events), "tif");
    let mut pieces = String::new();
    let mut count = 0;
    for event in &events {
        match event {
            ModelEvent::Text(piece) => {
                pieces.push_str(piece);
                count += 1;
            }
            ModelEvent::Item(item) => {
                let text = pieces.clone();
                assert_eq!(item.kind, ItemKind::Text { text });
            }
            ModelEvent::Finished { stop, .. } => assert_eq!(*stop, StopReason::End),
            _ => {}
        }
    }
    assert!(count > 3, "{events:?}");
}

#[tokio::test]
async fn calls_begin_grow_and_are_whole_one_after_the_other() {
    let mut talk = assistant();
    talk.say("time in Tokyo and the weather in London");
    let events = talk.events().await;
    assert_eq!(order(&events), "bdibdif");
    let mut text = String::new();
    for event in &events {
        match event {
            ModelEvent::CallBegins { .. } => text.clear(),
            ModelEvent::CallDelta { delta, .. } => text.push_str(delta),
            ModelEvent::Item(item) => match &item.kind {
                ItemKind::Call { call } => assert_eq!(call.arguments.as_str(), text),
                other => panic!("{other:?}"),
            },
            ModelEvent::Finished { stop, .. } => assert_eq!(*stop, StopReason::Calls),
            _ => {}
        }
    }
}

#[tokio::test]
async fn the_same_request_is_answered_the_same() {
    let mut talk = assistant();
    talk.say("What is the weather in Paris and what time is it in Rome?");
    let first = format!("{:?}", talk.events().await);
    for _ in 0..20 {
        assert_eq!(format!("{:?}", talk.events().await), first);
    }
}
