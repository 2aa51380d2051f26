//! Streamed responses.

use serde_json::json;
use toolwright_chat::{ItemKind, ModelErrorKind, StopReason, Usage};
use toolwright_core::ToolCall;

use super::{delta, done, finish, finished, kinds, parse_frames, raws, streamed};

fn text(text: &str) -> ItemKind {
    ItemKind::Text { text: text.to_owned() }
}

fn reasoning(text: &str) -> ItemKind {
    ItemKind::Reasoning { text: text.to_owned() }
}

fn call(id: &str, name: &str, arguments: &str) -> ItemKind {
    ItemKind::Call { call: ToolCall::new(name, arguments).with_id(id) }
}

#[test]
fn text_is_streamed_and_complete_at_the_end() {
    let events = parse_frames(&[
        delta(json!({"role": "assistant", "content": "", "refusal": null})),
        delta(json!({"content": "Good "})),
        delta(json!({"content": "day"})),
        finish("stop"),
        done(),
    ])
    .unwrap();
    assert_eq!(streamed(&events), ["text Good ", "text day"]);
    assert_eq!(kinds(&events), [text("Good day")]);
    assert_eq!(raws(&events), [json!({"content": "Good day"})]);
    assert_eq!(finished(&events), (StopReason::End, Usage::default()));
}

#[test]
fn reasoning_comes_before_the_text_in_any_field() {
    for name in ["reasoning_content", "reasoning"] {
        let events = parse_frames(&[
            delta(json!({name: "Hm, "})),
            delta(json!({name: "well."})),
            delta(json!({"content": "Yes."})),
            finish("stop"),
            done(),
        ])
        .unwrap();
        assert_eq!(streamed(&events), ["thought Hm, ", "thought well.", "text Yes."]);
        assert_eq!(kinds(&events), [reasoning("Hm, well."), text("Yes.")]);
        assert_eq!(raws(&events)[0], json!({name: "Hm, well."}));
    }
}

#[test]
fn reasoning_in_two_fields_is_emitted_once_and_kept_twice() {
    let events = parse_frames(&[
        delta(json!({"reasoning_content": "Hm", "reasoning": "Hm"})),
        finish("stop"),
    ])
    .unwrap();
    assert_eq!(streamed(&events), ["thought Hm"]);
    assert_eq!(raws(&events), [json!({"reasoning_content": "Hm", "reasoning": "Hm"})]);
}

#[test]
fn details_of_reasoning_are_put_together_by_type_and_index() {
    let events = parse_frames(&[
        delta(json!({"reasoning": "Hm, ", "reasoning_details": [
            {"type": "reasoning.text", "text": "Hm, ", "index": 0, "format": "anthropic-claude-v1"}]})),
        delta(json!({"reasoning": "well.", "reasoning_details": [
            {"type": "reasoning.text", "text": "well.", "index": 0}]})),
        delta(json!({"reasoning_details": [
            {"type": "reasoning.text", "signature": "SIG", "index": 0}]})),
        delta(json!({"reasoning_details": [
            {"type": "reasoning.encrypted", "data": "AAAA", "index": 1, "id": "rs_1"}]})),
        finish("stop"),
    ])
    .unwrap();
    assert_eq!(streamed(&events), ["thought Hm, ", "thought well."]);
    assert_eq!(
        raws(&events)[0]["reasoning_details"],
        json!([
            {"type": "reasoning.text", "text": "Hm, well.", "index": 0, "format": "anthropic-claude-v1", "signature": "SIG"},
            {"type": "reasoning.encrypted", "data": "AAAA", "index": 1, "id": "rs_1"},
        ])
    );
}

#[test]
fn details_alone_are_reasoning_too() {
    let events = parse_frames(&[
        delta(json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "Hm"}]})),
        delta(json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "!"}]})),
        finish("stop"),
    ])
    .unwrap();
    assert_eq!(kinds(&events), [reasoning("Hm!")]);
    assert_eq!(
        raws(&events)[0]["reasoning_details"],
        json!([{"type": "reasoning.summary", "summary": "Hm!"}])
    );
}

#[test]
fn reasoning_among_the_parts_of_the_content_is_separated() {
    let thinking = |text: &str| {
        delta(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}),
        )
    };
    let events = parse_frames(&[
        thinking("Hm, "),
        thinking("well."),
        delta(json!({"content": [{"type": "text", "text": "Yes."}]})),
        delta(json!({"content": " No."})),
        finish("stop"),
    ])
    .unwrap();
    assert_eq!(kinds(&events), [reasoning("Hm, well."), text("Yes. No.")]);
    assert_eq!(
        raws(&events)[0],
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm, well."}]}]})
    );
}

