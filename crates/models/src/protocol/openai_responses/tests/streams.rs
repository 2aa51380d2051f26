//! Streams as OpenAI documents them, and as imitations send them.

use toolwright_chat::{ItemKind, ModelErrorKind, ModelEvent, StopReason};

use super::{OpenAiResponses, event_lines, events, items, plan};
use crate::protocol::Protocol as _;

#[test]
fn text_is_streamed_and_then_an_item() {
    let events = event_lines(
        r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}
        {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}
        {"type":"response.content_part.added","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}}
        {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hello","logprobs":[],"obfuscation":"x1"}
        {"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" there","logprobs":[]}
        {"type":"response.output_text.done","sequence_number":6,"item_id":"msg_1","output_index":0,"content_index":0,"text":"Hello there","logprobs":[]}
        {"type":"response.content_part.done","sequence_number":7,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"text":"Hello there"}}
        {"type":"response.output_item.done","sequence_number":8,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"Hello there"}],"role":"assistant"}}
        {"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","status":"completed","output":[{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"Hello there"}],"role":"assistant"}],"usage":{"input_tokens":9,"output_tokens":3,"total_tokens":12}}}"#,
    );
    assert_eq!(
        events,
        [
            "text \"Hello\"",
            "text \" there\"",
            "item Text { text: \"Hello there\" }",
            "finished End, 9 in, 3 out",
        ]
    );
}

#[test]
fn parts_of_a_summary_are_set_apart() {
    let events = event_lines(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}
        {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}
        {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"First this."}
        {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}
        {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Then that."}
        {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"First this."},{"type":"summary_text","text":"Then that."}]}}
        {"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}
        {"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"Done."}
        {"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","text":"Done."}],"role":"assistant"}}
        {"type":"response.completed","response":{"status":"completed"}}"#,
    );
    assert_eq!(
        events,
        [
            "reasoning \"First this.\"",
            "reasoning \"\\n\\n\"",
            "reasoning \"Then that.\"",
            "item Reasoning { text: \"First this.\\n\\nThen that.\" }",
            "text \"Done.\"",
            "item Text { text: \"Done.\" }",
            "finished End, 0 in, 0 out",
        ]
    );
}

#[test]
fn a_call_comes_back_under_the_tools_own_name_and_without_nulls_for_what_is_left_out() {
    let events = event_lines(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"shop_find"}}
        {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"what\":\"tea\","}
        {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"\"most\":null}"}
        {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"what\":\"tea\",\"most\":null}"}
        {"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"what\":\"tea\",\"most\":null}","call_id":"call_1","name":"shop_find"}}
        {"type":"response.completed","response":{"status":"completed","output":[{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"what\":\"tea\",\"most\":null}","call_id":"call_1","name":"shop_find"}]}}"#,
    );
    assert_eq!(
        events,
        [
            "call 0 begins: shop.find call_1",
            "call 0 delta {\"what\":\"tea\",",
            "call 0 delta \"most\":null}",
            "item call shop.find call_1 {\"what\":\"tea\"}",
            "finished Calls, 0 in, 0 out",
        ]
    );
}

