//! How conditions are rewritten, and how they are described.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_losses_reported, pass_error, run_pass};
use crate::{Dialect, lower::pass::conditions::run};

/// Pairs that lose nothing.
fn assert_lossless(pairs: impl IntoIterator<Item = (Value, Value)>) {
    for (before, after) in pairs {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

/// Schemas that become `after`, with the rest described.
fn assert_described(rows: impl IntoIterator<Item = (Value, Value, &'static str, &'static str)>) {
    for (before, mut after, keyword, words) in rows {
        let mut letters = words.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        after["description"] = json!(first.chain(letters).collect::<String>());
        let loss = format!("/: {keyword} (wider), described as \"{words}\"");
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![loss]));
    }
}

#[test]
fn conditions_that_say_nothing_go_without_a_word() {
    assert_lossless([
        (json!({"uniqueItems": false, "minProperties": 0}), json!({})),
        (json!({"uniqueItems": true, "maxItems": 1}), json!({"maxItems": 1})),
        (json!({"contains": {"type": "null"}, "minContains": 0}), json!({})),
        (json!({"minContains": 2, "maxContains": 3}), json!({})),
        (json!({"if": {"type": "null"}}), json!({})),
        (json!({"then": {"type": "null"}, "else": {"type": "string"}}), json!({})),
        (json!({"if": {"type": "null"}, "then": {}, "else": {"description": "E."}}), json!({})),
        (
            json!({"patternProperties": {}, "dependentRequired": {}, "dependentSchemas": {"a": {}}}),
            json!({}),
        ),
        (json!({"patternProperties": {"^a": {}}}), json!({})),
        (
            json!({"propertyNames": {"type": "string"}, "minProperties": 1, "required": ["a"]}),
            json!({"required": ["a"]}),
        ),
        (
            json!({"properties": {"a": {}}, "additionalProperties": false, "maxProperties": 1}),
            json!({"properties": {"a": {}}, "additionalProperties": false}),
        ),
        (json!({"not": {"not": {}}}), json!({})),
        (json!({"not": {"type": "null"}, "type": "string"}), json!({"type": "string"})),
    ]);
}

#[test]
fn a_property_that_nothing_fits_is_not_offered() {
    assert_lossless([
        (
            json!({"properties": {"a": {"type": "string"}, "b": {"not": {}, "description": "No."}}, "additionalProperties": false}),
            json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false}),
        ),
        (
            json!({"properties": {"not": {"type": "string"}}, "additionalProperties": false}),
            json!({"properties": {"not": {"type": "string"}}, "additionalProperties": false}),
        ),
    ]);
    let words = "`b` must not be given";
    assert_eq!(
        run_pass(run, Dialect::OPENAI_STRICT, json!({"properties": {"b": {"not": {}}}})),
        (
            json!({"properties": {}, "description": words}),
            vec![format!("/: not (wider), described as \"{words}\"")]
        )
    );
    assert_eq!(
        run_pass(
            run,
            Dialect::OPENAI_STRICT,
            json!({"properties": {"b": {"not": {}}}, "required": ["b"]})
        ),
        (
            json!({"properties": {"b": {"description": "Must not be given"}}, "required": ["b"]}),
            vec!["/properties/b: not (wider), described as \"must not be given\"".to_owned()]
        )
    );
}

#[test]
fn alternatives_and_elements_that_nothing_fits_are_left_out() {
    assert_lossless([
        (
            json!({"anyOf": [{"not": {}}, {"type": "string"}]}),
            json!({"anyOf": [{"type": "string"}]}),
        ),
        (
            json!({"items": {"not": {}}, "additionalProperties": {"not": {}}}),
            json!({"items": false, "additionalProperties": false}),
        ),
        (
            json!({"prefixItems": [{"type": "null"}, {"not": {}}], "items": {"type": "string"}}),
            json!({"prefixItems": [{"type": "null"}], "maxItems": 1}),
        ),
    ]);
    let root = pass_error(run, Dialect::OPENAI_STRICT, json!({"not": {}}));
    assert_eq!(root.to_string(), "the schema admits no arguments at all");
}

