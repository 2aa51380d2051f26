//! Calls are assembled from their deltas, however a vendor labels them.

mod encodings;

use serde_json::{Value, json};
use toolwright_chat::ModelEvent;

use super::{CallAssembler, CallDelta, CompleteCall};

/// Parses an element of `tool_calls`.
fn call_delta(entry: &Value) -> CallDelta {
    CallDelta::new(
        entry.get("index"),
        entry.get("id"),
        entry.pointer("/function/name"),
        entry.pointer("/function/arguments").cloned(),
    )
}

/// Assembles the calls in frames of such elements.
fn calls(frames: &[Value]) -> Vec<CompleteCall> {
    let mut assembler = CallAssembler::default();
    for frame in frames {
        let entries = frame.as_array().expect("a frame is a list");
        assembler.add_deltas(entries.iter().map(call_delta));
    }
    assembler.finish().1
}

fn summaries(calls: &[CompleteCall]) -> Vec<(&str, &str, &str)> {
    let texts =
        calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()));
    texts.collect()
}

#[test]
fn deltas_in_the_form_of_openai_are_joined() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]),
        json!([{"index": 0, "function": {"arguments": "{\"x\""}}]),
        json!([{"index": 0, "function": {"arguments": ":1}"}}]),
        json!([{"index": 1, "id": "b", "type": "function", "function": {"name": "f", "arguments": ""}}]),
        json!([{"index": 1, "function": {"arguments": "{\"x\":2}"}}]),
    ]);
    assert_eq!(summaries(&calls), [("a", "f", "{\"x\":1}"), ("b", "f", "{\"x\":2}")]);
}

#[test]
fn calls_that_are_all_number_0_stay_apart_by_their_ids() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}}]),
        json!([{"index": 0, "id": "b", "function": {"name": "f", "arguments": "{\"x\":2}"}}]),
        json!([{"index": 0, "id": "c", "function": {"name": "g", "arguments": "{}"}}]),
    ]);
    assert_eq!(
        summaries(&calls),
        [("a", "f", "{\"x\":1}"), ("b", "f", "{\"x\":2}"), ("c", "g", "{}")]
    );
}

#[test]
fn two_complete_calls_without_ids_at_number_0_are_two_calls_even_if_they_are_the_same() {
    let one = json!([{"index": 0, "function": {"name": "f", "arguments": "{\"x\":1}"}}]);
    let calls = calls(&[one.clone(), one]);
    assert_eq!(summaries(&calls), [("call_0", "f", "{\"x\":1}"), ("call_1", "f", "{\"x\":1}")]);
}

#[test]
fn a_call_that_is_sent_again_under_its_id_is_one_call() {
    let one = json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}}]);
    let calls = calls(&[one.clone(), one]);
    assert_eq!(summaries(&calls), [("a", "f", "{\"x\":1}")]);
}

#[test]
fn id_and_name_in_every_delta_are_not_joined() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]),
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "\"x\":{"}}]),
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "}}"}}]),
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]),
    ]);
    assert_eq!(summaries(&calls), [("a", "f", "{\"x\":{}}")]);
}

#[test]
fn an_id_that_another_call_has_is_replaced() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}}]),
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":2}"}}]),
        json!([{"index": 1, "id": "a", "function": {"name": "g", "arguments": "{}"}}]),
    ]);
    assert_eq!(
        summaries(&calls),
        [("a", "f", "{\"x\":1}"), ("call_1", "f", "{\"x\":2}"), ("call_2", "g", "{}")]
    );
}

#[test]
fn a_generated_id_is_never_one_that_a_vendor_sent() {
    let calls = calls(&[
        json!([{"id": "call_1", "function": {"name": "f", "arguments": "{}"}}]),
        json!([{"function": {"name": "g", "arguments": "{}"}}]),
    ]);
    assert_eq!(summaries(&calls), [("call_1", "f", "{}"), ("call_1x", "g", "{}")]);
}

#[test]
fn a_new_id_for_every_delta_is_no_new_call() {
    let calls = calls(&[
        json!([{"index": 0, "id": "r1", "function": {"name": "f", "arguments": ""}}]),
        json!([{"index": 0, "id": "r2", "function": {"arguments": "{\"x\""}}]),
        json!([{"index": 0, "id": "r3", "function": {"arguments": ":1}"}}]),
        json!([{"index": 0, "id": "r4", "function": {"arguments": ""}}]),
    ]);
    assert_eq!(summaries(&calls), [("r1", "f", "{\"x\":1}")]);
}

#[test]
fn arguments_may_be_an_object_or_null_or_missing() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]),
        json!([{"index": 1, "id": "b", "function": {"name": "f", "arguments": null}}]),
        json!([{"index": 2, "id": "c", "function": {"name": "f"}}]),
    ]);
    assert_eq!(summaries(&calls), [("a", "f", "{\"x\":1}"), ("b", "f", ""), ("c", "f", "")]);
}

#[test]
fn an_empty_object_at_the_head_makes_room_for_what_follows() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": {}}}]),
        json!([{"index": 0, "function": {"arguments": "{\"x\":1}"}}]),
    ]);
    assert_eq!(summaries(&calls), [("a", "f", "{\"x\":1}")]);
}