#[test]
fn the_deltas_of_interleaved_calls_stay_apart() {
    let events = event_lines(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","arguments":"","call_id":"call_1","name":"now"}}
        {"type":"response.output_item.added","output_index":1,"item":{"id":"fc_2","type":"function_call","arguments":"","call_id":"call_2","name":"lost"}}
        {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":1,"delta":"{\"b\":"}
        {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{"}
        {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":1,"delta":"2}"}
        {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"}"}
        {"type":"response.output_item.done","output_index":1,"item":{"id":"fc_2","type":"function_call","arguments":"{\"b\":2}","call_id":"call_2","name":"lost"}}
        {"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","arguments":"{}","call_id":"call_1","name":"now"}}
        {"type":"response.completed","response":{"status":"completed"}}"#,
    );
    assert_eq!(
        events,
        [
            "call 0 begins: now call_1",
            "call 1 begins: lost call_2",
            "call 1 delta {\"b\":",
            "call 0 delta {",
            "call 1 delta 2}",
            "call 0 delta }",
            "item call lost call_2 {\"b\":2}",
            "item call now call_1 {}",
            "finished Calls, 0 in, 0 out",
        ]
    );
}

#[test]
fn ids_that_differ_from_frame_to_frame_are_ignored_if_there_is_an_output_index() {
    let events = event_lines(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"a","type":"message","content":[],"role":"assistant"}}
        {"type":"response.output_text.delta","item_id":"b","output_index":0,"delta":"Let me look."}
        {"type":"response.output_item.done","output_index":0,"item":{"id":"c","type":"message","content":[{"type":"output_text","text":"Let me look."}],"role":"assistant"}}
        {"type":"response.output_item.added","output_index":1,"item":{"id":"d","type":"function_call","arguments":"","call_id":"call_1","name":"now"}}
        {"type":"response.output_item.added","output_index":2,"item":{"id":"e","type":"function_call","arguments":"","call_id":"call_2","name":"lost"}}
        {"type":"response.function_call_arguments.delta","item_id":"f","output_index":1,"delta":"{}"}
        {"type":"response.function_call_arguments.delta","item_id":"g","output_index":2,"delta":"[]"}
        {"type":"response.output_item.done","output_index":1,"item":{"id":"h","type":"function_call","arguments":"{}","call_id":"call_1","name":"now"}}
        {"type":"response.output_item.done","output_index":2,"item":{"id":"i","type":"function_call","arguments":"[]","call_id":"call_2","name":"lost"}}
        {"type":"response.completed","response":{"status":"completed","output":[{"id":"j","type":"message"},{"id":"k","type":"function_call","call_id":"call_1"},{"id":"l","type":"function_call","call_id":"call_2"}]}}"#,
    );
    assert_eq!(
        events,
        [
            "text \"Let me look.\"",
            "item Text { text: \"Let me look.\" }",
            "call 0 begins: now call_1",
            "call 1 begins: lost call_2",
            "call 0 delta {}",
            "call 1 delta []",
            "item call now call_1 {}",
            "item call lost call_2 []",
            "finished Calls, 0 in, 0 out",
        ]
    );
}

