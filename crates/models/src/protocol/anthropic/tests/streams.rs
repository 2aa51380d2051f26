//! Streamed responses.

use serde_json::{Value, json};
use toolwright_chat::{ItemKind, ModelErrorKind, ModelEvent, StopReason};

use super::{answer, call_fields, finished, frames, item_kinds, items, raw, read_all, text_of};

const TEXT: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":", you"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}

event: message_stop
data: {"type":"message_stop"}

"#;

/// One block per list: its start, then its deltas.
fn blocks(blocks: &[&[Value]], stop: &str) -> String {
    let mut values =
        vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 3}}})];
    for (index, parts) in blocks.iter().enumerate() {
        let (start, deltas) = parts.split_first().unwrap();
        values.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            values.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        values.push(json!({"type": "content_block_stop", "index": index}));
    }
    values.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}));
    values.push(json!({"type": "message_stop"}));
    text_of(&values)
}

fn tool_use(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

fn piece(json: &str) -> Value {
    json!({"type": "input_json_delta", "partial_json": json})
}

#[test]
fn text_is_streamed_and_complete_at_the_end() {
    let events = answer(TEXT);
    assert_eq!(
        item_kinds(&events)[..3],
        [r#"Text("Hello")"#, r#"Text(", you")"#, r#"Text { text: "Hello, you" }"#]
    );
    assert_eq!(events.len(), 4);
    let item = &items(&events)[0];
    assert_eq!(raw(item), json!({"type": "text", "text": "Hello, you"}));
}

#[test]
fn the_input_includes_what_the_cache_read_and_wrote() {
    let (stop, usage) = finished(&answer(TEXT));
    assert_eq!(stop, StopReason::End);
    assert_eq!((usage.input, usage.output), (1125, 15));
    assert_eq!((usage.cached, usage.cache_written), (1000, 100));
    assert_eq!(usage.reasoning, 0);
}

#[test]
fn later_counts_replace_earlier_ones_and_reasoning_is_counted() {
    let text = text_of(&[
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}}}),
        json!({"type": "message_delta", "delta": {}, "usage": {"input_tokens": 40, "output_tokens": 20}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"cache_read_input_tokens": null, "output_tokens": 30, "output_tokens_details": {"thinking_tokens": 12}}}),
        json!({"type": "message_stop"}),
    ]);
    let (_, usage) = finished(&answer(&text));
    assert_eq!((usage.input, usage.cached), (45, 5));
    assert_eq!((usage.output, usage.reasoning), (30, 12));
}