#[test]
fn malformed_and_cut_off_arguments_pass_as_they_are() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}}]),
        json!([{"index": 0, "function": {"arguments": "}"}}]),
        json!([{"index": 1, "id": "b", "function": {"name": "f", "arguments": "{\"x\":"}}]),
        json!([{"index": 2, "id": "c", "function": {"name": "f", "arguments": "x=1"}}]),
    ]);
    assert_eq!(
        summaries(&calls),
        [("a", "f", "{\"x\":1}}"), ("b", "f", "{\"x\":"), ("c", "f", "x=1")]
    );
}

#[test]
fn numbers_may_begin_anywhere_and_be_text() {
    let calls = calls(&[
        json!([{"index": 7, "id": "a", "function": {"name": "f", "arguments": "{"}}]),
        json!([{"index": "7", "function": {"arguments": "}"}}]),
    ]);
    assert_eq!(summaries(&calls), [("a", "f", "{}")]);
}

#[test]
fn a_number_that_changes_in_mid_call_changes_nothing_else() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":"}}]),
        json!([{"index": 1, "function": {"arguments": "1}"}}]),
        json!([{"index": 1, "id": "b", "function": {"name": "f", "arguments": "{\"x\":"}}]),
        json!([{"index": 0, "function": {"arguments": "2}"}}]),
    ]);
    assert_eq!(summaries(&calls), [("a", "f", "{\"x\":1}"), ("b", "f", "{\"x\":2}")]);
}

#[test]
fn a_blank_id_is_none() {
    let calls = calls(&[
        json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]),
        json!([{"index": 0, "id": " ", "function": {"name": "", "arguments": "}"}}]),
    ]);
    assert_eq!(summaries(&calls), [("a", "f", "{}")]);
}

#[test]
fn the_older_form_counts_only_if_there_is_no_other() {
    let old = |arguments: &str| {
        CallDelta::new(None, None, Some(&json!("f")), Some(Value::String(arguments.to_owned())))
    };
    let mut both = CallAssembler::default();
    both.add_legacy_delta(old("{\"x\":1}"));
    both.add_deltas([call_delta(
        &json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}}),
    )]);
    assert_eq!(summaries(&both.finish().1), [("a", "f", "{\"x\":1}")]);

    let mut alone = CallAssembler::default();
    alone.add_legacy_delta(old("{\"x\""));
    alone.add_legacy_delta(CallDelta::new(None, None, None, Some(json!(":1}"))));
    let (events, calls) = alone.finish();
    assert_eq!(summaries(&calls), [("call_0", "f", "{\"x\":1}")]);
    assert_eq!(events.len(), 2);
}

#[test]
fn generated_ids_are_the_same_each_time_and_differ_between_responses() {
    let id = |seed: &str| {
        let mut assembler = CallAssembler::default();
        assembler.set_id_seed(seed);
        assembler.add_deltas([call_delta(&json!({"function": {"name": "f", "arguments": "{}"}}))]);
        assembler.finish().1.remove(0).id
    };
    assert_eq!(id("chatcmpl-1"), id("chatcmpl-1"));
    assert_ne!(id("chatcmpl-1"), id("chatcmpl-2"));
}

#[test]
fn a_call_is_emitted_once_its_name_is_known_and_its_arguments_as_they_come() {
    let mut assembler = CallAssembler::default();
    let mut events = Vec::new();
    for entry in [
        json!({"index": 0, "id": "a", "function": {"arguments": "{"}}),
        json!({"index": 0, "function": {"name": "f", "arguments": "\"x\":"}}),
        json!({"index": 0, "function": {"arguments": "1}"}}),
    ] {
        events.extend(assembler.add_deltas([call_delta(&entry)]));
    }
    let events_text: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    assert_eq!(
        events_text,
        [
            r#"CallBegins { index: 0, id: "a", name: "f" }"#,
            r#"CallDelta { index: 0, delta: "{\"x\":" }"#,
            r#"CallDelta { index: 0, delta: "1}" }"#,
        ]
    );
    assert!(!events.iter().any(|event| matches!(event, ModelEvent::Item(_))));
}

#[test]
fn white_space_within_a_text_continues_the_call() {
    let calls = calls(&[
        json!([{"index": 0, "function": {"name": "f", "arguments": "{\"x\":\"a"}}]),
        json!([{"index": 5, "function": {"arguments": " "}}]),
        json!([{"index": 6, "function": {"arguments": "b\"}"}}]),
    ]);
    assert_eq!(summaries(&calls), [("call_0", "f", "{\"x\":\"a b\"}")]);
}

#[test]
fn a_call_that_returns_under_the_labels_of_another_is_a_call_again() {
    let head =
        |name: &str| json!([{"index": 0, "id": "a", "function": {"name": name, "arguments": ""}}]);
    let body = |name: &str| json!([{"index": 0, "id": "a", "function": {"name": name, "arguments": "{}"}}]);
    let frames: Vec<Value> =
        ["f", "g", "f"].iter().flat_map(|name| [head(name), body(name)]).collect();
    let calls = calls(&frames);
    assert_eq!(summaries(&calls), [("a", "f", "{}"), ("call_1", "g", "{}"), ("call_2", "f", "{}")]);
}