/// llama.cpp: neither output indexes nor sequence numbers, calls without an id of their own, all items at the end.
const LLAMA: &str = r#"{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress"}}
    {"type":"response.output_item.added","item":{"id":"rs_1","summary":[],"type":"reasoning","content":[],"encrypted_content":"","status":"in_progress"}}
    {"type":"response.reasoning_text.delta","delta":"Hm.","item_id":"rs_1"}
    {"type":"response.output_item.added","item":{"content":[],"id":"msg_1","role":"assistant","status":"in_progress","type":"message"}}
    {"type":"response.content_part.added","item_id":"msg_1","part":{"type":"output_text","text":""}}
    {"type":"response.output_text.delta","item_id":"msg_1","delta":"I look."}
    {"type":"response.output_item.added","item":{"arguments":"","call_id":"fc_a","name":"now","type":"function_call","status":"in_progress"}}
    {"type":"response.function_call_arguments.delta","delta":"{}","item_id":"fc_a"}
    {"type":"response.output_item.added","item":{"arguments":"","call_id":"fc_b","name":"shop_find","type":"function_call","status":"in_progress"}}
    {"type":"response.function_call_arguments.delta","delta":"{\"what\":1}","item_id":"fc_b"}
    {"type":"response.output_item.done","item":{"id":"rs_1","summary":[],"type":"reasoning","content":[{"text":"Hm.","type":"reasoning_text"}],"encrypted_content":""}}
    {"type":"response.output_text.done","item_id":"msg_1","text":"I look."}
    {"type":"response.output_item.done","item":{"type":"message","status":"completed","id":"msg_1","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"I look."}],"role":"assistant"}}
    {"type":"response.output_item.done","item":{"type":"function_call","status":"completed","arguments":"{}","call_id":"fc_a","name":"now"}}
    {"type":"response.output_item.done","item":{"type":"function_call","status":"completed","arguments":"{\"what\":1}","call_id":"fc_b","name":"shop_find"}}
    {"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[{"id":"rs_1","type":"reasoning"},{"id":"msg_1","type":"message"},{"type":"function_call","arguments":"{}","call_id":"fc_a","name":"now"},{"type":"function_call","arguments":"{\"what\":1}","call_id":"fc_b","name":"shop_find"}],"usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12}}}"#;

#[test]
fn a_stream_without_places_and_numbers_is_read_all_the_same() {
    assert_eq!(
        event_lines(LLAMA),
        [
            "reasoning \"Hm.\"",
            "text \"I look.\"",
            "call 0 begins: now fc_a",
            "call 0 delta {}",
            "call 1 begins: shop.find fc_b",
            "call 1 delta {\"what\":1}",
            "item Reasoning { text: \"Hm.\" }",
            "item Text { text: \"I look.\" }",
            "item call now fc_a {}",
            "item call shop.find fc_b {\"what\":1}",
            "finished Calls, 5 in, 7 out",
        ]
    );
}

#[test]
fn items_that_only_the_last_frame_has_are_emitted_then() {
    let events = event_lines(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","arguments":"","call_id":"call_1","name":"now"}}
        {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{}"}
        {"type":"response.completed","response":{"status":"completed","output":[{"id":"fc_1","type":"function_call","arguments":"{}","call_id":"call_1","name":"now"},{"id":"fc_2","type":"function_call","arguments":"{\"b\":2}","call_id":"call_2","name":"lost"},{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Moment."}]}]}}"#,
    );
    assert_eq!(
        events,
        [
            "call 0 begins: now call_1",
            "call 0 delta {}",
            "item call now call_1 {}",
            "call 1 begins: lost call_2",
            "call 1 delta {\"b\":2}",
            "item call lost call_2 {\"b\":2}",
            "text \"Moment.\"",
            "item Text { text: \"Moment.\" }",
            "finished Calls, 0 in, 0 out",
        ]
    );
}

#[test]
fn an_item_that_no_frame_has_is_assembled_from_its_deltas() {
    let frames = r#"{"type":"response.output_text.delta","item_id":"msg_1","delta":"So "}
        {"type":"response.output_text.delta","item_id":"msg_1","delta":"be it."}
        {"type":"response.output_item.added","item":{"id":"fc_1","type":"function_call","arguments":"","call_id":"call_1","name":"now","extra":7}}
        {"type":"response.function_call_arguments.done","item_id":"fc_1","arguments":"{\"x\":1}"}
        {"type":"response.completed","response":{"status":"completed","output":[]}}"#;
    assert_eq!(
        event_lines(frames),
        [
            "text \"So \"",
            "text \"be it.\"",
            "call 0 begins: now call_1",
            "item Text { text: \"So be it.\" }",
            "call 0 delta {\"x\":1}",
            "item call now call_1 {\"x\":1}",
            "finished Calls, 0 in, 0 out",
        ]
    );
    let items = items(frames);
    let raw = items[1].raw_json("openai_responses").unwrap().get();
    assert_eq!(
        raw,
        r#"{"id":"fc_1","type":"function_call","arguments":"{\"x\":1}","call_id":"call_1","name":"now","extra":7,"status":"completed"}"#
    );
}

#[test]
fn arguments_are_passed_on_as_they_were_sent() {
    for arguments in ["", "{}", "{'what': tea,}", "{\"what\": \"te", "null"] {
        let arguments = serde_json::to_string(arguments).unwrap();
        let frames = format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"id":"fc_1","type":"function_call","arguments":{arguments},"call_id":"call_1","name":"lost"}}}}
            {{"type":"response.completed","response":{{"status":"completed"}}}}"#
        );
        let items = items(&frames);
        let [item] = items.as_slice() else { panic!() };
        let ItemKind::Call { call } = &item.kind else { panic!() };
        assert_eq!(serde_json::to_string(call.arguments.as_str()).unwrap(), arguments);
    }
}

#[test]
fn an_object_of_arguments_becomes_its_text() {
    let items = items(
        r#"{"type":"response.output_item.done","item":{"type":"function_call","arguments":{"a": [1]},"call_id":"call_1","name":"lost"}}
        {"type":"response.completed"}"#,
    );
    let ItemKind::Call { call } = &items[0].kind else { panic!() };
    assert_eq!(call.arguments, r#"{"a": [1]}"#);
}

#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_emitted() {
    let frames = r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","arguments":"","call_id":"call_1","name":"now"}}
        {"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","status":"incomplete","arguments":"","call_id":"call_1","name":"now"}}
        {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"id":"fc_1","type":"function_call","status":"incomplete","arguments":"","call_id":"call_1","name":"now"}]}}"#;
    assert_eq!(event_lines(frames), ["call 0 begins: now call_1", "finished Length, 0 in, 0 out"]);
}