#[test]
fn reasoning_keeps_its_signature() {
    let text = blocks(
        &[
            &[
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                json!({"type": "thinking_delta", "thinking": "Let me "}),
                json!({"type": "thinking_delta", "thinking": "see."}),
                json!({"type": "signature_delta", "signature": "EqQB=="}),
            ],
            &[json!({"type": "redacted_thinking", "data": "Emw="})],
            &[json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": "4"})],
        ],
        "end_turn",
    );
    let events = answer(&text);
    assert_eq!(item_kinds(&events)[..2], [r#"Reasoning("Let me ")"#, r#"Reasoning("see.")"#]);
    let items = items(&events);
    assert_eq!(items[0].kind, ItemKind::Reasoning { text: "Let me see.".into() });
    assert_eq!(
        raw(&items[0]),
        json!({"type": "thinking", "thinking": "Let me see.", "signature": "EqQB=="})
    );
    assert_eq!(items[1].kind, ItemKind::Reasoning { text: String::new() });
    assert_eq!(raw(&items[1]), json!({"type": "redacted_thinking", "data": "Emw="}));
    assert_eq!(items[2].kind, ItemKind::Text { text: "4".into() });
}

#[test]
fn a_call_starts_streams_its_arguments_and_is_complete() {
    let start = tool_use("toolu_1", "get_weather");
    let parts = [start, piece(""), piece(r#"{"city": "#), piece(r#""Rome"}"#)];
    let events = answer(&blocks(&[&parts], "tool_use"));
    assert_eq!(
        item_kinds(&events)[..3],
        [
            r#"CallBegins { index: 0, id: "toolu_1", name: "get_weather" }"#,
            r#"CallDelta { index: 0, delta: "{\"city\": " }"#,
            r#"CallDelta { index: 0, delta: "\"Rome\"}" }"#,
        ]
    );
    let item = &items(&events)[0];
    let expected = ("toolu_1", "get_weather", r#"{"city": "Rome"}"#);
    assert_eq!(call_fields(item), (expected.0.into(), expected.1.into(), expected.2.into()));
    assert_eq!(
        raw(item),
        json!({"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Rome"}})
    );
    assert_eq!(finished(&events).0, StopReason::Calls);
}

#[test]
fn parallel_calls_are_counted_as_calls_not_as_blocks() {
    let text = blocks(
        &[
            &[json!({"type": "text", "text": "Both."})],
            &[tool_use("a", "get_weather"), piece(r#"{"city":"Rome"}"#)],
            &[tool_use("b", "files_read"), piece("{}")],
        ],
        "tool_use",
    );
    let events = answer(&text);
    let started: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::CallBegins { index, id, name } => {
                Some((*index, id.to_string(), name.to_string()))
            }
            _ => None,
        })
        .collect();
    // The second tool has its own name again.
    let expected = [(0, "a", "get_weather"), (1, "b", "files.read")];
    assert_eq!(started, expected.map(|(index, id, name)| (index, id.into(), name.into())));
    let items = items(&events);
    assert_eq!(call_fields(&items[2]).1, "files.read");
    assert_eq!(raw(&items[2])["name"], "files_read");
}

#[test]
fn interleaved_calls_keep_apart_and_in_order() {
    let start = |index: u64, id: &str| json!({"type": "content_block_start", "index": index, "content_block": tool_use(id, "get_weather")});
    let delta = |index: u64, json: &str| json!({"type": "content_block_delta", "index": index, "delta": piece(json)});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let events = answer(&text_of(&[
        start(0, "a"),
        start(1, "b"),
        delta(0, r#"{"city":"#),
        delta(1, r#"{"city":"Oslo""#),
        delta(0, r#""Rome"}"#),
        delta(1, "}"),
        stop(1),
        stop(0),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ]));
    let calls: Vec<_> = items(&events).iter().map(call_fields).collect();
    assert_eq!((calls[0].0.as_str(), calls[0].2.as_str()), ("a", r#"{"city":"Rome"}"#));
    assert_eq!((calls[1].0.as_str(), calls[1].2.as_str()), ("b", r#"{"city":"Oslo"}"#));
}

#[test]
fn calls_that_all_bear_number_nought_are_not_merged() {
    let start = |id: &str| json!({"type": "content_block_start", "index": 0, "content_block": tool_use(id, "get_weather")});
    let delta =
        |json: &str| json!({"type": "content_block_delta", "index": 0, "delta": piece(json)});
    let events = answer(&text_of(&[
        start("a"),
        delta(r#"{"city":"Rome"}"#),
        start("b"),
        delta(r#"{"city":"Oslo"}"#),
        json!({"type": "message_stop"}),
    ]));
    let calls: Vec<_> = items(&events).iter().map(call_fields).collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].2, r#"{"city":"Rome"}"#);
    assert_eq!(calls[1].2, r#"{"city":"Oslo"}"#);
    assert_eq!(finished(&events).0, StopReason::Calls);
}

#[test]
fn llama_cpp_leaves_the_input_out_at_the_start() {
    let start = json!({"type": "tool_use", "id": "a", "name": "get_weather"});
    let events = answer(&blocks(&[&[start, piece(r#"{"city":"Rome"}"#)]], "tool_use"));
    let item = &items(&events)[0];
    assert_eq!(call_fields(item).2, r#"{"city":"Rome"}"#);
    assert_eq!(raw(item)["input"], json!({"city": "Rome"}));
}

#[test]
fn arguments_may_be_complete_at_the_start() {
    let start =
        json!({"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Rome"}});
    let events = answer(&blocks(&[&[start]], "tool_use"));
    assert_eq!(call_fields(&items(&events)[0]).2, r#"{"city":"Rome"}"#);
    assert!(item_kinds(&events)[1].starts_with("CallDelta"));
}

#[test]
fn empty_arguments_are_as_they_were_sent() {
    let absent = json!({"type": "tool_use", "id": "b", "name": "files_read"});
    let events =
        answer(&blocks(&[&[tool_use("a", "files_read"), piece("")], &[absent]], "tool_use"));
    let items = items(&events);
    assert_eq!(call_fields(&items[0]).2, "{}");
    assert_eq!(call_fields(&items[1]).2, "");
    assert_eq!(raw(&items[1])["input"], json!({}));
}

#[test]
fn malformed_arguments_pass_through_and_go_back_wrapped() {
    for bad in [r#"{"city": "Ro"#, "[1]", "not json"] {
        let events = answer(&blocks(&[&[tool_use("a", "get_weather"), piece(bad)]], "max_tokens"));
        let item = &items(&events)[0];
        assert_eq!(call_fields(item).2, bad);
        assert_eq!(raw(item)["input"], json!({"INVALID_JSON": bad}));
        assert_eq!(finished(&events).0, StopReason::Length);
    }
}

#[test]
fn untidy_arguments_pass_through_and_go_back_as_they_were_read() {
    let untidy = r#"{'city': 'Rome',}"#;
    let events = answer(&blocks(&[&[tool_use("a", "get_weather"), piece(untidy)]], "tool_use"));
    let item = &items(&events)[0];
    assert_eq!(call_fields(item).2, untidy);
    assert_eq!(raw(item)["input"], json!({"city": "Rome"}));
}

#[test]
fn a_call_without_an_id_gets_one() {
    let start = json!({"type": "tool_use", "name": "get_weather"});
    let events = answer(&blocks(&[&[start]], "tool_use"));
    let item = &items(&events)[0];
    let (id, ..) = call_fields(item);
    assert!(!id.is_empty());
    assert_eq!(raw(item)["id"], id);
    assert!(item_kinds(&events)[0].contains(&id));
}

#[test]
fn a_search_is_hosted_and_its_citations_are_kept() {
    let citation = json!({"type": "web_search_result_location", "url": "https://x.example", "title": "X", "encrypted_index": "Eo8=", "cited_text": "…"});
    let found = json!([{"type": "web_search_result", "url": "https://x.example", "title": "X", "encrypted_content": "EqgB", "page_age": null}]);
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": found, "caller": {"type": "direct"}});
    let events = answer(&blocks(
        &[
            &[
                json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
                piece(r#"{"query":"x"}"#),
            ],
            std::slice::from_ref(&result),
            &[
                json!({"type": "text", "text": "", "citations": []}),
                json!({"type": "citations_delta", "citation": citation}),
                json!({"type": "text_delta", "text": "So it is."}),
            ],
        ],
        "end_turn",
    ));
    let items = items(&events);
    let hosted = |input: &str, output: &str| ItemKind::HostedCall {
        tool: "web_search".into(),
        input: input.into(),
        output: output.into(),
        failed: false,
    };
    assert_eq!(items[0].kind, hosted(r#"{"query":"x"}"#, ""));
    assert_eq!(raw(&items[0])["input"], json!({"query": "x"}));
    assert_eq!(items[1].kind, hosted("", "X https://x.example"));
    assert_eq!(raw(&items[1]), result);
    assert_eq!(raw(&items[2])["citations"], json!([citation]));
    assert_eq!(finished(&events).0, StopReason::End);
    let calls = item_kinds(&events).iter().filter(|event| event.starts_with("Call")).count();
    assert_eq!(calls, 0, "what the vendor runs is no call of ours");
}

#[test]
fn a_failed_search_and_a_failed_mcp_tool_are_marked_as_failed() {
    let events = answer(&blocks(
        &[
            &[
                json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}),
            ],
            &[
                json!({"type": "mcp_tool_use", "id": "m", "name": "ask", "server_name": "wiki", "input": {}}),
                piece(r#"{"q":1}"#),
            ],
            &[
                json!({"type": "mcp_tool_result", "tool_use_id": "m", "is_error": true, "content": [{"type": "text", "text": "no"}]}),
            ],
        ],
        "pause_turn",
    ));
    let kinds: Vec<_> = items(&events).into_iter().map(|item| item.kind).collect();
    let hosted = |tool: &str, input: &str, output: &str, failed| ItemKind::HostedCall {
        tool: tool.into(),
        input: input.into(),
        output: output.into(),
        failed,
    };
    assert_eq!(
        kinds,
        [
            hosted("web_search", "", "max_uses_exceeded", true),
            hosted("wiki/ask", r#"{"q":1}"#, "", false),
            hosted("wiki/ask", "", "no", true),
        ]
    );
    assert_eq!(finished(&events).0, StopReason::Paused);
}

#[test]
fn unknown_blocks_are_kept_with_all_their_deltas() {
    let events = answer(&blocks(
        &[&[
            json!({"type": "compaction", "content": null, "seen": [1]}),
            json!({"type": "compaction_delta", "content": "So far", "encrypted_content": "E"}),
            json!({"type": "compaction_delta", "content": ": nothing.", "seen": [2]}),
            piece(r#"{"a":1}"#),
        ]],
        "compaction",
    ));
    let item = &items(&events)[0];
    assert_eq!(item.kind, ItemKind::Other);
    assert_eq!(
        raw(item),
        json!({"type": "compaction", "content": "So far: nothing.", "seen": [1, 2], "encrypted_content": "E", "input": {"a": 1}})
    );
    assert_eq!(finished(&events).0, StopReason::Other("compaction".into()));
}

#[test]
fn unknown_frames_and_deltas_are_skipped() {
    let odd = [
        "event: message_sparkle\ndata: {\"type\":\"message_sparkle\",\"x\":1}\n\n",
        "event: sparkle\ndata: not json at all\n\n",
        "data: [DONE]\n\n",
        "data: {\"hello\":1}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"sparkle_delta\",\"text\":\"!\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":77}\n\n",
    ];
    let parts: Vec<&str> = TEXT.split_inclusive("\n\n").collect();
    for at in 2..parts.len() {
        let text = [parts[..at].concat(), odd.concat(), parts[at..].concat()].concat();
        assert_eq!(item_kinds(&answer(&text)), item_kinds(&answer(TEXT)));
    }
}

#[test]
fn text_without_a_block_is_not_lost() {
    let events = answer(&text_of(&[
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hi"}}),
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "!"}}),
        json!({"type": "message_stop"}),
    ]));
    assert_eq!(items(&events)[0].kind, ItemKind::Text { text: "Hi!".into() });
    assert_eq!(finished(&events).0, StopReason::End);
}

#[test]
fn every_stop_reason_has_its_word() {
    let rows = [
        ("end_turn", StopReason::End),
        ("stop_sequence", StopReason::End),
        ("tool_use", StopReason::Calls),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("pause_turn", StopReason::Paused),
        ("refusal", StopReason::Refused),
        ("novelty", StopReason::Other("novelty".into())),
    ];
    for (reason, stop) in rows {
        assert_eq!(finished(&answer(&blocks(&[], reason))).0, stop);
    }
}

#[test]
fn a_refusal_is_explained_where_the_vendor_does() {
    let details =
        json!({"type": "refusal", "category": "cyber", "explanation": "That could do harm."});
    let events = answer(&text_of(&[
        json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}),
        json!({"type": "message_stop"}),
    ]));
    assert_eq!(items(&events)[0].kind, ItemKind::Refusal { text: "That could do harm.".into() });
    assert_eq!(finished(&events).0, StopReason::Refused);
}

#[test]
fn an_error_in_the_stream_ends_it() {
    let rows = [
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ModelErrorKind::Overloaded,
            "Overloaded",
        ),
        (
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#,
            ModelErrorKind::RateLimit,
            "slow",
        ),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            ModelErrorKind::ContextTooLong,
            "prompt is too long: 9 tokens > 8 maximum",
        ),
        (
            r#"{"error":{"message":"upstream is gone"}}"#,
            ModelErrorKind::BadRequest,
            "upstream is gone",
        ),
        (r#"{"type":"error"}"#, ModelErrorKind::BadRequest, "the API broke off the answer"),
    ];
    let beginning = TEXT.split_inclusive("\n\n").take(4).collect::<String>();
    for (data, kind, message) in rows {
        let error = read_all(&frames(&format!("{beginning}data: {data}\n\n"))).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
    }
}

#[test]
fn a_stream_that_is_cut_anywhere_is_no_answer() {
    let all = frames(TEXT);
    for until in 0..all.len() {
        let error = read_all(&all[..until]).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert_eq!(error.message, "the answer was cut off");
    }
}

#[test]
fn garbage_is_named_shortly() {
    let long = format!("event: content_block_delta\ndata: {{\"type\": {}\n\n", "x".repeat(500));
    let error = read_all(&frames(&long)).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.starts_with("a frame of the answer is not JSON: {\"type\": xx"));
    assert!(error.message.len() < 250);
}

#[test]
fn nothing_counts_after_the_end() {
    let text = format!("{TEXT}event: error\ndata: {{\"type\":\"error\"}}\n\n{TEXT}");
    assert_eq!(item_kinds(&answer(&text)), item_kinds(&answer(TEXT)));
}
