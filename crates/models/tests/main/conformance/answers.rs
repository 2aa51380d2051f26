//! What an answer says, however it comes.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use toolwright_chat::{ItemKind, ModelEvent, StopReason};

use crate::canned::{Canned, Line, ask, connect, question, told};
use crate::said::{Part, Said, Speaks, call};

const ROME: &str = r#"{"city": "Rome"}"#;

/// Something of everything.
fn everything() -> Said {
    Said::new([
        Part::Thought("They ask for the weather.", "c2VhbA=="),
        Part::Text("Let me look, ¿vale? 🌍"),
        call("call_1", "weather", ROME),
        call("call_2", "clock", ""),
    ])
}

pub(crate) async fn a_text_comes_in_pieces_and_then_whole(speaker: &dyn Speaks) {
    let said = Said::new([Part::Text("It is sunny there.")]);
    let told = told(speaker, Canned::ok(speaker.streamed(&said))).await;
    assert!(matches!(told.events[0], ModelEvent::RequestSent(_)));
    assert!(told.texts().len() > 1, "{:?}", told.texts());
    assert_eq!(told.texts().concat(), "It is sunny there.");
    let text = ItemKind::Text {
        text: "It is sunny there.".to_owned(),
    };
    assert_eq!(told.kinds(), [&text]);
    assert_eq!(told.end().0, StopReason::End);
}

pub(crate) async fn one_call_is_told_as_it_comes_and_then_whole(speaker: &dyn Speaks) {
    let said = Said::new([call("call_1", "weather", ROME)]);
    let told = told(speaker, Canned::ok(speaker.streamed(&said))).await;
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
    assert_eq!(told.end().0, StopReason::Calls);
}