#[test]
fn a_call_is_lifted_to_the_tools_own_name_and_arguments() {
    let events = parse_frames(&[
        delta(json!({"tool_calls": [
            {"index": 0, "id": "a", "type": "function", "function": {"name": "weather_now", "arguments": ""}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"city\":\"Oslo\","}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"unit\":null}"}}]})),
        finish("tool_calls"),
        done(),
    ])
    .unwrap();
    assert_eq!(
        streamed(&events),
        ["call 0 a weather.now", "more 0 {\"city\":\"Oslo\",", "more 0 \"unit\":null}"]
    );
    assert_eq!(kinds(&events), [call("a", "weather.now", r#"{"city":"Oslo"}"#)]);
    assert_eq!(
        raws(&events),
        [json!({"id": "a", "type": "function", "function": {
            "name": "weather_now", "arguments": r#"{"city":"Oslo","unit":null}"#}})]
    );
    assert_eq!(finished(&events).0, StopReason::Calls);
}

#[test]
fn parallel_calls_come_in_order_even_if_their_deltas_are_mixed() {
    let events = parse_frames(&[
        delta(json!({"content": "Both."})),
        delta(json!({"tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\""}},
            {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}]})),
        delta(json!({"tool_calls": [{"index": 1, "function": {"arguments": "}"}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]})),
        finish("tool_calls"),
        done(),
    ])
    .unwrap();
    assert_eq!(kinds(&events), [text("Both."), call("a", "f", "{\"x\":1}"), call("b", "g", "{}")]);
}

#[test]
fn empty_and_malformed_arguments_pass_as_they_are() {
    let events = parse_frames(&[
        delta(json!({"tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}},
            {"index": 1, "id": "b", "function": {"name": "f", "arguments": "{}"}},
            {"index": 2, "id": "c", "function": {"name": "f", "arguments": "{'x': 1,"}}]})),
        finish("tool_calls"),
    ])
    .unwrap();
    assert_eq!(
        kinds(&events),
        [call("a", "f", ""), call("b", "f", "{}"), call("c", "f", "{'x': 1,")]
    );
}

#[test]
fn what_else_belongs_to_a_call_is_kept_with_it() {
    let signature = json!({"google": {"thought_signature": "SIG"}});
    let events = parse_frames(&[
        delta(json!({"tool_calls": [{"index": 0, "id": "a", "type": "function",
            "extra_content": signature, "function": {"name": "f", "arguments": "{}"}}]})),
        finish("tool_calls"),
    ])
    .unwrap();
    assert_eq!(raws(&events)[0]["extra_content"], signature);
}

#[test]
fn the_older_form_of_a_call_is_read_and_not_read_twice() {
    let old = json!({"name": "f", "arguments": "{}"});
    let events =
        parse_frames(&[delta(json!({"function_call": old})), finish("function_call")]).unwrap();
    assert!(matches!(&kinds(&events)[..], [ItemKind::Call { call }] if call.name == "f"));
    assert_eq!(finished(&events).0, StopReason::Calls);

    let events = parse_frames(&[
        delta(
            json!({"function_call": old, "tool_calls": [{"index": 0, "id": "a", "function": old}]}),
        ),
        finish("tool_calls"),
    ])
    .unwrap();
    assert_eq!(kinds(&events), [call("a", "f", "{}")]);
}

#[test]
fn a_call_of_an_unknown_type_is_kept() {
    let entry =
        json!({"index": 0, "id": "a", "type": "later", "later": {"name": "c", "input": "x"}});
    let events = parse_frames(&[delta(json!({"tool_calls": [entry]})), finish("stop")]).unwrap();
    assert_eq!(kinds(&events), [ItemKind::Other]);
    assert_eq!(raws(&events)[0]["tool_calls"][0]["later"], json!({"name": "c", "input": "x"}));
}

#[test]
fn unknown_fields_are_kept_and_unknown_frames_skipped() {
    let events = parse_frames(&[
        json!({"object": "ping"}).to_string(),
        json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}).to_string(),
        "7".to_owned(),
        "null".to_owned(),
        delta(json!({"content": "Yes", "annotations": [{"type": "url_citation", "n": 1}]})),
        delta(json!({"annotations": [{"type": "url_citation", "n": 2}], "odd": null})),
        finish("stop"),
        done(),
    ])
    .unwrap();
    assert_eq!(kinds(&events), [text("Yes"), ItemKind::Other]);
    assert_eq!(
        raws(&events)[1],
        json!({"annotations": [{"type": "url_citation", "n": 1}, {"type": "url_citation", "n": 2}]})
    );
}

#[test]
fn a_refusal_is_an_item_of_its_own() {
    let events = parse_frames(&[
        delta(json!({"refusal": "I "})),
        delta(json!({"refusal": "won't."})),
        finish("stop"),
        done(),
    ])
    .unwrap();
    let refusal = ItemKind::Refusal { text: "I won't.".to_owned() };
    assert_eq!(kinds(&events), [refusal]);
    assert_eq!(finished(&events).0, StopReason::Refused);
}

#[test]
fn every_reason_to_end_has_its_word() {
    for (reason, stop) in [
        ("stop", StopReason::End),
        ("eos", StopReason::End),
        ("length", StopReason::Length),
        ("model_length", StopReason::Length),
        ("content_filter", StopReason::Filtered),
        ("content_filter: RECITATION", StopReason::Filtered),
        ("tool_calls", StopReason::End),
        ("moonlight", StopReason::Other("moonlight".to_owned())),
    ] {
        let events =
            parse_frames(&[delta(json!({"content": "x"})), finish(reason), done()]).unwrap();
        assert_eq!(finished(&events).0, stop, "{reason}");
    }
}

#[test]
fn calls_are_to_run_even_if_the_reason_is_stop_but_not_if_they_are_cut_off() {
    let call = delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}));
    let events = parse_frames(&[call.clone(), finish("stop")]).unwrap();
    assert_eq!(finished(&events).0, StopReason::Calls);
    let events = parse_frames(&[call, finish("length")]).unwrap();
    assert_eq!(finished(&events).0, StopReason::Length);
}

