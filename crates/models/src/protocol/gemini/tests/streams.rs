//! Streamed responses.

use serde_json::json;
use toolwright_chat::{ItemKind, ModelErrorKind, ModelEvent, StopReason};

use super::{calls, chunk, finished, items, kinds, parse_chunks, parse_parts, plan, raws, text};
use crate::protocol::Protocol as _;
use crate::protocol::gemini::{Gemini, NAME};

#[test]
fn plain_text_is_put_together_from_its_chunks() {
    let events = parse_chunks(&[
        &chunk(r#"[{"text":"Hel"}]"#, None),
        &chunk(r#"[{"text":"lo."}]"#, None),
        &chunk(r#"[{"text":""}]"#, Some("STOP")),
    ])
    .unwrap();
    let deltas: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(deltas, ["Hel", "lo."]);
    assert_eq!(kinds(&events), [text("Hello.")]);
    assert_eq!(raws(&events), [json!({"text": "Hello."})]);
    assert_eq!(finished(&events).0, StopReason::End);
}

#[test]
fn reasoning_comes_before_the_text_and_apart_from_it() {
    let events = parse_chunks(&[
        &chunk(r#"[{"text":"Let me ","thought":true}]"#, None),
        &chunk(r#"[{"text":"see.","thought":true},{"text":"It rains."}]"#, Some("STOP")),
    ])
    .unwrap();
    assert!(matches!(&events[0], ModelEvent::Reasoning(text) if text == "Let me "));
    let thought = ItemKind::Reasoning { text: "Let me see.".into() };
    assert_eq!(kinds(&events), [thought, text("It rains.")]);
    assert_eq!(
        raws(&events),
        [json!({"text": "Let me see.", "thought": true}), json!({"text": "It rains."})]
    );
}

#[test]
fn a_part_with_a_signature_stays_by_itself_wherever_it_stands() {
    let events = parse_chunks(&[
        &chunk(r#"[{"text":"a"}]"#, None),
        &chunk(r#"[{"text":"b","thoughtSignature":"c2ln"}]"#, None),
        &chunk(r#"[{"text":"c"}]"#, None),
        &chunk(r#"[{"text":"","thoughtSignature":"ZW5k"}]"#, None),
        &chunk(r#"[{"thoughtSignature":"YmFyZQ=="}]"#, Some("STOP")),
    ])
    .unwrap();
    assert_eq!(kinds(&events), [text("a"), text("b"), text("c"), text(""), ItemKind::Other]);
    assert_eq!(
        raws(&events),
        [
            json!({"text": "a"}),
            json!({"text": "b", "thoughtSignature": "c2ln"}),
            json!({"text": "c"}),
            json!({"text": "", "thoughtSignature": "ZW5k"}),
            json!({"thoughtSignature": "YmFyZQ=="}),
        ]
    );
}

#[test]
fn a_call_starts_streams_its_arguments_and_is_complete() {
    let part = r#"{"functionCall":{"name":"weather","args":{"city": "Oslo"},"id":"f1"},"thoughtSignature":"c2ln"}"#;
    let events = parse_parts(&format!("[{part}]"));
    assert!(
        matches!(&events[0], ModelEvent::CallBegins { index: 0, id, name } if *id == "f1" && *name == "weather")
    );
    assert!(
        matches!(&events[1], ModelEvent::CallDelta { index: 0, delta } if delta == r#"{"city": "Oslo"}"#)
    );
    let call = &calls(&events)[0];
    assert_eq!(call.id, "f1");
    assert_eq!(call.arguments, r#"{"city": "Oslo"}"#);
    assert_eq!(items(&events)[0].raw_json(NAME).unwrap().get(), part);
    assert_eq!(finished(&events).0, StopReason::Calls);
}

#[test]
fn a_call_comes_back_under_the_name_the_tool_has_here() {
    let wire = super::plan().wire_name("shop/find").unwrap().to_owned();
    assert_ne!(wire, "shop/find");
    let events = parse_parts(&format!(
        r#"[{{"functionCall":{{"name":"{wire}","args":{{"name":"tea"}}}}}}]"#
    ));
    assert_eq!(calls(&events)[0].name, "shop/find");
}

#[test]
fn parallel_calls_come_in_one_chunk_or_in_several() {
    let oslo =
        r#"{"functionCall":{"name":"weather","args":{"city":"Oslo"}},"thoughtSignature":"c2ln"}"#;
    let rome = r#"{"functionCall":{"name":"weather","args":{"city":"Rome"}}}"#;
    let once = parse_chunks(&[&chunk(&format!("[{oslo},{rome}]"), Some("STOP"))]).unwrap();
    let twice = parse_chunks(&[
        &chunk(&format!("[{oslo}]"), None),
        &chunk(&format!("[{rome}]"), None),
        &chunk(r#"[{"text":""}]"#, Some("STOP")),
    ])
    .unwrap();
    assert_eq!(calls(&once), calls(&twice));
    let ids: Vec<_> = calls(&once).iter().map(|call| call.id.to_string()).collect();
    assert_eq!(ids, ["r7_0", "r7_1"]);
}

#[test]
fn calls_and_text_may_take_turns() {
    let events = parse_parts(
        r#"[{"text":"First"},{"functionCall":{"name":"weather","args":{}}},{"text":"then"},
            {"functionCall":{"name":"weather","args":{}}}]"#,
    );
    let kinds = kinds(&events);
    assert_eq!(kinds.len(), 4);
    assert_eq!((&kinds[0], &kinds[2]), (&text("First"), &text("then")));
    assert_eq!(calls(&events).len(), 2);
}

#[test]
fn missing_and_duplicate_ids_are_generated() {
    let events = parse_parts(
        r#"[{"functionCall":{"name":"weather","id":"same"}},{"functionCall":{"name":"weather","id":"same"}},
            {"functionCall":{"name":"weather","id":""}}]"#,
    );
    let ids: Vec<_> = calls(&events).iter().map(|call| call.id.to_string()).collect();
    assert_eq!(ids, ["same", "r7_1", "r7_2"]);

    let unnamed = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}}]},"finishReason":"STOP"}]}"#;
    let calls = calls(&parse_chunks(&[unnamed]).unwrap());
    assert_ne!(calls[0].id, calls[1].id);
    assert!(!calls[0].id.as_str().is_empty());
}

#[test]
fn arguments_are_passed_on_as_they_were_sent() {
    for (args, passed) in [
        ("", ""),
        (r#","args":null"#, ""),
        (r#","args":{}"#, "{}"),
        (r#","args":{"n":12345678901234567890123}"#, r#"{"n":12345678901234567890123}"#),
        (r#","args":"city=Oslo""#, r#""city=Oslo""#),
        (r#","args":[1]"#, "[1]"),
    ] {
        let events = parse_parts(&format!(r#"[{{"functionCall":{{"name":"weather"{args}}}}}]"#));
        assert_eq!(calls(&events)[0].arguments, passed, "{args}");
    }
}

#[test]
fn half_of_the_arguments_never_become_a_call() {
    let part = r#"[{"functionCall":{"name":"weather","partialArgs":[{"jsonPath":"$.city"}],"willContinue":true}}]"#;
    let error = parse_chunks(&[&chunk(part, None)]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
}

#[test]
fn sources_of_a_search_are_one_hosted_item() {
    let last = r#"{"candidates":[{"content":{"parts":[{"text":"Sunny."}]},"finishReason":"STOP","groundingMetadata":{
        "webSearchQueries":["weather oslo","oslo sun"],"searchEntryPoint":{"renderedContent":"<b>"},
        "groundingChunks":[{"web":{"uri":"https://a.example","title":"A"}},{"maps":{}}]}}]}"#;
    let empty = r#"{"candidates":[{"groundingMetadata":{}}]}"#;
    let events = parse_chunks(&[last, empty]).unwrap();
    let search = ItemKind::HostedCall {
        tool: "web_search".into(),
        input: "weather oslo\noslo sun".into(),
        output: "A https://a.example".into(),
        failed: false,
    };
    assert_eq!(kinds(&events), [text("Sunny."), search]);
    let entry = &raws(&events)[1]["groundingMetadata"]["searchEntryPoint"]["renderedContent"];
    assert_eq!(entry, "<b>");
}

#[test]
fn tools_that_the_vendor_ran_keep_their_place() {
    let asked = r#"{"toolCall":{"id":"t1","toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["x"]}},"thoughtSignature":"c2ln"}"#;
    let found =
        r#"{"toolResponse":{"id":"t1","toolType":"GOOGLE_SEARCH_WEB","response":{"hits":1}}}"#;
    let events = parse_parts(&format!(r#"[{asked},{found},{{"text":"One."}}]"#));
    let hosted = |input: &str, output: &str| ItemKind::HostedCall {
        tool: "web_search".into(),
        input: input.into(),
        output: output.into(),
        failed: false,
    };
    assert_eq!(
        kinds(&events),
        [hosted(r#"{"queries":["x"]}"#, ""), hosted("", r#"{"hits":1}"#), text("One.")]
    );
    assert_eq!(items(&events)[0].raw_json(NAME).unwrap().get(), asked);
}

#[test]
fn unknown_parts_are_kept_raw() {
    let code = r#"{"executableCode":{"language":"PYTHON","code":"print(1)"}}"#;
    let output = r#"{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}"#;
    let new = r#"{"hologram":{"depth":3},"thoughtSignature":"c2ln"}"#;
    let events = parse_parts(&format!(r#"[{code},{output},{new},7,null,{{}}]"#));
    assert_eq!(kinds(&events), [ItemKind::Other, ItemKind::Other, ItemKind::Other]);
    assert_eq!(items(&events)[2].raw_json(NAME).unwrap().get(), new);
}

#[test]
fn tokens_are_counted_with_reasoning_and_cache() {
    let first = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],
        "usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"toolUsePromptTokenCount":5}}"#;
    let last = r#"{"candidates":[{"finishReason":"STOP"}],
        "usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":3,"thoughtsTokenCount":7,"totalTokenCount":27}}"#;
    let (_, usage) = finished(&parse_chunks(&[first, last]).unwrap());
    assert_eq!((usage.input, usage.output), (17, 10));
    assert_eq!((usage.cached, usage.reasoning), (4, 7));
    assert!(!usage.estimated);
}

#[test]
fn usage_after_the_finish_reason_still_counts() {
    let end = chunk(r#"[{"text":"a"}]"#, Some("STOP"));
    let late = r#"{"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}"#;
    let (stop, usage) = finished(&parse_chunks(&[&end, late]).unwrap());
    assert_eq!((stop, usage.total()), (StopReason::End, 3));
}

#[test]
fn every_reason_to_finish_has_its_word() {
    let other = |word: &str| StopReason::Other(word.into());
    for (reason, plain, calling) in [
        ("STOP", StopReason::End, StopReason::Calls),
        ("FUNCTION_CALL", other("FUNCTION_CALL"), StopReason::Calls),
        ("MAX_TOKENS", StopReason::Length, StopReason::Length),
        ("SAFETY", StopReason::Filtered, StopReason::Filtered),
        ("RECITATION", StopReason::Filtered, StopReason::Filtered),
        ("PROHIBITED_CONTENT", StopReason::Filtered, StopReason::Filtered),
        ("BLOCKLIST", StopReason::Filtered, StopReason::Filtered),
        ("SPII", StopReason::Filtered, StopReason::Filtered),
        (
            "MALFORMED_FUNCTION_CALL",
            other("MALFORMED_FUNCTION_CALL"),
            other("MALFORMED_FUNCTION_CALL"),
        ),
        ("UNEXPECTED_TOOL_CALL", other("UNEXPECTED_TOOL_CALL"), other("UNEXPECTED_TOOL_CALL")),
        ("OTHER", other("OTHER"), other("OTHER")),
        ("TOMORROW", other("TOMORROW"), other("TOMORROW")),
    ] {
        let text = parse_chunks(&[&chunk(r#"[{"text":"a"}]"#, Some(reason))]).unwrap();
        assert_eq!(finished(&text).0, plain, "{reason}");
        let call = r#"[{"functionCall":{"name":"weather","args":{}}}]"#;
        let call = parse_chunks(&[&chunk(call, Some(reason))]).unwrap();
        assert_eq!(finished(&call).0, calling, "{reason} with a call");
    }
}

#[test]
fn a_reason_without_any_part_is_an_end_too() {
    let events = parse_chunks(&[r#"{"candidates":[{"finishReason":"SAFETY"}]}"#]).unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(finished(&events).0, StopReason::Filtered);
}

#[test]
fn a_blocked_prompt_is_a_filter() {
    let blocked = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":3}}"#;
    let error = parse_chunks(&[blocked]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::ContentFilter);
    assert_eq!(error.message, "the prompt was blocked (PROHIBITED_CONTENT)");
    let rated = r#"{"promptFeedback":{"safetyRatings":[]},"candidates":[{"finishReason":"STOP"}]}"#;
    assert!(parse_chunks(&[rated]).is_ok());
}

#[test]
fn an_error_in_the_stream_ends_it() {
    let trouble =
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    let error = parse_chunks(&[&chunk(r#"[{"text":"a"}]"#, None), trouble]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Overloaded);
    assert_eq!(error.message, "The model is overloaded.");
    let named = r#"{"error":{"status":"RESOURCE_EXHAUSTED"}}"#;
    assert_eq!(parse_chunks(&[named]).unwrap_err().kind, ModelErrorKind::RateLimit);
}

#[test]
fn an_answer_without_a_reason_to_finish_is_cut_off() {
    for chunks in [
        vec![],
        vec![chunk(r#"[{"text":"Hel"}]"#, None)],
        vec![chunk("[]", Some("FINISH_REASON_UNSPECIFIED"))],
    ] {
        let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
        let error = parse_chunks(&chunks).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert_eq!(error.message, "the answer was cut off");
    }
}

#[test]
fn what_is_not_json_is_named_shortly() {
    let garbage = format!("<html>{}", "x".repeat(5_000));
    let error = parse_chunks(&[&garbage]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("<html>"), "{error}");
    assert!(error.message.len() < 300, "{error}");
}

#[test]
fn a_marker_that_other_protocols_end_with_changes_nothing() {
    let end = chunk(r#"[{"text":"a"}]"#, Some("STOP"));
    assert_eq!(kinds(&parse_chunks(&[&end, "[DONE]", ""]).unwrap()), [text("a")]);
}

#[test]
fn a_list_of_chunks_is_read_like_a_stream() {
    let list = format!(
        "[{},\n{}]",
        chunk(r#"[{"text":"It is "}]"#, None),
        chunk(r#"[{"text":"sunny."}]"#, Some("STOP"))
    );
    let mut parser = Gemini.parser(plan());
    parser.parse_complete_body(&list).unwrap();
    parser.end_of_stream().unwrap();
    assert_eq!(kinds(parser.events()), [text("It is sunny.")]);
}
