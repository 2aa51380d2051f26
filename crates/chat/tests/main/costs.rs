//! The usage and cost of a turn, and its stop reasons.

use toolwright::chat::{
    ChatEvent, Item, ItemKind, Message, ModelId, Price, Prices, StopReason, TurnEnd, Usage,
};
use toolwright::testing::{ModelReply, ScriptedModel};
use toolwright::{Content, ToolCall};

use crate::support::{Log, builder, chat, ended, events, none, read_tool};

fn two_rounds() -> ScriptedModel {
    ScriptedModel::new()
        .replies_with(|_| {
            ModelReply::call(ToolCall::new("look", "{}")).usage(Usage::new(1_000, 100))
        })
        .replies_with(|_| ModelReply::text("Done.").usage(Usage::new(2_000, 200)))
}

#[tokio::test]
async fn usage_and_cost_are_summed_over_the_turn() {
    let log = Log::default();
    let model = two_rounds().with_id(ModelId::new("vendor", "big"));
    let prices = Prices::default().with("vendor:big", Price::new(1.0, 10.0));
    let chat = builder(model, read_tool(&log)).prices(prices).build();
    let (events, _) = events(chat.message().user("Go!").stream()).await;
    let steps: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ChatEvent::Step { usage, cost, .. } => Some((usage.total(), *cost)),
            _ => None,
        })
        .collect();
    assert_eq!(steps, [(1_100, Some(0.002)), (2_200, Some(0.004))]);
    match events.last().unwrap() {
        ChatEvent::TurnEnded { usage, cost, .. } => {
            assert_eq!((usage.input, usage.output), (3_000, 300));
            assert_eq!(*cost, Some(0.006));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_unknown_price_is_no_price_and_demo_is_free() {
    for (id, cost) in [(ModelId::new("vendor", "big"), None), (ModelId::new("demo", ""), Some(0.0))]
    {
        let log = Log::default();
        let chat = chat(two_rounds().with_id(id), read_tool(&log));
        let response = chat.message().user("Go!").call().await.unwrap();
        assert_eq!(response.cost(), cost);
        assert_eq!(response.usage().total(), 3_300);
    }
}

#[tokio::test]
async fn each_turn_is_counted_by_itself() {
    let model = ScriptedModel::new().replies("One.").replies("Two.");
    let chat = chat(model, none());
    for _ in 0..2 {
        let request = chat.message().conversation("room").user("?");
        assert_eq!(request.call().await.unwrap().usage().total(), 15);
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_keeps_its_text() {
    let model = ScriptedModel::new()
        .replies_with(|_| ModelReply::text("Once upon a").stop(StopReason::Length));
    let response = chat(model, none()).message().user("Go!").call().await.unwrap();
    assert_eq!(response.end(), Some(&TurnEnd::Length));
    assert_eq!(response.text(), "Once upon a");
}

#[tokio::test]
async fn an_answer_that_is_filtered_is_an_error_with_the_reason() {
    let model = ScriptedModel::new()
        .replies_with(|_| ModelReply::text("Take two").stop(StopReason::Filtered));
    let chat = chat(model, none());
    let (reason, response) = ended(chat.message().user("How?").call().await);
    assert_eq!(reason, "the vendor's filter stopped the answer");
    assert_eq!(response.text(), "Take two");
}

#[tokio::test]
async fn a_paused_answer_is_asked_to_go_on() {
    let model = ScriptedModel::new()
        .replies_with(|_| ModelReply::text("Searching…").stop(StopReason::Paused))
        .replies_with(|_| ModelReply::from_items(Vec::new()).stop(StopReason::Paused))
        .replies("Found.");
    let chat = chat(model.clone(), none());
    let response = chat.message().user("Search!").call().await.unwrap();
    assert_eq!(response.text(), "Found.");
    let messages = &model.requests()[2].messages;
    assert!(matches!(messages.as_slice(), [Message::User(_), Message::Step(_), Message::Step(_)]));
}

#[tokio::test]
async fn a_refusal_is_shown() {
    let model = ScriptedModel::new().replies_with(|_| {
        let text = "I would rather not.".to_owned();
        ModelReply::from_items(vec![Item::new(ItemKind::Refusal { text })])
            .stop(StopReason::Refused)
    });
    let chat = chat(model, none());
    let (events, _) = events(chat.message().user("Do it!").stream()).await;
    match events.last().unwrap() {
        ChatEvent::TurnEnded { end, content, .. } => {
            assert_eq!(*end, TurnEnd::Answered);
            assert_eq!(*content, [Content::text("I would rather not.")]);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_other_stop_is_an_answer() {
    for stop in [StopReason::End, StopReason::Calls, StopReason::Other("odd".to_owned())] {
        let model =
            ScriptedModel::new().replies_with(move |_| ModelReply::text("Yes.").stop(stop.clone()));
        let response = chat(model, none()).message().user("?").call().await.unwrap();
        assert_eq!((response.text().as_str(), response.end()), ("Yes.", Some(&TurnEnd::Answered)));
    }
}
