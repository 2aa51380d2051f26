//! Unknown fields and frames do not change the events, and no input makes the parser panic.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::OpenAiResponses;
use super::{event_line, events, plan};
use crate::protocol::Protocol as _;

const FRAMES: [&str; 11] = [
    r#"{"type":"response.created","response":{"status":"in_progress"}}"#,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Hm."}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"Hm."}]}}"#,
    r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","arguments":"","call_id":"call_1","name":"shop_find"}}"#,
    r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_2","type":"function_call","arguments":"","call_id":"call_2","name":"now"}}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":2,"delta":"{}"}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"{\"what\":\"tea\",\"most\":null}"}"#,
    r#"{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","arguments":"{\"what\":\"tea\",\"most\":null}","call_id":"call_1","name":"shop_find"}}"#,
    r#"{"type":"response.output_item.done","output_index":2,"item":{"id":"fc_2","type":"function_call","arguments":"{}","call_id":"call_2","name":"now"}}"#,
    r#"{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"output_tokens":2}}}"#,
];

fn known_events(frames: &[String]) -> Vec<String> {
    let events = events(&frames.join("\n")).unwrap();
    events.iter().map(event_line).collect()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,8}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A frame with the protocol's fields and any values.
fn any_frame() -> impl Strategy<Value = String> {
    let kinds: Vec<&str> = vec![
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.refusal.delta",
        "response.reasoning_summary_part.added",
        "response.reasoning_text.delta",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "error",
    ];
    let items = prop_oneof![
        any_json(),
        (
            prop::sample::select(vec![
                "message",
                "reasoning",
                "function_call",
                "custom_tool_call",
                "mcp_call",
                "web_search_call"
            ]),
            prop::sample::select(vec!["", "a", "b"]),
            any_json(),
            any_json(),
        )
            .prop_map(|(kind, id, content, arguments)| json!({
                "type": kind, "id": id, "call_id": id, "name": id, "content": content,
                "arguments": arguments, "input": id, "summary": content, "action": content,
            })),
    ];
    let fields = (
        prop::sample::select(kinds),
        prop::option::of(0_u64..4),
        prop::sample::select(vec!["", "a", "b", "c"]),
        any_json(),
        items,
        any_json(),
    );
    fields.prop_map(|(kind, place, id, delta, item, other)| {
        json!({
            "type": kind, "output_index": place, "item_id": id, "delta": delta, "item": item,
            "arguments": other, "error": other,
            "response": {"output": [item, other], "usage": other, "status": other},
        })
        .to_string()
    })
}

proptest! {
    #[test]
    fn unknown_frames_and_fields_change_nothing(
        extra in prop::collection::vec((0_usize..FRAMES.len(), any_json()), 0..8),
        fields in prop::collection::vec((0_usize..FRAMES.len(), "zz_[a-z]{1,6}", any_json()), 0..8),
    ) {
        let plain: Vec<String> = FRAMES.map(str::to_owned).to_vec();
        let mut frames = plain.clone();
        for (at, name, value) in fields {
            let mut frame: Value = serde_json::from_str(&frames[at]).unwrap();
            frame[name.as_str()] = value.clone();
            for inner in ["item", "response"] {
                if let Some(Value::Object(inner)) = frame.get_mut(inner) {
                    inner.insert(name.clone(), value.clone());
                }
            }
            frames[at] = frame.to_string();
        }
        for (at, value) in extra {
            let unknown = json!({"type": "response.unheard_of.delta", "delta": value, "item": value, "output_index": 1});
            frames.insert(at, unknown.to_string());
        }
        prop_assert_eq!(known_events(&frames), known_events(&plain));
    }

    #[test]
    fn no_frames_make_a_reader_panic(
        frames in prop::collection::vec(prop_oneof![
            4 => any_frame(),
            1 => any_json().prop_map(|value| value.to_string()),
            1 => any::<String>(),
            1 => prop::sample::select(FRAMES.to_vec()).prop_map(str::to_owned),
        ], 0..16),
    ) {
        let mut parser = OpenAiResponses.parser(plan());
        for frame in &frames {
            let _ = parser.parse_frame("", frame);
        }
        let _ = parser.end_of_stream();
    }

    #[test]
    fn no_body_makes_reading_an_error_panic(status in any::<u16>(), body in any::<String>(), value in any_json()) {
        let _ = OpenAiResponses.parse_error(status, &body);
        let _ = OpenAiResponses.parse_error(status, &json!({"error": value}).to_string());
    }
}
