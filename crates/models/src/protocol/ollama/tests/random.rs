//! No input makes the parser panic, and unknown fields and lines change nothing.

use proptest::prelude::*;

use super::{DONE, line, plan};
use crate::protocol::Protocol as _;
use crate::protocol::ollama::Ollama;

const KNOWN: [&str; 4] = [
    r#""content":"","thinking":"Let me see.""#,
    r#""content":"It rains""#,
    r#""content":"","tool_calls":[{"function":{"index":0,"name":"weather","arguments":{"city":"Oslo"}}}]"#,
    r#""tool_calls":[{"id":"a","function":{"name":"weather"}},{"id":"a","function":{"name":"weather"}}]"#,
];

/// The response with an additional field in the lines and their messages, and additional lines.
fn lines(fields: &[String], between: &[Option<String>]) -> Vec<String> {
    let known = KNOWN.iter().map(|message| line(message));
    let mut lines = Vec::new();
    for (place, known) in known.chain([DONE.to_owned()]).enumerate() {
        lines.push(match fields.get(place) {
            Some(field) => known.replacen('{', &format!("{{{field},"), 1).replacen(
                r#""message":{"#,
                &format!(r#""message":{{{field},"#),
                1,
            ),
            None => known,
        });
        lines.extend(between.get(place).cloned().flatten());
    }
    lines
}

fn events(lines: &[String]) -> Vec<String> {
    let mut parser = Ollama.parser(plan());
    for line in lines {
        parser.parse_frame("", line).unwrap();
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

/// The protocol's fields with any values.
fn wild() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "message",
        "content",
        "thinking",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "done",
        "done_reason",
        "eval_count",
        "created_at",
        "error",
        "status",
    ]);
    let leaf = prop_oneof![json(), Just("true".to_owned()), Just("-1.5".to_owned())];
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

proptest! {
    #[test]
    fn unknown_fields_and_lines_change_nothing(
        fields in prop::collection::vec(field(), 0..6),
        between in prop::collection::vec(prop::option::of(field().prop_map(|field| format!("{{{field}}}"))), 0..5),
    ) {
        prop_assert_eq!(events(&lines(&fields, &between)), events(&lines(&[], &[])));
    }

    #[test]
    fn no_line_is_a_reason_to_panic(lines in prop::collection::vec(prop_oneof![".*", wild()], 0..6)) {
        let mut parser = Ollama.parser(plan());
        for line in &lines {
            let _ = parser.parse_frame("", line);
        }
        let _ = parser.end_of_stream();
        for line in &lines {
            let _ = Ollama.parse_error(400, line);
        }
    }
}