#[test]
fn what_must_not_be_is_left_out_of_the_type_or_the_list() {
    assert_lossless([
        (json!({"type": ["string", "null"], "not": {"type": "null"}}), json!({"type": "string"})),
        (
            json!({"type": ["string", "integer"], "not": {"type": "number"}}),
            json!({"type": "string"}),
        ),
        (json!({"type": ["string", "null"], "not": {"const": null}}), json!({"type": "string"})),
        (
            json!({"type": "string", "enum": ["a", "b"], "not": {"enum": ["b", "c"]}}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (
            json!({"type": ["string", "null"], "enum": ["a", null], "not": {"type": "null", "enum": [null]}}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (
            json!({"type": ["string", "boolean", "null"], "not": {"anyOf": [{"type": "null"}, {"enum": [true, false]}]}}),
            json!({"type": "string"}),
        ),
    ]);
    assert_described([
        (
            json!({"type": "number", "not": {"type": "integer"}}),
            json!({"type": "number"}),
            "not",
            "not an integer",
        ),
        (
            json!({"type": "string", "not": {"enum": ["a", "b", 3]}}),
            json!({"type": "string"}),
            "not",
            "not one of \"a\", \"b\"",
        ),
        (json!({"not": {"type": "null"}}), json!({}), "not", "not null"),
        (
            json!({"not": {"required": ["a", "b"]}, "type": "object"}),
            json!({"type": "object"}),
            "not",
            "not `a` and `b` together",
        ),
        (
            json!({"not": {"properties": {"a": {"const": 1}}, "required": ["a", "b"]}}),
            json!({}),
            "not",
            "never so that `a` is 1 and `b` is given",
        ),
        (
            json!({"type": "string", "minLength": 2, "not": {"type": "string"}}),
            json!({}),
            "not",
            "must not be given",
        ),
    ]);
}

#[test]
fn cases_are_described() {
    assert_described([
        (
            json!({"if": {"properties": {"kind": {"const": "card"}}, "required": ["kind"]}, "then": {"required": ["number"]}}),
            json!({}),
            "if",
            "if `kind` is \"card\", then `number` must be given",
        ),
        (
            json!({"if": {"type": "string"}, "then": {"enum": ["a", "b"]}, "else": {"type": "integer"}}),
            json!({}),
            "if",
            "if it is a string, then it must be one of \"a\", \"b\"; otherwise it must be an integer",
        ),
        (
            json!({"if": {"required": ["a"]}, "else": {"required": ["b", "c"]}}),
            json!({}),
            "if",
            "unless `a` is given, `b` and `c` must be given",
        ),
        (
            json!({"if": {"required": ["a"]}, "then": {"not": {}}}),
            json!({}),
            "if",
            "never so that `a` is given",
        ),
    ]);
}

#[test]
fn what_a_required_property_asks_for_is_required() {
    assert_lossless([
        (
            json!({"required": ["a"], "dependentRequired": {"b": ["c"], "a": ["b"]}}),
            json!({"required": ["a", "b", "c"]}),
        ),
        (
            json!({"required": ["a"], "dependentSchemas": {"a": {"required": ["b"]}}, "dependencies": {"b": ["c", "a"]}}),
            json!({"required": ["a", "b", "c"]}),
        ),
    ]);
    assert_described([
        (
            json!({"dependentRequired": {"a": ["b", "c"]}}),
            json!({}),
            "dependentRequired",
            "if `a` is given, `b` and `c` must be given too",
        ),
        (
            json!({"dependencies": {"a": {"properties": {"b": {"type": "string"}}}}}),
            json!({}),
            "dependencies",
            "if `a` is given, then `b` must be a string",
        ),
        (
            json!({"dependentSchemas": {"a": {"not": {}}}}),
            json!({}),
            "dependentSchemas",
            "`a` must not be given",
        ),
    ]);
}

#[test]
fn names_become_properties_where_they_are_few() {
    assert_lossless([
        (
            json!({"propertyNames": {"type": "string", "enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}, "properties": {"b": {"type": "null"}, "c": {}}}),
            json!({"additionalProperties": false, "properties": {"b": {"type": "null"}, "a": {"type": "integer"}}}),
        ),
        (
            json!({"propertyNames": {"const": "a"}}),
            json!({"additionalProperties": false, "properties": {"a": {}}}),
        ),
        (
            json!({"propertyNames": {"not": {}}, "properties": {"a": {}}}),
            json!({"additionalProperties": false, "properties": {}}),
        ),
    ]);
    assert_described([
        (
            json!({"propertyNames": {"pattern": "^[a-z]+$"}}),
            json!({}),
            "propertyNames",
            "property names match `^[a-z]+$`",
        ),
        (
            json!({"minProperties": 1, "required": []}),
            json!({"required": []}),
            "minProperties",
            "at least 1 property",
        ),
        (
            json!({"properties": {"a": {}}, "maxProperties": 2}),
            json!({"properties": {"a": {}}}),
            "maxProperties",
            "at most 2 properties",
        ),
    ]);
    let kept = json!({"minProperties": 1, "maxProperties": 2});
    assert_eq!(run_pass(run, Dialect::GEMINI_OPENAPI, kept.clone()), (kept, vec![]));
}

#[test]
fn what_patterns_admit_stays_admitted() {
    assert_lossless([(
        json!({"patternProperties": {".*": {"type": "string"}}, "additionalProperties": false}),
        json!({"additionalProperties": {"type": "string"}}),
    )]);
    assert_described([
        (
            json!({"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": false}),
            json!({"additionalProperties": {"type": "string"}}),
            "patternProperties",
            "property names match `^x`",
        ),
        (
            json!({"patternProperties": {"^x": {"type": "string"}}, "properties": {"a": {}}}),
            json!({"properties": {"a": {}}}),
            "patternProperties",
            "each property whose name matches `^x` is a string",
        ),
        (
            json!({"patternProperties": {"^x": {}}, "additionalProperties": false}),
            json!({}),
            "patternProperties",
            "property names match `^x`",
        ),
        (
            json!({"patternProperties": {"^x": {"not": {}}}}),
            json!({}),
            "patternProperties",
            "no property name matches `^x`",
        ),
    ]);
    let before = json!({"patternProperties": {"^s": {"type": "string"}, "^n": {"type": "number"}}, "additionalProperties": false});
    let (after, losses) = run_pass(run, Dialect::OPENAI_STRICT, before);
    assert_eq!(
        after["additionalProperties"],
        json!({"anyOf": [{"type": "string"}, {"type": "number"}]})
    );
    assert_eq!(losses.len(), 2);
}

#[test]
fn what_is_left_unevaluated_is_additional_or_described() {
    assert_lossless([
        (
            json!({"properties": {"a": {}}, "unevaluatedProperties": false}),
            json!({"properties": {"a": {}}, "additionalProperties": false}),
        ),
        (
            json!({"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "unevaluatedProperties": false}),
            json!({"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "additionalProperties": false}),
        ),
        (
            json!({"additionalProperties": {}, "unevaluatedProperties": false}),
            json!({"additionalProperties": {}}),
        ),
        (
            json!({"prefixItems": [{}], "unevaluatedItems": {"type": "null"}}),
            json!({"prefixItems": [{}], "items": {"type": "null"}}),
        ),
    ]);
    assert_described([
        (
            json!({"anyOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
            json!({"anyOf": [{"properties": {"a": {}}}]}),
            "unevaluatedProperties",
            "no other properties",
        ),
        (
            json!({"anyOf": [{"prefixItems": [{}]}], "unevaluatedItems": {"type": "string"}}),
            json!({"anyOf": [{"prefixItems": [{}]}]}),
            "unevaluatedItems",
            "each other item is a string",
        ),
    ]);
}

#[test]
fn what_arrays_contain_is_described() {
    assert_lossless([(
        json!({"contains": {}, "minContains": 2, "maxContains": 4, "maxItems": 3}),
        json!({"maxItems": 3, "minItems": 2}),
    )]);
    assert_described([
        (
            json!({"type": "array", "contains": {"type": "string"}}),
            json!({"type": "array"}),
            "contains",
            "at least 1 item is a string",
        ),
        (
            json!({"contains": {"const": 5}, "minContains": 0, "maxContains": 2}),
            json!({}),
            "contains",
            "at most 2 items are 5",
        ),
        (
            json!({"uniqueItems": true, "items": {}}),
            json!({"items": {}}),
            "uniqueItems",
            "no item comes twice",
        ),
    ]);
}

#[test]
fn properties_may_be_named_like_keywords() {
    assert_lossless([(
        json!({"properties": {"not": {"type": "string"}, "if": {}, "contains": {"type": "null"}, "patternProperties": {"properties": {"not": {}}}}}),
        json!({"properties": {"not": {"type": "string"}, "if": {}, "contains": {"type": "null"}, "patternProperties": {"properties": {"not": {}}}}}),
    )]);
}

#[test]
fn the_verdict_is_as_reported() {
    let schemas = [
        json!({"type": ["string", "null", "object"], "not": {"anyOf": [{"const": null}, {"required": ["a"]}]}}),
        json!({"type": ["integer", "boolean"], "not": {"enum": [true, 1]}}),
        json!({"type": "object", "properties": {"a": false, "b": {"type": "string"}}}),
        json!({"properties": {"a": {"not": {}}}, "additionalProperties": false}),
        json!({"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
        json!({"patternProperties": {"^a": {"type": "string"}, "b$": false}, "additionalProperties": false}),
        json!({"patternProperties": {"^a": {}}, "additionalProperties": {"type": "integer"}}),
        json!({"properties": {"a": {"type": "integer"}}, "patternProperties": {".*": {"minimum": 2}}}),
        json!({"propertyNames": {"enum": ["a"]}, "required": ["a"], "additionalProperties": {"type": "string"}}),
        json!({"dependentRequired": {"a": ["b"]}, "required": ["a"]}),
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": false}),
        json!({"anyOf": [{"properties": {"a": {"type": "string"}}}, {"patternProperties": {"^b": {}}}], "unevaluatedProperties": false}),
        json!({"contains": {"type": "string"}, "maxContains": 1, "uniqueItems": true, "unevaluatedItems": false}),
        json!({"contains": true, "minContains": 2}),
        json!({"minProperties": 2, "required": ["a"]}),
        json!({"prefixItems": [{"type": "string"}, {"not": {}}]}),
    ];
    let values = [
        json!(null),
        json!(true),
        json!(1),
        json!(2.5),
        json!("a"),
        json!({}),
        json!({"a": 1}),
        json!({"a": "x"}),
        json!({"b": "x"}),
        json!({"ab": "x"}),
        json!({"a": "x", "b": 1}),
        json!({"c": 1}),
        json!({"c": "x", "a": null}),
        json!([]),
        json!(["a"]),
        json!(["a", "a"]),
        json!(["a", 1]),
        json!([1, 1]),
    ];
    assert_losses_reported(run, Dialect::OPENAI_STRICT, &schemas, &values);
}

#[test]
fn of_many_things_only_the_first_are_described() {
    let names: Vec<String> = (0..2000).map(|number| format!("n{number}")).collect();
    let chain: Value = names
        .windows(2)
        .map(|pair| (pair[0].clone(), json!([pair[1]])))
        .collect::<serde_json::Map<_, _>>()
        .into();
    assert_lossless([(
        json!({"required": ["n0"], "dependentRequired": chain.clone()}),
        json!({"required": names}),
    )]);
    let (_, losses) = run_pass(run, Dialect::OPENAI_STRICT, json!({"dependentRequired": chain}));
    assert_eq!(losses.len(), 13);
}