#[test]
fn usage_is_the_last_that_was_sent() {
    let usage = json!({
        "prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 5},
    });
    let events = parse_frames(&[
        json!({"choices": [{"delta": {"content": "x"}}], "usage": {"prompt_tokens": 10, "completion_tokens": 1}}).to_string(),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": null}).to_string(),
        json!({"choices": [], "usage": usage}).to_string(),
        done(),
    ])
    .unwrap();
    let (_, usage) = finished(&events);
    assert_eq!((usage.input, usage.output), (10, 7));
    assert_eq!((usage.cached, usage.cache_written, usage.reasoning), (4, 3, 5));
}

#[test]
fn usage_is_found_wherever_a_vendor_puts_it() {
    let of = |chunk: serde_json::Value| {
        finished(&parse_frames(&[chunk.to_string(), finish("stop")]).unwrap()).1
    };
    let groq = of(
        json!({"choices": [], "x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}}),
    );
    assert_eq!((groq.input, groq.output), (1, 2));
    let moonshot = of(json!({"choices": [{"delta": {}, "usage": {"prompt_tokens": 3}}]}));
    assert_eq!(moonshot.input, 3);
    let deepseek =
        of(json!({"choices": [], "usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 8}}));
    assert_eq!(deepseek.cached, 8);
    let xai = of(json!({"choices": [], "usage": {
        "prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 8,
        "completion_tokens_details": {"reasoning_tokens": 5}}}));
    assert_eq!((xai.output, xai.reasoning), (7, 5));
}

#[test]
fn only_the_first_of_several_answers_is_read() {
    let events = parse_frames(&[
        json!({"choices": [{"index": 1, "delta": {"content": "No"}}, {"index": 0, "delta": {"content": "Yes"}}]}).to_string(),
        finish("stop"),
    ])
    .unwrap();
    assert_eq!(kinds(&events), [text("Yes")]);
}

#[test]
fn a_complete_message_is_read_unless_it_repeats_its_deltas() {
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "Yes"}, "finish_reason": "stop"}]});
    let events = parse_frames(&[whole.to_string()]).unwrap();
    assert_eq!(kinds(&events), [text("Yes")]);
    let events = parse_frames(&[delta(json!({"content": "Yes"})), whole.to_string()]).unwrap();
    assert_eq!(kinds(&events), [text("Yes")]);
}

#[test]
fn a_stream_may_end_without_its_last_word_but_not_without_a_reason() {
    let text = delta(json!({"content": "Good"}));
    assert!(parse_frames(&[text.clone(), finish("stop")]).is_ok());
    assert!(parse_frames(&[text.clone(), done()]).is_ok());
    let error = parse_frames(&[text]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert_eq!(error.message, "the answer was cut off");
    assert_eq!(parse_frames::<&str>(&[]).unwrap_err().kind, ModelErrorKind::Protocol);
}

#[test]
fn garbage_is_an_error_that_names_it_shortly() {
    let garbage = format!("<html>{}", "x".repeat(1000));
    let error = parse_frames(&[garbage]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("<html>"));
    assert!(error.message.len() < 250);
}

#[test]
fn an_error_in_the_stream_ends_it_with_the_vendors_message() {
    for (chunk, kind) in [
        (json!({"error": {"message": "Too fast", "code": 429}}), ModelErrorKind::RateLimit),
        (
            json!({"error": {"message": "Too fast", "type": "server_error"}}),
            ModelErrorKind::Overloaded,
        ),
        (
            json!({"object": "error", "message": "Too fast", "code": 400}),
            ModelErrorKind::BadRequest,
        ),
        (
            json!({"choices": [{"delta": {}, "error": {"code": 502, "message": "Too fast"}}]}),
            ModelErrorKind::Overloaded,
        ),
        (
            json!({"error": {"message": "Too fast", "code": "context_length_exceeded"}}),
            ModelErrorKind::ContextTooLong,
        ),
    ] {
        let error = parse_frames(&[chunk.to_string()]).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, "Too fast"), "{chunk}");
    }
    let broken = parse_frames(&[finish("insufficient_system_resource")]).unwrap_err();
    assert_eq!(broken.kind, ModelErrorKind::Overloaded);
}
