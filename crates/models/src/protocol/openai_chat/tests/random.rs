//! Unknown fields and frames change nothing, and no input makes the parser panic.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolwright_chat::ItemKind;

use super::{OPENAI, delta, done, finish, parse_frames, plan};
use crate::protocol::Protocol as _;

fn recorded() -> Vec<String> {
    vec![
        delta(json!({"role": "assistant", "reasoning_content": "Hm"})),
        delta(json!({"content": "Good "})),
        delta(json!({"content": "day"})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"x\""}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]})),
        finish("tool_calls"),
        json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}).to_string(),
        done(),
    ]
}

/// All events, without items of unknown fields.
fn known(frames: &[String]) -> Vec<String> {
    let events = parse_frames(frames).expect("an answer").into_iter();
    let known = events.filter(
        |event| !matches!(event, toolwright_chat::ModelEvent::Item(item) if item.kind == ItemKind::Other),
    );
    known.map(|event| format!("{event:?}")).collect()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z{\\[\"]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map(any_name(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Names of fields, known and unknown.
fn any_name() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(vec![
        "choices",
        "delta",
        "message",
        "index",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "type",
        "text",
        "thinking",
        "reasoning",
        "reasoning_details",
        "usage",
        "prompt_tokens",
        "finish_reason",
        "function_call",
        "refusal",
        "error",
        "code",
        "data",
    ]);
    prop_oneof![3 => known.prop_map(str::to_owned), 1 => "[a-z]{1,4}"]
}

/// Adds unknown fields to a chunk: beside its choices, in the choice, in the delta.
fn with_unknown(frame: &str, value: &Value) -> String {
    let Ok(mut chunk) = serde_json::from_str::<Value>(frame) else {
        return frame.to_owned();
    };
    chunk["zz_unknown"] = value.clone();
    for pointer in ["/choices/0", "/choices/0/delta"] {
        if let Some(Value::Object(fields)) = chunk.pointer_mut(pointer) {
            fields.insert("zz_unknown".to_owned(), value.clone());
        }
    }
    chunk.to_string()
}

proptest! {
    #[test]
    fn unknown_frames_and_fields_change_nothing_that_is_known(
        values in proptest::collection::vec((any_json(), 0_usize..10), 0..6),
    ) {
        let mut frames = recorded();
        for (value, place) in values {
            let place = place % frames.len();
            frames[place] = with_unknown(&frames[place], &value);
            let strange = Map::from_iter([("zz_unknown".to_owned(), value)]);
            frames.insert(place, Value::Object(strange).to_string());
        }
        prop_assert_eq!(known(&frames), known(&recorded()));
    }

    #[test]
    fn no_frame_makes_it_panic(values in proptest::collection::vec(any_json(), 0..8), text in ".{0,40}") {
        let mut parser = OPENAI.parser(plan());
        for value in &values {
            let chunk = json!({"choices": [{"delta": value, "finish_reason": value}], "usage": value});
            let _ = parser.parse_frame("", &chunk.to_string());
            let _ = parser.parse_frame("", &value.to_string());
            let _ = OPENAI.parse_error(400, &value.to_string());
        }
        let _ = parser.parse_frame("error", &text);
        let _ = parser.parse_frame("", &text);
        let _ = parser.end_of_stream();
        let _ = OPENAI.parse_error(500, &text);
    }
}
