//! One type each, or a union of schemas that have one.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_losses_reported, assert_pass};
use crate::{Dialect, lower::pass::types::run};

fn normal(before: Value, after: Value) {
    assert_pass(run, Dialect::OPENAI_STRICT, before, after, &[]);
}

#[test]
fn a_list_of_types_is_a_union() {
    for (before, after) in [
        (
            json!({"type": ["string", "null"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        (json!({"type": ["string"]}), json!({"type": "string"})),
        (json!({"type": ["integer", "number"]}), json!({"type": "number"})),
        (
            json!({"type": ["integer", "number", "null"]}),
            json!({"anyOf": [{"type": "number"}, {"type": "null"}]}),
        ),
        (
            json!({"type": ["string", "integer"], "minLength": 1, "minimum": 2, "description": "Either."}),
            json!({"description": "Either.", "anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 2}]}),
        ),
        (
            json!({"type": ["object", "array"], "properties": {"a": {"type": ["string", "null"]}}}),
            json!({"anyOf": [
                {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
                {"type": "array", "items": {}},
            ]}),
        ),
    ] {
        normal(before, after);
    }
}

#[test]
fn listed_values_go_to_their_type() {
    for (before, after) in [
        (
            json!({"type": ["string", "integer"], "enum": ["a", 1, "b"]}),
            json!({"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "integer", "enum": [1]}]}),
        ),
        (
            json!({"type": ["string", "null"], "enum": ["a", null]}),
            json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null", "enum": [null]}]}),
        ),
        // A type of which no value is listed is none.
        (
            json!({"type": ["string", "null"], "enum": ["a"]}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (
            json!({"type": "integer", "enum": [1, 2.0, 2.5, "3"]}),
            json!({"type": "integer", "enum": [1, 2.0]}),
        ),
    ] {
        normal(before, after);
    }
}

#[test]
fn what_speaks_about_other_types_goes() {
    for (before, after) in [
        (
            json!({"type": "string", "minimum": 1, "properties": {}, "maxLength": 3, "title": "T"}),
            json!({"type": "string", "maxLength": 3, "title": "T"}),
        ),
        (
            json!({"type": "integer", "format": "int32", "minLength": 1}),
            json!({"type": "integer", "format": "int32"}),
        ),
        (json!({"type": "boolean", "format": "x", "required": ["a"]}), json!({"type": "boolean"})),
    ] {
        normal(before, after);
    }
}

#[test]
fn an_array_says_what_is_in_it() {
    for (before, after) in [
        (json!({"type": "array"}), json!({"type": "array", "items": {}})),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        ),
        (
            json!({"type": "array", "items": {"type": "array"}}),
            json!({"type": "array", "items": {"type": "array", "items": {}}}),
        ),
    ] {
        normal(before, after);
    }
}

#[test]
fn without_a_type_it_has_the_types_it_speaks_about_and_that_is_less() {
    for (subschema, after) in [
        (json!({"properties": {"a": {}}}), json!({"properties": {"a": {}}, "type": "object"})),
        (json!({"minLength": 1}), json!({"minLength": 1, "type": "string"})),
        (json!({"minimum": 1}), json!({"minimum": 1, "type": "number"})),
        (
            json!({"minItems": 1, "description": "Some."}),
            json!({"minItems": 1, "description": "Some.", "type": "array", "items": {}}),
        ),
        (
            json!({"minLength": 1, "maximum": 9}),
            json!({"anyOf": [{"minLength": 1, "type": "string"}, {"maximum": 9, "type": "number"}]}),
        ),
    ] {
        assert_pass(
            run,
            Dialect::OPENAI_STRICT,
            json!({"type": "object", "properties": {"v": subschema}}),
            json!({"type": "object", "properties": {"v": after}}),
            &["/properties/v: type (narrower)"],
        );
    }
}

#[test]
fn what_asks_nothing_stays_so() {
    for schema in [
        json!({}),
        json!({"description": "Anything.", "default": 1}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}),
    ] {
        normal(schema.clone(), schema);
    }
}

#[test]
fn what_stands_around_alternatives_goes_into_each() {
    for (before, after) in [
        (
            json!({"type": "object", "properties": {"id": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"anyOf": [
                {"required": ["a"], "type": "object", "properties": {"id": {"type": "string"}}},
                {"required": ["b"], "type": "object", "properties": {"id": {"type": "string"}}},
            ]}),
        ),
        (
            json!({"minimum": 3, "description": "It.", "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}),
            json!({"description": "It.", "anyOf": [{"type": "integer", "minimum": 3}, {"type": "string"}]}),
        ),
        // What cannot be is no alternative.
        (
            json!({"type": ["string", "integer"], "anyOf": [{"type": "integer"}, {"type": "null"}]}),
            json!({"type": "integer"}),
        ),
        (
            json!({"type": ["string", "integer"], "anyOf": [{"type": ["integer", "null", "string"]}]}),
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ),
        // A property that one does not admit cannot be given there.
        (
            json!({"type": "object", "properties": {"a": {}}, "anyOf": [{"type": "object", "properties": {"b": {}}, "additionalProperties": false}, {"type": "null"}]}),
            json!({"type": "object", "properties": {"b": {}}, "additionalProperties": false}),
        ),
    ] {
        let (made, losses) =
            crate::lower::pass::tests::run_pass(run, Dialect::OPENAI_STRICT, before);
        assert_eq!(made, after);
        // Alternatives without a type were read with the type that their keywords apply to.
        assert!(losses.iter().all(|loss| loss.ends_with("type (narrower)")), "{losses:?}");
    }
}

#[test]
fn an_alternative_that_admits_everything_is_all_there_is() {
    for (before, after) in [
        (json!({"anyOf": [{}, {"type": "string"}]}), json!({})),
        (
            json!({"type": "string", "anyOf": [{"description": "Any."}, {"minLength": 1}]}),
            json!({"type": "string"}),
        ),
        (
            json!({"type": ["string", "null"], "anyOf": [{}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
    ] {
        let (made, _) = crate::lower::pass::tests::run_pass(run, Dialect::OPENAI_STRICT, before);
        assert_eq!(made, after);
    }
}

#[test]
fn unions_in_unions_are_one() {
    for (before, after) in [
        (
            json!({"anyOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": ["null", "string"]}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
        ),
        (
            json!({"anyOf": [{"description": "Inner.", "anyOf": [{"type": "string", "description": "Own."}, {"type": "integer"}]}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string", "description": "Own."}, {"type": "integer", "description": "Inner."}, {"type": "null"}]}),
        ),
        (
            json!({"description": "It.", "anyOf": [{"type": "string"}]}),
            json!({"type": "string", "description": "It."}),
        ),
        (json!({"anyOf": [{"type": "string"}, {"type": "string"}]}), json!({"type": "string"})),
    ] {
        normal(before, after);
    }
}

#[test]
fn a_reference_in_a_union_is_opened_only_for_what_is_asked_around_it() {
    let definitions = json!({"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}});
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"items": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}, "type": "array", "$defs": definitions}),
        json!({"items": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}, "type": "array", "$defs": definitions}),
        &[],
    );
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"items": {"minProperties": 1, "anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}, "type": "array", "$defs": definitions}),
        json!({"items": {"anyOf": [{"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "minProperties": 1}, {"type": "null"}]}, "type": "array", "$defs": definitions}),
        &[],
    );
}

#[test]
fn a_union_in_a_schema_that_contains_itself_is_opened_a_few_times() {
    let node = json!({"type": "object", "properties": {"child": {"minProperties": 1, "anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}});
    let (after, losses) = crate::lower::pass::tests::run_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "array", "items": {"$ref": "#/$defs/node"}, "$defs": {"node": node}}),
    );
    let child = "/properties/child/anyOf/0";
    let opened = after.pointer(&format!("/$defs/node{child}")).unwrap();
    assert_eq!(opened["minProperties"], 1);
    let last = opened.pointer(&child.repeat(2)).unwrap();
    assert_eq!(*last, json!({"$ref": "#/$defs/node"}));
    assert_eq!(losses.len(), 1, "{losses:?}");
    assert!(losses[0].ends_with("$ref (wider)"), "{losses:?}");
}

#[test]
fn of_what_nothing_fits_everything_is_admitted_and_reported() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"properties": {"a": {"type": "string", "anyOf": [{"type": "integer"}, {"type": "null"}]}}, "type": "object"}),
        json!({"properties": {"a": {}}, "type": "object"}),
        &["/properties/a: not (wider)"],
    );
}

#[test]
fn what_cannot_be_joined_with_an_alternative_is_described_there() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"pattern": "b$", "anyOf": [{"type": "string", "pattern": "^a"}, {"type": "null"}]}),
        json!({"anyOf": [{"type": "string", "pattern": "^a", "description": "Matches the pattern `b$`"}, {"type": "null"}]}),
        &["/: pattern (wider), described as \"matches the pattern `b$`\""],
    );
}

#[test]
fn the_verdict_is_as_reported() {
    let schemas = [
        json!({"type": ["string", "integer", "number"], "minimum": 2, "enum": ["a", 1, 2.5, 3]}),
        json!({"minimum": 2}),
        json!({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}),
        json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({"type": ["object", "string"], "properties": {"a": {}}, "anyOf": [{"type": "object", "properties": {"b": {}}, "additionalProperties": false}, {"minLength": 1, "type": "string"}]}),
        json!({"anyOf": [{"type": "string"}, {}], "minLength": 2}),
        json!({"type": "integer", "enum": ["a"]}),
        json!({"type": "array", "anyOf": [{"items": {"type": "string"}}, {"prefixItems": [{"type": "integer"}]}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"type": "null"}]}),
    ];
    let values = [
        json!(null),
        json!(1),
        json!(2.5),
        json!(3),
        json!("a"),
        json!("ab"),
        json!(""),
        json!({}),
        json!({"a": null}),
        json!({"a": "x"}),
        json!({"a": 1}),
        json!({"b": 1}),
        json!({"a": 1, "b": 1}),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!([1, "a"]),
        json!([null]),
    ];
    assert_losses_reported(run, Dialect::OPENAI_STRICT, &schemas, &values);
}

#[test]
fn an_alternative_whose_values_have_no_allowed_type_is_dropped() {
    normal(
        json!({"type": ["string", "null"], "anyOf": [{"enum": [{"a": 1}, [1]]}, {"type": "null"}]}),
        json!({"type": "null"}),
    );
}
