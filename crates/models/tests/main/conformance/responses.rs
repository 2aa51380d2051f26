//! What an answer says, however it comes.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use toolwright_chat::{ItemKind, ModelEvent, StopReason};

use crate::canned_transport::{
    CannedResponse, CannedTransport, ask, builder, told, weather_request,
};
use crate::protocol_fixture::{ProtocolFixture, ReplyPart, ScenarioReply, call};

const ROME: &str = r#"{"city": "Rome"}"#;

/// Something of everything.
fn everything() -> ScenarioReply {
    ScenarioReply::new([
        ReplyPart::Reasoning("They ask for the weather.", "c2VhbA=="),
        ReplyPart::Text("Let me look, ¿vale? 🌍"),
        call("call_1", "weather", ROME),
        call("call_2", "clock", ""),
    ])
}

pub(crate) async fn a_text_comes_in_pieces_and_then_whole(speaker: &dyn ProtocolFixture) {
    let said = ScenarioReply::new([ReplyPart::Text("It is sunny there.")]);
    let told = told(speaker, CannedResponse::ok(speaker.streamed(&said))).await;
    assert!(matches!(told.events[0], ModelEvent::RequestSent(_)));
    assert!(told.texts().len() > 1, "{:?}", told.texts());
    assert_eq!(told.texts().concat(), "It is sunny there.");
    let text = ItemKind::Text {
        text: "It is sunny there.".to_owned(),
    };
    assert_eq!(told.kinds(), [&text]);
    assert_eq!(told.finished().0, StopReason::End);
}

pub(crate) async fn one_call_is_told_as_it_comes_and_then_whole(speaker: &dyn ProtocolFixture) {
    let said = ScenarioReply::new([call("call_1", "weather", ROME)]);
    let told = told(speaker, CannedResponse::ok(speaker.streamed(&said))).await;
    let started = told.events.iter().find_map(|event| match event {
        ModelEvent::CallBegins { index, id, name } => Some((*index, id.clone(), name.clone())),
        _ => None,
    });
    let calls = told.calls();
    assert_eq!(started, Some((0, calls[0].id.clone(), "weather".into())));
    let deltas: String = told
        .events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::CallDelta { index: 0, delta } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&deltas), value(ROME));
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].name, "weather");
    assert_eq!(calls[0].id, "call_1");
    assert_eq!(value(calls[0].arguments.as_str()), value(ROME));
    assert_eq!(told.finished().0, StopReason::Calls);
}

