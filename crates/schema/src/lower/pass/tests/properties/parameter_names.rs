//! Names that are not admitted.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_pass, run_pass};
use crate::{
    Dialect,
    lower::{LIFT_KEYWORD, pass::parameter_names::run},
};

#[test]
fn an_invalid_name_is_renamed_and_described() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({"type": "object", "properties": {"user.id": {"type": "string", "description": "Who."}, "b": {}}, "required": ["b", "user.id"]}),
        json!({"type": "object", "properties": {
            "user_id": {"type": "string", "description": "Who. (named \"user.id\")", (LIFT_KEYWORD): {"name": "user.id"}},
            "b": {},
        }, "required": ["b", "user_id"]}),
        &[],
    );
}

fn wire_names(names: &[&str]) -> Vec<String> {
    let properties: Value = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let (after, _) = run_pass(run, Dialect::GEMINI_OPENAPI, json!({"properties": properties}));
    after["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn names_stay_distinct() {
    assert_eq!(wire_names(&["a.b", "a_b", "a-b", "a b"]), ["a_b_2", "a_b", "a_b_3", "a_b_4"]);
    assert_eq!(
        wire_names(&["größe", "$ref", "", "1st", "-x", "ok"]),
        ["gr__e", "_ref", "_", "_1st", "_x", "ok"]
    );
}

#[test]
fn long_names_are_cut_and_stay_distinct() {
    let long = |end: &str| format!("{}{end}", "x".repeat(70));
    let (one, two) = (long("1"), long("2"));
    let wire = wire_names(&[&one, &two]);
    assert_eq!(wire, ["x".repeat(64), format!("{}_2", "x".repeat(62))]);
}

#[test]
fn fit_names_are_not_touched() {
    let before = json!({"type": "object", "properties": {"properties": {"description": ""}, "required": {}}, "required": ["a.b"]});
    assert_pass(run, Dialect::PORTABLE, before.clone(), before, &[]);
}

#[test]
fn where_names_are_free_nothing_is_renamed() {
    let before = json!({"properties": {"a.b": {}}});
    assert_pass(run, Dialect::OPENAI_STRICT, before.clone(), before, &[]);
}

#[test]
fn nested_names_and_those_of_definitions_are_renamed_too() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({"properties": {"a": {"anyOf": [{"type": "object", "properties": {"x-y": {"$ref": "#/$defs/A"}}}]}}, "$defs": {"A": {"properties": {"p.q": {}}}}}),
        json!({"properties": {"a": {"anyOf": [{"type": "object", "properties": {
            "x_y": {"$ref": "#/$defs/A", "description": "Named \"x-y\"", (LIFT_KEYWORD): {"name": "x-y"}},
        }}]}}, "$defs": {"A": {"properties": {"p_q": {"description": "Named \"p.q\"", (LIFT_KEYWORD): {"name": "p.q"}}}}}}),
        &[],
    );
}
