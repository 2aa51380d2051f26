//! Unknown fields and frames change nothing, and no input makes the parser panic.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{OwnedFrame, item_kinds, plan, read_all};
use crate::protocol::Protocol as _;
use crate::protocol::anthropic::Anthropic;

/// A response with a block of each kind.
fn answer() -> Vec<Value> {
    let starts = [
        (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": "Hm."}),
                json!({"type": "signature_delta", "signature": "Sg=="}),
            ],
        ),
        (
            json!({"type": "text", "text": ""}),
            vec![json!({"type": "text_delta", "text": "Let me look."})],
        ),
        (
            json!({"type": "tool_use", "id": "a", "name": "get_weather", "input": {}}),
            vec![
                json!({"type": "input_json_delta", "partial_json": "{\"city\":"}),
                json!({"type": "input_json_delta", "partial_json": "\"Rome\"}"}),
            ],
        ),
    ];
    let mut values =
        vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 7}}})];
    for (index, (start, deltas)) in starts.into_iter().enumerate() {
        values.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        values.extend(
            deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        values.push(json!({"type": "content_block_stop", "index": index}));
    }
    values.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}));
    values.push(json!({"type": "message_stop"}));
    values
}

fn frame(value: &Value) -> OwnedFrame {
    OwnedFrame {
        event_name: value["type"].as_str().unwrap_or_default().to_owned(),
        data: value.to_string(),
    }
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::hash_map("[a-z]{1,6}", inner, 0..3)
                .prop_map(|fields| fields.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// The protocol's own texts at any position, so that more than the first arm of each match is reached.
fn nearly() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
    ]);
    let part = prop::sample::select(vec![
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "server_tool_use",
        "web_search_tool_result",
        "novelty",
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "citations_delta",
        "input_json_delta",
    ]);
    let field = prop::sample::select(vec![
        "text",
        "thinking",
        "signature",
        "citation",
        "partial_json",
        "input",
        "id",
        "name",
        "content",
    ]);
    let fields = vec((field, anything()), 0..4);
    (kind, part, fields, anything(), 0..3_u64).prop_map(|(kind, part, fields, odd, index)| {
        let mut inner: serde_json::Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        inner.insert("type".to_owned(), part.into());
        json!({"type": kind, "index": index, "content_block": inner, "delta": inner, "usage": odd, "message": odd})
    })
}

proptest! {
    #[test]
    fn unknown_frames_and_fields_change_nothing(
        added in vec((any::<prop::sample::Index>(), "x_[a-z]{1,8}", anything()), 0..6),
        extra in vec((any::<prop::sample::Index>(), "x_[a-z]{1,8}", anything()), 0..6),
    ) {
        let plain: Vec<OwnedFrame> = answer().iter().map(frame).collect();
        let mut values = answer();
        for (at, name, value) in &extra {
            let at = at.index(values.len());
            values[at][name] = value.clone();
            for inner in ["delta", "content_block", "usage", "message"] {
                if let Some(fields) = values[at].get_mut(inner).and_then(Value::as_object_mut) {
                    fields.insert(name.clone(), value.clone());
                }
            }
        }
        for (at, name, value) in &added {
            let at = at.index(values.len());
            values.insert(at, json!({"type": name, "index": 0, "delta": value, "error": value}));
        }
        let more: Vec<OwnedFrame> = values.iter().map(frame).collect();
        prop_assert_eq!(item_kinds(&read_all(&more).unwrap()), item_kinds(&read_all(&plain).unwrap()));
    }

    #[test]
    fn no_frames_whatever_panic(
        frames in vec(
            prop_oneof![
                nearly().prop_map(|value| frame(&value)),
                anything().prop_map(|value| frame(&value)),
                ("[a-z_]{0,20}", ".{0,40}").prop_map(|(name, data)| OwnedFrame { event_name: name, data }),
            ],
            0..12,
        )
    ) {
        let mut parser = Anthropic.parser(plan());
        for frame in &frames {
            let _ = parser.parse_frame(&frame.event_name, &frame.data);
        }
        parser.events().clear();
        parser.parse_frame("message_stop", r#"{"type":"message_stop"}"#).unwrap();
        let ended = std::mem::take(parser.events());
        prop_assert!(ended.is_empty() || item_kinds(&ended).last().unwrap().starts_with("Finished"));
        parser.end_of_stream().unwrap();
        prop_assert!(parser.events().is_empty());
    }
}