pub(crate) async fn calls_beside_each_other_stay_apart(speaker: &dyn ProtocolFixture) {
    let cities = ["Rome", "Oslo", "Lima"];
    let calls = cities.iter().enumerate().map(|(place, city)| {
        let arguments = format!(r#"{{"city":"{city}"}}"#);
        call(&format!("call_{place}"), "weather", &arguments)
    });
    let told = told(
        speaker,
        CannedResponse::ok(speaker.streamed(&ScenarioReply::new(calls))),
    )
    .await;
    let calls = told.calls();
    assert_eq!(calls.len(), 3);
    for (place, (call, city)) in calls.iter().zip(cities).enumerate() {
        assert_eq!(call.id, *format!("call_{place}"));
        let arguments: serde_json::Value = serde_json::from_str(call.arguments.as_str()).unwrap();
        assert_eq!(arguments["city"], city);
    }
}

pub(crate) async fn empty_arguments_are_none(speaker: &dyn ProtocolFixture) {
    let said = ScenarioReply::new([call("call_1", "clock", "")]);
    for body in [speaker.streamed(&said), speaker.complete_body(&said)] {
        let told = told(speaker, CannedResponse::ok(body)).await;
        let calls = told.calls();
        let arguments = calls[0].arguments.as_str();
        assert!(matches!(arguments, "" | "{}"), "{arguments}");
        assert_eq!(told.finished().0, StopReason::Calls);
    }
}

pub(crate) async fn malformed_arguments_are_delivered_as_they_are(speaker: &dyn ProtocolFixture) {
    for arguments in [
        r#"{"city": "Rome", "city"#,
        "{'city': 'Rome',}",
        "Rome, please",
        r#"{"city": "a" "b"}"#,
    ] {
        let said = ScenarioReply::new([call("call_1", "weather", arguments)]);
        let told = told(speaker, CannedResponse::ok(speaker.streamed(&said))).await;
        let calls = told.calls();
        assert_eq!(
            calls[0].arguments.as_str(),
            speaker.delivered_arguments(arguments)
        );
    }
}

pub(crate) async fn tokens_are_counted(speaker: &dyn ProtocolFixture) {
    for body in [
        speaker.streamed(&everything()),
        speaker.complete_body(&everything()),
    ] {
        let told = told(speaker, CannedResponse::ok(body)).await;
        assert_eq!(told.finished().1, speaker.usage());
    }
}

pub(crate) async fn answers_end_for_the_reasons_there_are(speaker: &dyn ProtocolFixture) {
    let mut cut = ScenarioReply::new([ReplyPart::Text("It is su")]);
    cut.hits_token_limit = true;
    let mut stops = speaker.stop_reasons();
    stops.push((speaker.streamed(&cut), StopReason::Length));
    stops.push((speaker.complete_body(&cut), StopReason::Length));
    for (body, stop) in stops {
        let told = told(speaker, CannedResponse::ok(body)).await;
        assert_eq!(told.finished().0, stop);
    }
}

pub(crate) async fn what_the_vendor_searched_is_told(speaker: &dyn ProtocolFixture) {
    let said = ScenarioReply::new([
        ReplyPart::Search("weather Rome", "https://weather.example"),
        ReplyPart::Text("Sunny."),
    ]);
    let (searches, _) = speaker.hosted_support();
    for body in [speaker.streamed(&said), speaker.complete_body(&said)] {
        let told = told(speaker, CannedResponse::ok(body)).await;
        let hosted: Vec<String> = told
            .kinds()
            .into_iter()
            .filter(
                |kind| matches!(kind, ItemKind::HostedCall { tool, .. } if tool == "web_search"),
            )
            .map(|kind| format!("{kind:?}"))
            .collect();
        let hosted = hosted.concat();
        for part in ["weather Rome", "https://weather.example"] {
            assert_eq!(hosted.contains(part), searches, "{hosted}");
        }
        assert_eq!(told.texts().concat(), "Sunny.");
        // Nobody here is to run it.
        assert_eq!(told.finished().0, StopReason::End);
    }
}

pub(crate) async fn unknown_items_and_events_do_no_harm(speaker: &dyn ProtocolFixture) {
    let plain = everything();
    let known = told(speaker, CannedResponse::ok(speaker.streamed(&plain))).await;
    let more = speaker.unknown_event() + &speaker.streamed(&plain);
    let told_more = told(speaker, CannedResponse::ok(more)).await;
    assert_eq!(told_more.comparable(), known.comparable());
    let mut strange = plain;
    strange.parts.push(ReplyPart::Unknown);
    let told = told(speaker, CannedResponse::ok(speaker.streamed(&strange))).await;
    let others = told.items().into_iter().filter(|item| {
        item.kind == ItemKind::Other
            && item
                .raw
                .as_ref()
                .is_some_and(|raw| raw.json.get().contains("1.5"))
    });
    assert_eq!(others.count(), 1);
    assert_eq!(told.calls(), known.calls());
}

pub(crate) async fn an_answer_in_one_piece_says_the_same(speaker: &dyn ProtocolFixture) {
    let streamed = told(speaker, CannedResponse::ok(speaker.streamed(&everything()))).await;
    let line = CannedTransport::new([CannedResponse::ok(speaker.complete_body(&everything()))
        .header("content-type", "application/json")]);
    let model = builder(speaker, &line).streaming(false).build().unwrap();
    let whole = ask(&model, weather_request()).await;
    assert!(!speaker.requests_stream(&line.requests()[0]));
    assert_eq!(whole.normalized_kinds(), streamed.normalized_kinds());
    assert_eq!(whole.finished(), streamed.finished());
    assert_eq!(whole.texts().concat(), streamed.texts().concat());
    // A vendor that streams all the same is understood too.
    let streams = CannedResponse::ok(speaker.streamed(&everything()))
        .header("content-type", speaker.content_type());
    let line = CannedTransport::new([streams]);
    let model = builder(speaker, &line).streaming(false).build().unwrap();
    assert_eq!(
        ask(&model, weather_request()).await.comparable(),
        streamed.comparable()
    );
}

pub(crate) async fn one_piece_where_a_stream_was_asked_for_is_read_all_the_same(
    speaker: &dyn ProtocolFixture,
) {
    let streamed = told(speaker, CannedResponse::ok(speaker.streamed(&everything()))).await;
    for label in ["application/json", "application/json; charset=utf-8"] {
        let body =
            CannedResponse::ok(speaker.complete_body(&everything())).header("content-type", label);
        let line = CannedTransport::new([body]);
        let whole = ask(
            &crate::canned_transport::model(speaker, &line),
            weather_request(),
        )
        .await;
        assert!(speaker.requests_stream(&line.requests()[0]));
        assert_eq!(whole.normalized_kinds(), streamed.normalized_kinds());
        assert_eq!(whole.finished(), streamed.finished());
    }
}

pub(crate) async fn answers_do_not_depend_on_where_they_are_cut(speaker: &dyn ProtocolFixture) {
    for (body, label) in [
        (speaker.streamed(&everything()), speaker.content_type()),
        (speaker.complete_body(&everything()), "application/json"),
    ] {
        let body = body.into_bytes();
        let uncut = told(
            speaker,
            CannedResponse::ok(body.clone()).header("content-type", label),
        )
        .await;
        uncut.finished();
        let every: Vec<usize> = (0..body.len()).collect();
        let mut runner = TestRunner::deterministic();
        let random = prop::collection::vec(0..body.len(), 0..40);
        let mut cuts = vec![every];
        for _ in 0..48 {
            cuts.push(random.new_tree(&mut runner).unwrap().current());
        }
        for cut in cuts {
            let canned = CannedResponse::in_chunks(&body, &cut).header("content-type", label);
            let told = told(speaker, canned).await;
            assert_eq!(told.comparable(), uncut.comparable(), "cut at {cut:?}");
        }
    }
}
