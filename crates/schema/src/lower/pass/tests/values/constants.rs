//! What becomes of `const` and `enum`.

use serde_json::json;

use crate::lower::pass::tests::{assert_losses_reported, pass_error, run_pass};
use crate::{Dialect, lower::pass::constants::run};

#[test]
fn constants_and_lists_become_tidy_lists() {
    for (before, after) in [
        (
            json!({"const": "a", "description": "A."}),
            json!({"description": "A.", "type": "string", "enum": ["a"]}),
        ),
        (json!({"const": 1, "enum": [2, 1.0]}), json!({"enum": [1], "type": "integer"})),
        (json!({"enum": [1, 1.0, 2, 1]}), json!({"enum": [1, 2], "type": "integer"})),
        (json!({"enum": [1, 2.5]}), json!({"enum": [1, 2.5], "type": "number"})),
        (
            json!({"enum": [null, "a", true, [1], 0.5, {}]}),
            json!({"enum": [null, "a", true, [1], 0.5, {}], "type": ["string", "number", "boolean", "array", "object", "null"]}),
        ),
        (
            json!({"type": "string", "enum": ["a", 1, null]}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (
            json!({"type": ["integer", "string", "null"], "enum": [1.0, 1.5, "a"]}),
            json!({"type": ["string", "integer"], "enum": [1.0, "a"]}),
        ),
        (json!({"type": "number", "enum": [1]}), json!({"type": "number", "enum": [1]})),
        (json!({"const": null}), json!({"type": "null", "enum": [null]})),
    ] {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

#[test]
fn a_list_without_possible_values_admits_nothing() {
    for (before, after) in [
        (
            json!({"items": {"type": "string", "enum": [1], "description": "None."}}),
            json!({"items": {"description": "None.", "not": {}}}),
        ),
        (
            json!({"properties": {"a": {"const": "a", "enum": ["b"], "minLength": 3}}}),
            json!({"properties": {"a": {"not": {}}}}),
        ),
    ] {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
    let root = json!({"type": "object", "enum": ["a"]});
    assert_eq!(
        pass_error(run, Dialect::OPENAI_STRICT, root).to_string(),
        "the schema admits no arguments at all"
    );
}

#[test]
fn long_lists_are_tidied_too() {
    let letters: Vec<String> = (0..60).map(|number| format!("v{}", number % 30)).collect();
    let numbers: Vec<i64> = (0..60).map(|number| number % 30).collect();
    let before = json!({"properties": {"a": {"enum": letters}, "b": {"enum": numbers}}});
    let after = json!({"properties": {"a": {"enum": letters[..30], "type": "string"}, "b": {"enum": numbers[..30], "type": "integer"}}});
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
}

#[test]
fn properties_may_be_named_like_keywords() {
    let schema = json!({"properties": {"const": {"type": "string"}, "enum": {"type": "array"}}});
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, schema.clone()), (schema, vec![]));
}

#[test]
fn the_verdict_is_the_same() {
    let schemas = [
        json!({"const": 1, "enum": [1.0, 2]}),
        json!({"enum": [1.0, "a", null, null, [1], [1.0]]}),
        json!({"type": ["number", "null"], "enum": [1.5, 1, "a", null]}),
        json!({"properties": {"a": {"type": "integer", "enum": [1.0, 2.5]}}}),
        json!({"properties": {"a": {"type": "boolean", "const": 1}}}),
        json!({"not": {"const": "a"}}),
    ];
    let values = [
        json!(null),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(2),
        json!("a"),
        json!("b"),
        json!([1]),
        json!({"a": 1}),
        json!({"a": 2.5}),
        json!({}),
    ];
    assert_losses_reported(run, Dialect::OPENAI_STRICT, &schemas, &values);
}