pub(crate) async fn calls_beside_each_other_stay_apart(speaker: &dyn Speaks) {
    let cities = ["Rome", "Oslo", "Lima"];
    let calls = cities.iter().enumerate().map(|(place, city)| {
        let arguments = format!(r#"{{"city":"{city}"}}"#);
        call(&format!("call_{place}"), "weather", &arguments)
    });
    let told = told(speaker, Canned::ok(speaker.streamed(&Said::new(calls)))).await;
    let calls = told.calls();
    assert_eq!(calls.len(), 3);
    for (place, (call, city)) in calls.iter().zip(cities).enumerate() {
        assert_eq!(call.id, *format!("call_{place}"));
        let arguments: serde_json::Value = serde_json::from_str(call.arguments.as_str()).unwrap();
        assert_eq!(arguments["city"], city);
    }
}

pub(crate) async fn empty_arguments_are_none(speaker: &dyn Speaks) {
    let said = Said::new([call("call_1", "clock", "")]);
    for body in [speaker.streamed(&said), speaker.whole(&said)] {
        let told = told(speaker, Canned::ok(body)).await;
        let calls = told.calls();
        let arguments = calls[0].arguments.as_str();
        assert!(matches!(arguments, "" | "{}"), "{arguments}");
        assert_eq!(told.end().0, StopReason::Calls);
    }
}

pub(crate) async fn malformed_arguments_are_delivered_as_they_are(speaker: &dyn Speaks) {
    for arguments in [
        r#"{"city": "Rome", "city"#,
        "{'city': 'Rome',}",
        "Rome, please",
        r#"{"city": "a" "b"}"#,
    ] {
        let said = Said::new([call("call_1", "weather", arguments)]);
        let told = told(speaker, Canned::ok(speaker.streamed(&said))).await;
        let calls = told.calls();
        assert_eq!(calls[0].arguments.as_str(), speaker.delivered(arguments));
    }
}

pub(crate) async fn tokens_are_counted(speaker: &dyn Speaks) {
    for body in [
        speaker.streamed(&everything()),
        speaker.whole(&everything()),
    ] {
        let told = told(speaker, Canned::ok(body)).await;
        assert_eq!(told.end().1, speaker.usage());
    }
}

pub(crate) async fn answers_end_for_the_reasons_there_are(speaker: &dyn Speaks) {
    let mut cut = Said::new([Part::Text("It is su")]);
    cut.cut = true;
    let mut stops = speaker.stops();
    stops.push((speaker.streamed(&cut), StopReason::Length));
    stops.push((speaker.whole(&cut), StopReason::Length));
    for (body, stop) in stops {
        let told = told(speaker, Canned::ok(body)).await;
        assert_eq!(told.end().0, stop);
    }
}

pub(crate) async fn what_the_vendor_searched_is_told(speaker: &dyn Speaks) {
    let said = Said::new([
        Part::Search("weather Rome", "https://weather.example"),
        Part::Text("Sunny."),
    ]);
    let (searches, _) = speaker.hosts();
    for body in [speaker.streamed(&said), speaker.whole(&said)] {
        let told = told(speaker, Canned::ok(body)).await;
        let hosted: Vec<String> = told
            .kinds()
            .into_iter()
            .filter(|kind| matches!(kind, ItemKind::HostedCall { tool, .. } if tool == "web_search"))
            .map(|kind| format!("{kind:?}"))
            .collect();
        let hosted = hosted.concat();
        for part in ["weather Rome", "https://weather.example"] {
            assert_eq!(hosted.contains(part), searches, "{hosted}");
        }
        assert_eq!(told.texts().concat(), "Sunny.");
        // Nobody here is to run it.
        assert_eq!(told.end().0, StopReason::End);
    }
}

pub(crate) async fn unknown_items_and_events_do_no_harm(speaker: &dyn Speaks) {
    let plain = everything();
    let known = told(speaker, Canned::ok(speaker.streamed(&plain))).await;
    let more = speaker.unknown_event() + &speaker.streamed(&plain);
    let told_more = told(speaker, Canned::ok(more)).await;
    assert_eq!(told_more.heard(), known.heard());
    let mut strange = plain;
    strange.parts.push(Part::Unknown);
    let told = told(speaker, Canned::ok(speaker.streamed(&strange))).await;
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

pub(crate) async fn an_answer_in_one_piece_says_the_same(speaker: &dyn Speaks) {
    let streamed = told(speaker, Canned::ok(speaker.streamed(&everything()))).await;
    let line = Line::new([
        Canned::ok(speaker.whole(&everything())).header("content-type", "application/json")
    ]);
    let model = connect(speaker, &line).streaming(false).build().unwrap();
    let whole = ask(&model, question()).await;
    assert!(!speaker.asks_for_stream(&line.asked()[0]));
    assert_eq!(whole.meant(), streamed.meant());
    assert_eq!(whole.end(), streamed.end());
    assert_eq!(whole.texts().concat(), streamed.texts().concat());
    // A vendor that streams all the same is understood too.
    let streams =
        Canned::ok(speaker.streamed(&everything())).header("content-type", speaker.content_type());
    let line = Line::new([streams]);
    let model = connect(speaker, &line).streaming(false).build().unwrap();
    assert_eq!(ask(&model, question()).await.heard(), streamed.heard());
}

pub(crate) async fn one_piece_where_a_stream_was_asked_for_is_read_all_the_same(
    speaker: &dyn Speaks,
) {
    let streamed = told(speaker, Canned::ok(speaker.streamed(&everything()))).await;
    for label in ["application/json", "application/json; charset=utf-8"] {
        let body = Canned::ok(speaker.whole(&everything())).header("content-type", label);
        let line = Line::new([body]);
        let whole = ask(&crate::canned::model(speaker, &line), question()).await;
        assert!(speaker.asks_for_stream(&line.asked()[0]));
        assert_eq!(whole.meant(), streamed.meant());
        assert_eq!(whole.end(), streamed.end());
    }
}

pub(crate) async fn answers_do_not_depend_on_where_they_are_cut(speaker: &dyn Speaks) {
    for (body, label) in [
        (speaker.streamed(&everything()), speaker.content_type()),
        (speaker.whole(&everything()), "application/json"),
    ] {
        let body = body.into_bytes();
        let uncut = told(
            speaker,
            Canned::ok(body.clone()).header("content-type", label),
        )
        .await;
        uncut.end();
        let every: Vec<usize> = (0..body.len()).collect();
        let mut runner = TestRunner::deterministic();
        let random = prop::collection::vec(0..body.len(), 0..40);
        let mut cuts = vec![every];
        for _ in 0..48 {
            cuts.push(random.new_tree(&mut runner).unwrap().current());
        }
        for cut in cuts {
            let canned = Canned::cut(&body, &cut).header("content-type", label);
            let told = told(speaker, canned).await;
            assert_eq!(told.heard(), uncut.heard(), "cut at {cut:?}");
        }
    }
}