#[test]
fn hosted_calls_have_their_input_and_output() {
    let items = items(
        r#"{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws_1"}
        {"type":"response.output_item.done","output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"tea","sources":[{"type":"url","url":"https://tea.example"}]}}}
        {"type":"response.output_item.done","output_index":1,"item":{"id":"ws_2","type":"web_search_call","status":"failed","action":{"type":"find_in_page","url":"https://tea.example","pattern":"green"}}}
        {"type":"response.output_item.done","output_index":2,"item":{"id":"mcpl_1","type":"mcp_list_tools","server_label":"wiki","tools":[{"name":"search","input_schema":{}},{"name":"page","input_schema":{}}],"error":null}}
        {"type":"response.mcp_call_arguments.delta","output_index":3,"item_id":"mcp_1","delta":"{"}
        {"type":"response.output_item.done","output_index":3,"item":{"id":"mcp_1","type":"mcp_call","server_label":"wiki","name":"search","arguments":"{\"q\":1}","output":"found","error":null,"status":"completed"}}
        {"type":"response.output_item.done","output_index":4,"item":{"id":"mcp_2","type":"mcp_call","server_label":"wiki","name":"page","arguments":"{}","output":null,"error":{"type":"http_error","code":404,"message":"gone"}}}
        {"type":"response.output_item.done","output_index":5,"item":{"id":"ci_1","type":"code_interpreter_call","status":"completed","code":"1+1","outputs":[{"type":"logs","logs":"2"}]}}
        {"type":"response.completed","response":{"status":"completed"}}"#,
    );
    let kinds: Vec<_> = items.into_iter().map(|item| item.kind).collect();
    let hosted = |tool: &str, input: &str, output: &str, failed| ItemKind::HostedCall {
        tool: tool.to_owned(),
        input: input.to_owned(),
        output: output.to_owned(),
        failed,
    };
    assert_eq!(
        kinds,
        [
            hosted("web_search", "tea", "https://tea.example", false),
            hosted("web_search", "https://tea.example green", "", true),
            hosted("mcp_list_tools", "wiki", "search, page", false),
            hosted("wiki.search", "{\"q\":1}", "found", false),
            hosted("wiki.page", "{}", r#"{"type":"http_error","code":404,"message":"gone"}"#, true),
            hosted("code_interpreter", "1+1", "2", false),
        ]
    );
}

#[test]
fn an_approval_request_is_emitted_and_awaited() {
    let events = event_lines(
        r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"mcpr_1","type":"mcp_approval_request","server_label":"wiki","name":"edit","arguments":"{\"page\":1}"}}
        {"type":"response.completed","response":{"status":"completed"}}"#,
    );
    assert_eq!(
        events,
        [
            "item HostedApproval { id: \"mcpr_1\", server: \"wiki\", tool: \"edit\", arguments: \"{\\\"page\\\":1}\" }",
            "finished Calls, 0 in, 0 out",
        ]
    );
}

#[test]
fn a_refusal_is_an_item_and_a_reason_to_stop() {
    let events = event_lines(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","content":[],"role":"assistant"}}
        {"type":"response.refusal.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"I will not."}
        {"type":"response.refusal.done","item_id":"msg_1","output_index":0,"content_index":0,"refusal":"I will not."}
        {"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","content":[{"type":"refusal","refusal":"I will not."}],"role":"assistant"}}
        {"type":"response.completed","response":{"status":"completed"}}"#,
    );
    assert_eq!(
        events,
        ["item Refusal { text: \"I will not.\" }", "finished Refused, 0 in, 0 out",]
    );
}

#[test]
fn unknown_items_are_kept_byte_for_byte_and_unknown_frames_skipped() {
    let item =
        r#"{"type":"hologram_call", "id":"ho_1" , "beams":[1.50, 2e3], "nested":{"b":1,"a":2}}"#;
    let items = items(&format!(
        r#"{{"type":"response.hologram.flicker","delta":{{"x":1}},"item":7,"response":"none","output_index":"first"}}
        {{"type":"response.output_item.done","output_index":0,"item":{item}}}
        {{"type":"response.completed","response":{{"status":"completed","usage":"much"}}}}"#
    ));
    let [kept] = items.as_slice() else { panic!() };
    assert_eq!(kept.kind, ItemKind::Other);
    assert_eq!(kept.raw_json("openai_responses").unwrap().get(), item);
}

