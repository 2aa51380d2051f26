//! The events of responses.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use toolwright_chat::{ItemKind, ModelEvent, StopReason};
use toolwright_models::Bytes;

use crate::canned_transport::{
    CannedResponse, CannedTransport, ask, builder, collect_response, weather_request,
};
use crate::protocol_fixture::{ProtocolFixture, ReplyPart, ScenarioReply, call};

const ROME: &str = r#"{"city": "Rome"}"#;

/// A part of every kind.
fn everything() -> ScenarioReply {
    ScenarioReply::new([
        ReplyPart::Reasoning("They ask for the weather.", "c2VhbA=="),
        ReplyPart::Text("Let me look, ¿vale? 🌍"),
        call("call_1", "weather", ROME),
        call("call_2", "clock", ""),
    ])
}

pub(crate) async fn a_text_is_streamed_and_then_complete(protocol: &dyn ProtocolFixture) {
    let reply = ScenarioReply::new([ReplyPart::Text("It is sunny there.")]);
    let collected = collect_response(protocol, CannedResponse::ok(protocol.streamed(&reply))).await;
    assert!(matches!(collected.events[0], ModelEvent::RequestSent(_)));
    assert!(collected.texts().len() > 1, "{:?}", collected.texts());
    assert_eq!(collected.texts().concat(), "It is sunny there.");
    let text = ItemKind::Text { text: "It is sunny there.".to_owned() };
    assert_eq!(collected.kinds(), [&text]);
    assert_eq!(collected.finished().0, StopReason::End);
}

pub(crate) async fn one_call_is_streamed_and_then_complete(protocol: &dyn ProtocolFixture) {
    let reply = ScenarioReply::new([call("call_1", "weather", ROME)]);
    let collected = collect_response(protocol, CannedResponse::ok(protocol.streamed(&reply))).await;
    let started = collected.events.iter().find_map(|event| match event {
        ModelEvent::CallBegins { index, id, name } => Some((*index, id.clone(), name.clone())),
        _ => None,
    });
    let calls = collected.calls();
    assert_eq!(started, Some((0, calls[0].id.clone(), "weather".into())));
    let deltas: String = collected
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
    assert_eq!(collected.finished().0, StopReason::Calls);
}

