//! Random tools, planned and called in every dialect.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolwright_sampler::Sampler;
use toolwright_schema::{Dialect, Schema, Tape};

use super::{Sample, plan};
use crate::call::ToolCall;

/// Random schemas, including a few that tools should not have.
fn part() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "format": "date", "description": "A day."})),
        Just(json!({"type": "integer", "minimum": 0, "maximum": 9})),
        Just(json!({"type": ["number", "null"]})),
        Just(json!({"type": "boolean"})),
        Just(json!({"enum": ["a", "b", 3]})),
        Just(json!({"type": "integer", "enum": [1, 2, 3]})),
        Just(json!({"const": "only"})),
        Just(json!({})),
        Just(json!({"type": "object"})),
        Just(json!({"$ref": "#/$defs/tree"})),
        Just(json!({"type": "string", "pattern": "^[a-z]{2}$"})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            object(inner.clone()),
            (inner.clone(), 1..9u8).prop_map(
                |(items, most)| json!({"type": "array", "items": items, "maxItems": most})
            ),
            inner.clone().prop_map(|rest| json!({"type": "object", "additionalProperties": rest})),
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|branches| json!({ "anyOf": branches })),
            (inner.clone(), inner.clone())
                .prop_map(|(one, other)| json!({"oneOf": [one, other, {"type": "null"}]})),
            (inner.clone(), inner).prop_map(
                |(one, other)| json!({"type": "array", "prefixItems": [one, other], "items": false})
            ),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["a", "b", "größe", "a.b", "$ref", "9", "type"]);
    let members = prop::collection::vec((name, inner, any::<bool>()), 0..4);
    (members, any::<bool>()).prop_map(|(members, closed)| {
        let mut properties = Map::new();
        let mut required: Vec<&str> = Vec::new();
        for (name, part, needed) in members {
            if properties.insert(name.to_owned(), part).is_none() && needed {
                required.push(name);
            }
        }
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        schema
    })
}

fn tool() -> impl Strategy<Value = Value> {
    object(part()).prop_map(|mut schema| {
        schema["$defs"] = json!({"tree": {"type": "object", "properties": {"in": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "additionalProperties": false}});
        schema
    })
}

/// A lowered schema as JSON Schema: only Gemini's `nullable` means something else there.
fn normalise_expected(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(normalise_expected),
        Value::Object(members) => {
            members.values_mut().for_each(normalise_expected);
            if members.get("nullable") == Some(&Value::Bool(true)) {
                members.shift_remove("nullable");
                let inner = std::mem::take(members);
                members.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
            }
        }
        _ => {}
    }
}

/// The number of tools of each test: 96 in CI, else 24.
fn cases() -> u32 {
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    if is_ci { 96 } else { 24 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn arguments_for_a_lossless_tool_are_valid_after_lifting(schema in tool(), seed in any::<u64>()) {
        let tools = [Sample::new("files.read", schema.clone())];
        for dialect in Dialect::ALL {
            let plan = plan(dialect, &tools);
            let Some(tool) = plan.tools().first() else { continue };
            let lowered = tool.lowered().unwrap();
            let mut shown = lowered.schema().clone();
            normalise_expected(&mut shown);
            // Draft 7 has tuples of its own.
            if dialect == Dialect::MISTRAL {
                shown["$schema"] = json!("http://json-schema.org/draft-07/schema#");
                shown["definitions"] = shown["$defs"].clone();
            }
            let Ok(shown) = Schema::check(shown) else { continue };
            let mut sampler = Sampler::new(&shown, seed);
            for _ in 0..3 {
                let Some(sent) = sampler.valid() else { break };
                let call = plan.lift(ToolCall::new(tool.wire_name.as_str(), sent.to_string()));
                prop_assert_eq!(call.name.as_str(), "files.read");
                let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap();
                if lowered.is_lossless() && lowered.is_closed() {
                    prop_assert!(
                        tools[0].input.is_valid(Tape::from_value(&arguments).root()),
                        "{}: {} came back as {} from {}", dialect, sent, arguments, lowered.text()
                    );
                }
            }
        }
    }

    #[test]
    fn an_earlier_call_is_lowered_to_the_form_of_this_request(schema in tool(), seed in any::<u64>()) {
        let tools = [Sample::new("files.read", schema)];
        let mut sampler = Sampler::new(&tools[0].input, seed);
        let Some(arguments) = sampler.valid() else { return Ok(()) };
        for dialect in Dialect::ALL {
            let plan = plan(dialect, &tools);
            let Some(tool) = plan.tools().first() else { continue };
            let wire = plan.lower(ToolCall::new("files.read", arguments.to_string()));
            prop_assert_eq!(wire.name.as_str(), tool.wire_name.as_str());
            let back = plan.lift(wire.clone());
            let back: Value = serde_json::from_str(back.arguments.as_str()).unwrap();
            if tool.lowered().unwrap().is_lossless() {
                let shown = wire.arguments.as_str();
                // Where `null` and absent mean the same, lifting returns absent.
                prop_assert!(
                    tools[0].input.is_valid(Tape::from_value(&back).root()),
                    "{}: {} as {} came back as {}", dialect, arguments, shown, back
                );
            }
        }
    }
}
