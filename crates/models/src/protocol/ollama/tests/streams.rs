//! Streamed responses.

use toolwright_chat::{ItemKind, ModelErrorKind, ModelEvent, StopReason};

use super::{DONE, calls, finished, items, kinds, line, parse_calls, parse_lines, plan, text};
use crate::protocol::ollama::NAME;

#[test]
fn text_is_put_together_from_its_lines() {
    let events =
        parse_lines(&[&line(r#""content":"Hel""#), &line(r#""content":"lo.""#), DONE]).unwrap();
    assert!(matches!(&events[0], ModelEvent::Text(text) if text == "Hel"));
    assert!(matches!(&events[1], ModelEvent::Text(text) if text == "lo."));
    assert_eq!(kinds(&events), [text("Hello.")]);
    let raw = items(&events)[0].raw_json(NAME).unwrap().get().to_owned();
    assert_eq!(raw, r#"{"content":"Hello."}"#);
    let (stop, usage) = finished(&events);
    assert_eq!((stop, usage.input, usage.output), (StopReason::End, 11, 7));
}

#[test]
fn reasoning_comes_before_the_text_and_apart_from_it() {
    let events = parse_lines(&[
        &line(r#""content":"","thinking":"Let me ""#),
        &line(r#""content":"It ","thinking":"see.""#),
        &line(r#""content":"rains.""#),
        DONE,
    ])
    .unwrap();
    assert!(matches!(&events[0], ModelEvent::Reasoning(text) if text == "Let me "));
    let thought = ItemKind::Reasoning { text: "Let me see.".into() };
    assert_eq!(kinds(&events), [thought, text("It rains.")]);
}

#[test]
fn a_call_starts_streams_its_arguments_and_is_complete() {
    let entry =
        r#"{"id":"call_x","function":{"index":0,"name":"weather","arguments":{"city": "Oslo"}}}"#;
    let events = parse_calls(entry);
    assert!(
        matches!(&events[0], ModelEvent::CallBegins { index: 0, id, name } if *id == "call_x" && *name == "weather")
    );
    assert!(
        matches!(&events[1], ModelEvent::CallDelta { index: 0, delta } if delta == r#"{"city": "Oslo"}"#)
    );
    assert_eq!(calls(&events)[0].arguments, r#"{"city": "Oslo"}"#);
    assert_eq!(items(&events)[0].raw_json(NAME).unwrap().get(), entry);
    assert_eq!(finished(&events).0, StopReason::Calls);
}

#[test]
fn calls_of_the_same_number_are_not_the_same_call() {
    let oslo = r#"{"function":{"index":0,"name":"weather","arguments":{"city":"Oslo"}}}"#;
    let rome = r#"{"function":{"index":0,"name":"weather","arguments":{"city":"Rome"}}}"#;
    let once = parse_calls(&format!("{oslo},{rome}"));
    let twice = parse_lines(&[
        &line(&format!(r#""tool_calls":[{oslo}]"#)),
        &line(&format!(r#""tool_calls":[{rome}]"#)),
        DONE,
    ])
    .unwrap();
    assert_eq!(calls(&once), calls(&twice));
    let call_ids: Vec<_> =
        calls(&once).iter().map(|call| (call.id.to_string(), call.arguments.to_string())).collect();
    assert_eq!(
        call_ids,
        [
            ("call_202611151200005_0".into(), r#"{"city":"Oslo"}"#.into()),
            ("call_202611151200005_1".into(), r#"{"city":"Rome"}"#.to_owned()),
        ]
    );
}

#[test]
fn calls_and_text_may_take_turns() {
    let call = r#"{"function":{"name":"weather","arguments":{}}}"#;
    let events = parse_lines(&[
        &line(r#""content":"First""#),
        &line(&format!(r#""content":"","tool_calls":[{call}]"#)),
        &line(&format!(r#""content":"then","tool_calls":[{call}]"#)),
        DONE,
    ])
    .unwrap();
    let kinds = kinds(&events);
    assert_eq!(kinds.len(), 4);
    assert_eq!((&kinds[0], &kinds[2]), (&text("First"), &text("then")));
}

#[test]
fn missing_and_duplicate_ids_are_generated() {
    let same = r#"{"id":"same","function":{"name":"weather"}}"#;
    let none = r#"{"id":"","function":{"name":"weather"}}"#;
    let events = parse_calls(&format!("{same},{same},{none}"));
    let ids: Vec<_> = calls(&events).iter().map(|call| call.id.to_string()).collect();
    assert_eq!(ids, ["same", "call_202611151200005_1", "call_202611151200005_2"]);

    let timeless = r#"{"message":{"tool_calls":[{"function":{"name":"a"}},{"function":{"name":"a"}}]},"done":true}"#;
    let calls = calls(&parse_lines(&[timeless]).unwrap());
    assert_ne!(calls[0].id, calls[1].id);
}

#[test]
fn a_call_comes_back_under_the_name_the_tool_has_here() {
    let wire = plan().wire_name("shop/find").unwrap().to_owned();
    assert_ne!(wire, "shop/find");
    let events =
        parse_calls(&format!(r#"{{"function":{{"name":"{wire}","arguments":{{"name":"tea"}}}}}}"#));
    assert_eq!(calls(&events)[0].name, "shop/find");
}

#[test]
fn arguments_are_passed_on_as_they_were_sent() {
    for (arguments, passed) in [
        ("", ""),
        (r#","arguments":null"#, ""),
        (r#","arguments":{}"#, "{}"),
        (r#","arguments":{"n":12345678901234567890123}"#, r#"{"n":12345678901234567890123}"#),
        (r#","arguments":"{\"city\":\"Os""#, r#"{"city":"Os"#),
        (r#","arguments":[1]"#, "[1]"),
    ] {
        let events = parse_calls(&format!(r#"{{"function":{{"name":"weather"{arguments}}}}}"#));
        assert_eq!(calls(&events)[0].arguments, passed, "{arguments}");
    }
}

#[test]
fn unknown_entries_are_kept_raw() {
    let new = r#"{"type":"hologram","depth":3}"#;
    let events = parse_calls(&format!("{new},7,null"));
    assert_eq!(kinds(&events), [ItemKind::Other]);
    assert_eq!(items(&events)[0].raw_json(NAME).unwrap().get(), new);
    assert_eq!(finished(&events).0, StopReason::End);
}

#[test]
fn every_reason_to_finish_has_its_word() {
    for (reason, plain, calling) in [
        (r#","done_reason":"stop""#, StopReason::End, StopReason::Calls),
        ("", StopReason::End, StopReason::Calls),
        (r#","done_reason":"length""#, StopReason::Length, StopReason::Length),
        (
            r#","done_reason":"load""#,
            StopReason::Other("load".into()),
            StopReason::Other("load".into()),
        ),
    ] {
        let done = format!(r#"{{"done":true{reason}}}"#);
        assert_eq!(finished(&parse_lines(&[&done]).unwrap()).0, plain, "{reason}");
        let call = line(r#""tool_calls":[{"function":{"name":"weather"}}]"#);
        assert_eq!(finished(&parse_lines(&[&call, &done]).unwrap()).0, calling, "{reason}");
    }
}

#[test]
fn nothing_counts_after_the_end() {
    let events = parse_lines(&[DONE, DONE, "not even JSON"]).unwrap();
    assert_eq!(events.len(), 1);
}

#[test]
fn an_error_in_the_stream_ends_it() {
    let begun = line(r#""content":"Hel""#);
    let error = parse_lines(&[&begun, r#"{"error":"the model runner has stopped"}"#]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Overloaded);
    assert_eq!(error.message, "the model runner has stopped");
    let long = r#"{"error":"the input length exceeds the context length"}"#;
    assert_eq!(parse_lines(&[long]).unwrap_err().kind, ModelErrorKind::ContextTooLong);
    let asked = r#"{"error":"no such option","status":400}"#;
    assert_eq!(parse_lines(&[asked]).unwrap_err().kind, ModelErrorKind::BadRequest);
}

#[test]
fn an_answer_that_is_never_done_is_cut_off() {
    for lines in [vec![], vec![line(r#""content":"Hel""#)]] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let error = parse_lines(&lines).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert_eq!(error.message, "the answer was cut off");
    }
}

#[test]
fn what_is_not_json_is_named_shortly() {
    let garbage = format!("<html>{}", "x".repeat(5_000));
    let error = parse_lines(&[&garbage]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("<html>"), "{error}");
    assert!(error.message.len() < 300, "{error}");
}