pub(crate) async fn parallel_calls_stay_separate(protocol: &dyn ProtocolFixture) {
    let cities = ["Rome", "Oslo", "Lima"];
    let calls = cities.iter().enumerate().map(|(place, city)| {
        let arguments = format!(r#"{{"city":"{city}"}}"#);
        call(&format!("call_{place}"), "weather", &arguments)
    });
    let collected = collect_response(
        protocol,
        CannedResponse::ok(protocol.streamed(&ScenarioReply::new(calls))),
    )
    .await;
    let calls = collected.calls();
    assert_eq!(calls.len(), 3);
    for (place, (call, city)) in calls.iter().zip(cities).enumerate() {
        assert_eq!(call.id, *format!("call_{place}"));
        let arguments: serde_json::Value = serde_json::from_str(call.arguments.as_str()).unwrap();
        assert_eq!(arguments["city"], city);
    }
}

pub(crate) async fn empty_arguments_are_none(protocol: &dyn ProtocolFixture) {
    let reply = ScenarioReply::new([call("call_1", "clock", "")]);
    for body in [protocol.streamed(&reply), protocol.complete_body(&reply)] {
        let collected = collect_response(protocol, CannedResponse::ok(body)).await;
        let calls = collected.calls();
        let arguments = calls[0].arguments.as_str();
        assert!(matches!(arguments, "" | "{}"), "{arguments}");
        assert_eq!(collected.finished().0, StopReason::Calls);
    }
}

pub(crate) async fn malformed_arguments_are_delivered_as_they_are(protocol: &dyn ProtocolFixture) {
    for arguments in
        [r#"{"city": "Rome", "city"#, "{'city': 'Rome',}", "Rome, please", r#"{"city": "a" "b"}"#]
    {
        let reply = ScenarioReply::new([call("call_1", "weather", arguments)]);
        let collected =
            collect_response(protocol, CannedResponse::ok(protocol.streamed(&reply))).await;
        let calls = collected.calls();
        assert_eq!(calls[0].arguments.as_str(), protocol.delivered_arguments(arguments));
    }
}

pub(crate) async fn tokens_are_counted(protocol: &dyn ProtocolFixture) {
    for body in [protocol.streamed(&everything()), protocol.complete_body(&everything())] {
        let collected = collect_response(protocol, CannedResponse::ok(body)).await;
        assert_eq!(collected.finished().1, protocol.usage());
    }
}

pub(crate) async fn responses_have_their_stop_reason(protocol: &dyn ProtocolFixture) {
    let mut cut = ScenarioReply::new([ReplyPart::Text("It is su")]);
    cut.hits_token_limit = true;
    let mut stops = protocol.stop_reasons();
    stops.push((protocol.streamed(&cut), StopReason::Length));
    stops.push((protocol.complete_body(&cut), StopReason::Length));
    for (body, stop) in stops {
        let collected = collect_response(protocol, CannedResponse::ok(body)).await;
        assert_eq!(collected.finished().0, stop);
    }
}

pub(crate) async fn hosted_searches_are_items(protocol: &dyn ProtocolFixture) {
    let reply = ScenarioReply::new([
        ReplyPart::Search("weather Rome", "https://weather.example"),
        ReplyPart::Text("Sunny."),
    ]);
    let (searches, _) = protocol.hosted_support();
    for body in [protocol.streamed(&reply), protocol.complete_body(&reply)] {
        let collected = collect_response(protocol, CannedResponse::ok(body)).await;
        let hosted: Vec<String> = collected
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
        assert_eq!(collected.texts().concat(), "Sunny.");
        // The vendor ran it, so there is nothing to run.
        assert_eq!(collected.finished().0, StopReason::End);
    }
}

pub(crate) async fn unknown_items_and_events_change_nothing(protocol: &dyn ProtocolFixture) {
    let plain = everything();
    let known = collect_response(protocol, CannedResponse::ok(protocol.streamed(&plain))).await;
    let more = protocol.unknown_event() + &protocol.streamed(&plain);
    let with_unknown = collect_response(protocol, CannedResponse::ok(more)).await;
    assert_eq!(with_unknown.comparable(), known.comparable());
    let mut strange = plain;
    strange.parts.push(ReplyPart::Unknown);
    let collected =
        collect_response(protocol, CannedResponse::ok(protocol.streamed(&strange))).await;
    let others = collected.items().into_iter().filter(|item| {
        item.kind == ItemKind::Other
            && item.raw.as_ref().is_some_and(|raw| raw.json.get().contains("1.5"))
    });
    assert_eq!(others.count(), 1);
    assert_eq!(collected.calls(), known.calls());
}

pub(crate) async fn a_response_without_streaming_is_the_same(protocol: &dyn ProtocolFixture) {
    let streamed =
        collect_response(protocol, CannedResponse::ok(protocol.streamed(&everything()))).await;
    let transport =
        CannedTransport::new([CannedResponse::ok(protocol.complete_body(&everything()))
            .header("content-type", "application/json")]);
    let model = builder(protocol, &transport).streaming(false).build().unwrap();
    let whole = ask(&model, weather_request()).await;
    assert!(!protocol.requests_stream(&transport.requests()[0]));
    assert_eq!(whole.normalized_kinds(), streamed.normalized_kinds());
    assert_eq!(whole.finished(), streamed.finished());
    assert_eq!(whole.texts().concat(), streamed.texts().concat());
    // A vendor that streams nevertheless is understood too.
    let streams = CannedResponse::ok(protocol.streamed(&everything()))
        .header("content-type", protocol.content_type());
    let transport = CannedTransport::new([streams]);
    let model = builder(protocol, &transport).streaming(false).build().unwrap();
    assert_eq!(ask(&model, weather_request()).await.comparable(), streamed.comparable());
}

pub(crate) async fn a_complete_body_instead_of_a_stream_is_read(protocol: &dyn ProtocolFixture) {
    let streamed =
        collect_response(protocol, CannedResponse::ok(protocol.streamed(&everything()))).await;
    for label in ["application/json", "application/json; charset=utf-8"] {
        let body =
            CannedResponse::ok(protocol.complete_body(&everything())).header("content-type", label);
        let transport = CannedTransport::new([body]);
        let whole =
            ask(&crate::canned_transport::model(protocol, &transport), weather_request()).await;
        assert!(protocol.requests_stream(&transport.requests()[0]));
        assert_eq!(whole.normalized_kinds(), streamed.normalized_kinds());
        assert_eq!(whole.finished(), streamed.finished());
    }
}

pub(crate) async fn responses_do_not_depend_on_how_bytes_are_split(protocol: &dyn ProtocolFixture) {
    for (body, label) in [
        (protocol.streamed(&everything()), protocol.content_type()),
        (protocol.complete_body(&everything()), "application/json"),
    ] {
        let body = Bytes::from(body);
        let uncut = collect_response(
            protocol,
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
            let canned =
                CannedResponse::in_chunks(body.clone(), &cut).header("content-type", label);
            let collected = collect_response(protocol, canned).await;
            assert_eq!(collected.comparable(), uncut.comparable(), "cut at {cut:?}");
        }
    }
}
