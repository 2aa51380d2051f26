//! The usage and cost of a turn, and its stop reasons.

use toolwright::chat::{
    ChatBuilder, ChatEvent, Item, ItemKind, Message, Model, ModelErrorKind, ModelId, ModelRequest,
    Price, Prices, StopReason, TurnEnd, Usage,
};
use toolwright::testing::{ModelReply, ScriptedModel};
use toolwright::{Bundle, Content, ToolCall};

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

/// The usage and cost of each step.
fn steps(events: &[ChatEvent]) -> Vec<(Usage, Option<f64>)> {
    let steps = events.iter().filter_map(|event| match event {
        ChatEvent::Step { usage, cost, .. } => Some((*usage, *cost)),
        _ => None,
    });
    steps.collect()
}

/// A chat with a model of a known price, 1 for each token.
fn priced(model: impl Model, tools: impl Bundle) -> ChatBuilder {
    let prices = Prices::default().with("vendor:big", Price::new(1e6, 1e6));
    builder(model, tools).prices(prices)
}

#[tokio::test]
async fn usage_that_no_vendor_reports_is_estimated_and_costs() {
    let question = "x".repeat(4_000);
    let reply = |usage: Usage| {
        let answer = move |_: &ModelRequest| ModelReply::text("y".repeat(400)).usage(usage);
        ScriptedModel::new().replies_with(answer).with_id(ModelId::new("vendor", "big"))
    };
    for (reported, input, output) in [
        (Usage::default(), 1_000..1_100, 100..110),
        (Usage::new(0, 7), 1_000..1_100, 7..8),
        (Usage::new(7, 0), 7..8, 100..110),
    ] {
        let chat = priced(reply(reported), none()).build();
        let (events, _) = events(chat.message().user(&*question).stream()).await;
        let [(usage, cost)] = steps(&events)[..] else { panic!("{events:?}") };
        assert!(usage.estimated, "{usage:?}");
        assert!(input.contains(&usage.input) && output.contains(&usage.output), "{usage:?}");
        assert_eq!(cost, Some(usage.total() as f64));
        match events.last() {
            Some(ChatEvent::TurnEnded { usage: total, .. }) => assert_eq!(*total, usage),
            other => panic!("{other:?}"),
        }
    }
    let chat = priced(reply(Usage::new(7, 7)), none()).build();
    assert!(!chat.message().user("?").call().await.unwrap().usage().estimated);
}

#[tokio::test]
async fn the_tools_of_a_request_are_part_of_the_estimate_and_the_bytes_of_an_image_are_not() {
    let log = Log::default();
    let silent = || {
        ScriptedModel::new()
            .replies_with(|_| ModelReply::text("Yes.").usage(Usage::default()))
            .with_id(ModelId::new("vendor", "big"))
    };
    let without = priced(silent(), none()).build().message().user("?").call().await.unwrap();
    let with = priced(silent(), read_tool(&log)).build().message().user("?").call().await.unwrap();
    assert!(with.usage().input > without.usage().input + 10);
    let image = vec![Content::image("image/png", &[7; 1_000_000])];
    let seen = priced(silent(), none()).build().message().user(image).call().await.unwrap();
    assert!((1_500..1_600).contains(&seen.usage().input), "{:?}", seen.usage());
}

#[tokio::test]
async fn an_answer_that_fails_in_the_middle_costs_and_a_request_that_fails_does_not() {
    let id = || ModelId::new("vendor", "big");
    let broken = ScriptedModel::new().with_id(id()).replies_with(|_| {
        ModelReply::text("Once upon a time").then_error(ModelErrorKind::Network, "it is gone")
    });
    let (events, error) =
        events(priced(broken, none()).build().message().user("Tell!").stream()).await;
    assert_eq!(error.unwrap().to_string(), "it is gone");
    let [(usage, Some(cost))] = steps(&events)[..] else { panic!("{events:?}") };
    assert!(usage.estimated && usage.output == 4 && cost > 4.0, "{usage:?}");
    let refused = ScriptedModel::new()
        .with_id(id())
        .replies_with(|_| ModelReply::error(ModelErrorKind::Auth, "who are you?"));
    let chat = priced(refused, none()).build();
    let (events, _) = crate::support::events(chat.message().user("Tell!").stream()).await;
    assert!(steps(&events).is_empty());
}

#[tokio::test]
async fn where_the_cost_is_limited_a_model_without_a_price_is_not_called() {
    let model = || ScriptedModel::new().replies("Free?").with_id(ModelId::new("vendor", "new"));
    let limited = model();
    let chat = priced(limited.clone(), none()).configure_limits(|limits| limits.cost = Some(1.0));
    let error = chat.build().message().user("?").call().await.unwrap_err().to_string();
    assert!(error.contains("the price of `vendor:new` is not known"), "{error}");
    assert!(limited.requests().is_empty());
    let required = model();
    let chat = priced(required.clone(), none()).build();
    chat.message().require_price().user("?").call().await.unwrap_err();
    assert!(required.requests().is_empty());
    assert_eq!(chat.message().user("?").call().await.unwrap().cost(), None);
}
