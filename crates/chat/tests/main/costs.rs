//! What a turn took and cost, and why its answers ended.

use toolwright::chat::testing::{Reply, ScriptedModel};
use toolwright::chat::{
    ChatEvent, End, Item, ItemKind, Message, ModelId, Price, Prices, Stop, Usage,
};
use toolwright::{Content, ToolCall};

use crate::scene::{Log, builder, chat, ended, events, look, none};

fn two_rounds() -> ScriptedModel {
    ScriptedModel::new()
        .answers(|_| Reply::call(ToolCall::new("look", "{}")).usage(Usage::new(1_000, 100)))
        .answers(|_| Reply::text("Done.").usage(Usage::new(2_000, 200)))
}

#[tokio::test]
async fn usage_and_cost_are_summed_over_the_turn() {
    let log = Log::default();
    let model = two_rounds().named(ModelId::new("vendor", "big"));
    let prices = Prices::default().with("vendor:big", Price::new(1.0, 10.0));
    let chat = builder(model, look(&log)).prices(prices).build();
    let (events, _) = events(chat.prompt().user("Go!").stream()).await;
    let steps: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ChatEvent::Step { usage, cost, .. } => Some((usage.total(), *cost)),
            _ => None,
        })
        .collect();
    assert_eq!(steps, [(1_100, Some(0.002)), (2_200, Some(0.004))]);
    match events.last().unwrap() {
        ChatEvent::Ended { usage, cost, .. } => {
            assert_eq!((usage.input, usage.output), (3_000, 300));
            assert_eq!(*cost, Some(0.006));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_unknown_price_is_no_price_and_demo_is_free() {
    for (id, cost) in [
        (ModelId::new("vendor", "big"), None),
        (ModelId::new("demo", ""), Some(0.0)),
    ] {
        let log = Log::default();
        let chat = chat(two_rounds().named(id), look(&log));
        let response = chat.prompt().user("Go!").call().await.unwrap();
        assert_eq!(response.cost(), cost);
        assert_eq!(response.usage().total(), 3_300);
    }
}

#[tokio::test]
async fn each_turn_is_counted_by_itself() {
    let model = ScriptedModel::new().says("One.").says("Two.");
    let chat = chat(model, none());
    for _ in 0..2 {
        let ask = chat.prompt().conversation("room").user("?");
        assert_eq!(ask.call().await.unwrap().usage().total(), 15);
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_keeps_its_text() {
    let model = ScriptedModel::new().answers(|_| Reply::text("Once upon a").stop(Stop::Length));
    let response = chat(model, none())
        .prompt()
        .user("Tell!")
        .call()
        .await
        .unwrap();
    assert_eq!(response.end(), Some(&End::Length));
    assert_eq!(response.text(), "Once upon a");
}

#[tokio::test]
async fn an_answer_that_is_filtered_is_an_error_that_says_so() {
    let model = ScriptedModel::new().answers(|_| Reply::text("Take two").stop(Stop::Filtered));
    let chat = chat(model, none());
    let (reason, response) = ended(chat.prompt().user("How?").call().await);
    assert_eq!(reason, "the vendor's filter stopped the answer");
    assert_eq!(response.text(), "Take two");
}

#[tokio::test]
async fn a_paused_answer_is_asked_to_go_on() {
    let model = ScriptedModel::new()
        .answers(|_| Reply::text("Searching…").stop(Stop::Paused))
        .answers(|_| Reply::of(Vec::new()).stop(Stop::Paused))
        .says("Found.");
    let chat = chat(model.clone(), none());
    let response = chat.prompt().user("Search!").call().await.unwrap();
    assert_eq!(response.text(), "Found.");
    let messages = &model.requests()[2].messages;
    assert!(matches!(
        messages.as_slice(),
        [Message::User(_), Message::Step(_), Message::Step(_)]
    ));
}

#[tokio::test]
async fn a_refusal_is_shown() {
    let model = ScriptedModel::new().answers(|_| {
        let text = "I would rather not.".to_owned();
        Reply::of(vec![Item::new(ItemKind::Refusal { text })]).stop(Stop::Refused)
    });
    let chat = chat(model, none());
    let (events, _) = events(chat.prompt().user("Do it!").stream()).await;
    match events.last().unwrap() {
        ChatEvent::Ended { end, content, .. } => {
            assert_eq!(*end, End::Answered);
            assert_eq!(*content, [Content::text("I would rather not.")]);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_other_stop_is_an_answer() {
    for stop in [Stop::End, Stop::Calls, Stop::Other("odd".to_owned())] {
        let model = ScriptedModel::new().answers(move |_| Reply::text("Yes.").stop(stop.clone()));
        let response = chat(model, none()).prompt().user("?").call().await.unwrap();
        assert_eq!(
            (response.text().as_str(), response.end()),
            ("Yes.", Some(&End::Answered))
        );
    }
}
