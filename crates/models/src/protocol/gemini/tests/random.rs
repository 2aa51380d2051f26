//! No input makes the parser panic, and unknown fields and frames change nothing.

use proptest::prelude::*;

use super::{chunk, plan};
use crate::protocol::Protocol as _;
use crate::protocol::gemini::Gemini;

const KNOWN: [&str; 5] = [
    r#"[{"text":"Let me see.","thought":true}]"#,
    r#"[{"text":"It "},{"text":"rains"}]"#,
    r#"[{"functionCall":{"name":"weather","args":{"city":"Oslo"}},"thoughtSignature":"c2ln"}]"#,
    r#"[{"functionCall":{"name":"weather","args":{}}},{"hologram":1}]"#,
    r#"[{"text":""}]"#,
];

/// The response with an additional field in every object around the parts, and additional frames.
fn chunks(fields: &[String], frames: &[Option<String>]) -> Vec<String> {
    let mut chunks = Vec::new();
    for (place, parts) in KNOWN.iter().enumerate() {
        let known = chunk(parts, (place == 4).then_some("STOP"));
        let known = match fields.get(place) {
            Some(field) => known
                .replacen('{', &format!("{{{field},"), 1)
                .replacen(r#""content":{"#, &format!(r#""content":{{{field},"#), 1)
                .replacen(r#""index":0"#, &format!(r#""index":0,{field}"#), 1),
            None => known,
        };
        chunks.push(known);
        chunks.extend(frames.get(place).cloned().flatten());
    }
    chunks
}

fn events(chunks: &[String]) -> Vec<String> {
    let mut parser = Gemini.parser(plan());
    for chunk in chunks {
        parser.parse_frame("", chunk).unwrap();
    }
    parser.end_of_stream().unwrap();
    parser.events().iter().map(|event| format!("{event:?}")).collect()
}

fn json() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("[{}]".to_owned()),
        any::<i32>().prop_map(|number| number.to_string()),
        "[a-z]{0,5}".prop_map(|text| format!("{text:?}")),
        "[a-z]{1,5}".prop_map(|name| format!(r#"{{"{name}":[1]}}"#)),
    ]
}

fn field() -> impl Strategy<Value = String> {
    ("x[a-z]{1,6}", json()).prop_map(|(name, value)| format!(r#""{name}":{value}"#))
}

proptest! {
    #[test]
    fn unknown_fields_and_frames_change_nothing(
        fields in prop::collection::vec(field(), 0..5),
        frames in prop::collection::vec(prop::option::of(field().prop_map(|field| format!("{{{field}}}"))), 0..5),
    ) {
        prop_assert_eq!(events(&chunks(&fields, &frames)), events(&chunks(&[], &[])));
    }

    #[test]
    fn no_frame_is_a_reason_to_panic(frames in prop::collection::vec(prop_oneof![".*", wild()], 0..6)) {
        let mut parser = Gemini.parser(plan());
        for frame in &frames {
            let _ = parser.parse_frame("", frame);
        }
        let _ = parser.end_of_stream();
        let _ = parser.end_of_stream();
        for frame in &frames {
            let _ = Gemini.parse_error(400, frame);
        }
    }
}

/// The protocol's fields with any values.
fn wild() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "candidates",
        "content",
        "parts",
        "text",
        "thought",
        "functionCall",
        "name",
        "args",
        "id",
        "finishReason",
        "usageMetadata",
        "promptTokenCount",
        "error",
        "code",
        "promptFeedback",
        "blockReason",
        "groundingMetadata",
        "groundingChunks",
        "toolCall",
        "thoughtSignature",
    ]);
    let leaf = prop_oneof![json(), Just(r#""STOP""#.to_owned()), Just("-1.5".to_owned())];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec((name.clone(), inner), 0..4).prop_map(|fields| {
                let fields: Vec<_> =
                    fields.iter().map(|(name, value)| format!(r#""{name}":{value}"#)).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}