#[test]
fn tokens_are_counted_with_those_cached_and_those_of_reasoning() {
    let events = events(
        r#"{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":40},"total_tokens":150}}}"#,
    );
    let events = events.unwrap();
    let [ModelEvent::Finished { usage, .. }] = events.as_slice() else { panic!() };
    let counted = (usage.input, usage.output, usage.cached, usage.cache_written, usage.reasoning);
    assert_eq!(counted, (100, 50, 60, 30, 40));
    assert!(!usage.estimated);
}

#[test]
fn every_reason_to_stop_has_its_word() {
    let stop = |frame: &str| match events(frame).unwrap().pop() {
        Some(ModelEvent::Finished { stop, .. }) => stop,
        other => panic!("{other:?}"),
    };
    let incomplete = |reason: &str| {
        stop(&format!(
            r#"{{"type":"response.incomplete","response":{{"status":"incomplete","incomplete_details":{{"reason":"{reason}"}}}}}}"#
        ))
    };
    assert_eq!(incomplete("max_output_tokens"), StopReason::Length);
    assert_eq!(incomplete("content_filter"), StopReason::Filtered);
    assert_eq!(incomplete("steered"), StopReason::Other("steered".to_owned()));
    assert_eq!(
        stop(r#"{"type":"response.incomplete","response":{}}"#),
        StopReason::Other("incomplete".to_owned())
    );
    assert_eq!(
        stop(r#"{"type":"response.cancelled","response":{"status":"cancelled"}}"#),
        StopReason::Other("cancelled".to_owned())
    );
    assert_eq!(stop(r#"{"type":"response.completed"}"#), StopReason::End);
}

#[test]
fn an_item_that_is_sent_twice_is_one_item() {
    let done = r#"{"type":"response.output_item.done","item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Hi."}]}}"#;
    let events = event_lines(&format!("{done}\n{done}\n{{\"type\":\"response.completed\"}}"));
    assert_eq!(
        events,
        ["text \"Hi.\"", "item Text { text: \"Hi.\" }", "finished End, 0 in, 0 out"]
    );
}

#[test]
fn an_answer_without_its_end_is_cut_off() {
    let error = events(r#"{"type":"response.output_text.delta","item_id":"msg_1","delta":"So"}"#);
    let error = error.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert_eq!(error.message, "the answer was cut off");
    assert_eq!(events("").unwrap_err().message, "the answer was cut off");
}

#[test]
fn a_frame_that_cannot_be_read_is_named() {
    let error = events("{\"type\":\"response.output_te").unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert_eq!(
        error.message,
        "a frame of the answer cannot be read: `{\"type\":\"response.output_te`"
    );
}

#[test]
fn what_comes_after_the_end_is_not_read() {
    let events = event_lines(
        r#"{"type":"response.completed"}
        [DONE]
        {"type":"response.output_text.delta","delta":"more"}
        garbage"#,
    );
    assert_eq!(events, ["finished End, 0 in, 0 out"]);
}

#[test]
fn the_name_of_an_event_stands_in_for_a_missing_type() {
    use crate::protocol::Protocol as _;
    let mut parser = super::OpenAiResponses.parser(super::no_tools());
    parser.parse_frame("response.output_text.delta", r#"{"delta":"Hi"}"#).unwrap();
    assert!(matches!(
        parser.events().as_slice(),
        [ModelEvent::Text(text)] if text == "Hi"
    ));
}

#[test]
fn a_failed_response_without_streaming_is_an_error() {
    let mut parser = OpenAiResponses.parser(plan());
    let failed = r#"{"id":"resp_1","object":"response","status":"failed","output":[],
        "error":{"code":"rate_limit_exceeded","message":"slow down"}}"#;
    let error = parser.parse_complete_body(failed).unwrap_err();
    assert_eq!(error.message, "slow down");
    assert!(error.is_transient());
}
