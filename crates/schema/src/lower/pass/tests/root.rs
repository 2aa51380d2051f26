//! The root of a schema is one object.

use serde_json::{Value, json};

use super::{assert_losses_reported, assert_pass, pass_error, run_pass};
use crate::{
    Dialect,
    lower::{
        LoweringState,
        pass::root::{move_annotations_out, require_object_type, require_single_object},
    },
};

fn one(before: Value, after: Value, losses: &[&str]) {
    assert_pass(require_single_object, Dialect::OPENAI, before, after, losses);
}

#[test]
fn a_root_without_a_type_is_an_object() {
    for (before, after) in [
        (json!({}), json!({"type": "object", "properties": {}})),
        (json!(true), json!({"type": "object", "properties": {}})),
        (
            json!({"properties": {"a": {}}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
        ),
        (
            json!({"type": ["null", "object"], "description": "Args."}),
            json!({"type": "object", "properties": {}, "description": "Args."}),
        ),
        (
            json!({"additionalProperties": {"type": "string"}, "type": "object"}),
            json!({"additionalProperties": {"type": "string"}, "type": "object", "properties": {}}),
        ),
        (
            json!({"type": "object", "properties": {"anyOf": {}}, "unevaluatedProperties": false}),
            json!({"type": "object", "properties": {"anyOf": {}}, "additionalProperties": false}),
        ),
    ] {
        let mut named = before.clone();
        one(before, after, &[]);
        // Where anything may stand beside the type, only the type is added.
        let (made, losses) = run_pass(require_object_type, Dialect::MCP, named.clone());
        if let (Value::Object(named), Value::Object(made)) = (&mut named, &made) {
            named.insert("type".to_owned(), json!("object"));
            assert_eq!(named, made);
        }
        assert!(losses.is_empty());
    }
}

#[test]
fn what_admits_no_object_is_impossible() {
    for before in [json!(false), json!({"type": "string"}), json!({"type": ["array", "null"]})] {
        for pass in [require_object_type, require_single_object] {
            assert_eq!(
                pass_error(pass, Dialect::OPENAI, before.clone()).to_string(),
                "arguments are an object, and this schema admits none"
            );
        }
    }
    for before in [
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"oneOf": [{"type": "string"}]}),
        json!({"anyOf": [false]}),
        json!({"$ref": "#/$defs/word", "$defs": {"word": {"type": "string"}}}),
        json!({"allOf": [{"type": "string"}]}),
    ] {
        let mut state = LoweringState::new(&before, Dialect::OPENAI).unwrap();
        let verdict = require_single_object(&mut state);
        assert!(verdict.is_err() || !state.losses.is_empty(), "{before}");
    }
    assert_eq!(
        pass_error(
            require_single_object,
            Dialect::OPENAI,
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})
        )
        .to_string(),
        "arguments are an object, and this schema admits none"
    );
}

#[test]
fn what_the_root_refers_to_takes_its_place() {
    for (before, after) in [
        (
            json!({"$ref": "#/$defs/args", "$defs": {"args": {"type": "object", "properties": {"a": {"$ref": "#/$defs/args"}}}}}),
            json!({"type": "object", "$defs": {"args": {"type": "object", "properties": {"a": {"$ref": "#/$defs/args"}}}}, "properties": {"a": {"$ref": "#/$defs/args"}}}),
        ),
        (
            json!({"$ref": "#/definitions/args", "required": ["a"], "definitions": {"args": {"required": ["b"]}}}),
            json!({"type": "object", "properties": {}, "required": ["a", "b"], "definitions": {"args": {"required": ["b"]}}}),
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"properties": {"x": {}}}}}),
            json!({"type": "object", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"properties": {"x": {}}}}, "properties": {"x": {}}}),
        ),
    ] {
        one(before, after, &[]);
    }
}

#[test]
fn what_holds_at_once_comes_together() {
    for (before, after) in [
        (
            json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "required": ["b"]}]}),
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]}),
        ),
        (
            json!({"type": "object", "allOf": [{"$ref": "#/$defs/a"}, true], "unevaluatedProperties": false, "$defs": {"a": {"properties": {"a": {}}}}}),
            json!({"type": "object", "$defs": {"a": {"properties": {"a": {}}}}, "properties": {"a": {}}, "additionalProperties": false}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": [{"properties": {"a": {"minLength": 1}}}]}),
            json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}),
        ),
        (
            json!({"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"description": "Or not."}]}),
            json!({"type": "object", "properties": {"a": {}}}),
        ),
        (
            json!({"type": "object", "anyOf": [{"type": "null"}, {"properties": {"a": {}}}]}),
            json!({"type": "object", "properties": {"a": {}}}),
        ),
    ] {
        one(before, after, &[]);
    }
}

#[test]
fn groups_of_arguments_become_words() {
    one(
        json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}),
        json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "description": "Give one of these groups: a; or b, c"}),
        &["/: anyOf (wider), described as \"give one of these groups: a; or b, c\""],
    );
    one(
        json!({"type": "object", "description": "Args.", "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["a", "b"]}]}),
        json!({"type": "object", "description": "Args. (give one of these groups: a; or a, b)", "properties": {"a": {}, "b": {}}, "required": ["a"]}),
        &["/: anyOf (wider), described as \"give one of these groups: a; or a, b\""],
    );
}

#[test]
fn alternatives_with_a_discriminator_become_one_object() {
    let words = "give one of these groups: kind = \"card\", number; or kind = \"cash\"";
    one(
        json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"type": "string", "const": "card"}, "number": {"type": "string"}}, "required": ["kind", "number"], "additionalProperties": false},
            {"type": "object", "properties": {"kind": {"type": "string", "enum": ["cash"]}, "coins": {"type": "integer"}}, "required": ["kind"], "additionalProperties": false},
        ]}),
        json!({
            "type": "object",
            "properties": {"kind": {"type": "string", "enum": ["card", "cash"]}, "number": {"type": "string"}, "coins": {"type": "integer"}},
            "required": ["kind"],
            "additionalProperties": false,
            "description": words.replacen('g', "G", 1),
        }),
        &[&format!("/: oneOf (wider), described as \"{}\"", words)],
    );
}

#[test]
fn open_alternatives_accepted_more_than_can_be_expressed() {
    one(
        json!({"anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}, "required": ["b"]},
        ]}),
        json!({
            "type": "object",
            "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "b": {"type": "string"}},
            "description": "Give one of these groups: a; or b",
        }),
        &[
            "/: anyOf (narrower)",
            "/: anyOf (wider), described as \"give one of these groups: a; or b\"",
        ],
    );
}

#[test]
fn alternatives_that_require_nothing_are_not_described_as_groups() {
    let (after, losses) = run_pass(
        require_single_object,
        Dialect::OPENAI,
        json!({"type": "object", "anyOf": [
            {"properties": {"a": {"type": "string"}}, "additionalProperties": false},
            {"properties": {"b": {"type": "string"}}, "additionalProperties": false},
        ]}),
    );
    assert_eq!(after["additionalProperties"], false);
    assert_eq!(losses.len(), 1);
    assert!(!losses[0].contains("groups"), "{losses:?}");
}

#[test]
fn a_name_by_pattern_keeps_the_whole_open() {
    let (after, _) = run_pass(
        require_single_object,
        Dialect::OPENAI,
        json!({"anyOf": [
            {"patternProperties": {"^x-": {}}, "additionalProperties": false, "required": ["x-a"]},
            {"properties": {"b": {}}, "additionalProperties": false, "required": ["b"]},
        ]}),
    );
    assert_eq!(after.get("additionalProperties"), None);
}

#[test]
fn what_an_alternative_asks_beside_a_reference_counts() {
    let before = json!({
        "anyOf": [{"$ref": "#/$defs/base", "required": ["a"]}],
        "$defs": {"base": {"type": "object", "properties": {"a": {"type": "string"}}}},
    });
    for dialect in Dialect::ALL {
        if dialect == Dialect::MCP {
            // Its root may have alternatives.
            continue;
        }
        let lowered = crate::Schema::check(before.clone()).unwrap();
        let lowered = lowered.lower(dialect).unwrap();
        assert_eq!(lowered.schema()["required"], json!(["a"]), "{dialect}");
    }
}

#[test]
fn what_only_a_whole_schema_can_say_is_described() {
    for (before, keyword) in [
        (json!({"type": "object", "not": {"required": ["a"]}}), "not"),
        (json!({"type": "object", "enum": [{"a": 1}]}), "enum"),
        (json!({"type": "object", "const": {"a": 1}}), "const"),
        (
            json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "unevaluatedProperties": false}),
            "unevaluatedProperties",
        ),
    ] {
        let (after, losses) = run_pass(require_single_object, Dialect::OPENAI, before);
        assert_eq!(after.get(keyword), None);
        assert!(
            losses.iter().any(|loss| loss.starts_with(&format!("/: {keyword} (wider)"))),
            "{losses:?}"
        );
    }
}

#[test]
fn annotations_of_the_root_can_move_to_the_tool() {
    let mut state = LoweringState::new(
        &json!({"type": "object", "description": "Give a or b.", "properties": {"a": {"description": "A."}}}),
        Dialect::OLLAMA,
    )
    .unwrap();
    move_annotations_out(&mut state).unwrap();
    let (after, losses, remark) = (state.schema, state.losses, state.description_suffix);
    assert_eq!(after, json!({"type": "object", "properties": {"a": {"description": "A."}}}));
    assert!(losses.is_empty());
    assert_eq!(remark.as_deref(), Some("Give a or b."));
}

#[test]
fn the_verdict_is_as_reported() {
    let schemas = [
        json!({"type": ["object", "null"], "required": ["a"]}),
        json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}),
        json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}),
        json!({"anyOf": [{"properties": {"a": {"type": "string"}}, "additionalProperties": false}, {"properties": {"b": {}}, "additionalProperties": false}]}),
        json!({"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]}),
        json!({"anyOf": [{"patternProperties": {"^b": {}}, "additionalProperties": false}, {"properties": {"a": {}}, "additionalProperties": false}]}),
        json!({"properties": {"a": {}}, "additionalProperties": false, "anyOf": [{"properties": {"b": {}}}, {"required": ["a"]}]}),
        json!({"properties": {"a": {"type": "string"}}, "anyOf": [{"properties": {"a": {"const": "x"}}}, {"properties": {"a": {"const": "y"}}, "required": ["b"]}]}),
        json!({"anyOf": [{"additionalProperties": {"type": "string"}}, {"properties": {"a": {}}, "additionalProperties": false}]}),
        json!({"not": {"required": ["a"]}}),
        json!({"allOf": [{"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"oneOf": [{"required": ["a"]}, {"required": ["c"]}]}]}),
        json!({"$ref": "#/$defs/a", "properties": {"b": {"type": "string"}}, "$defs": {"a": {"properties": {"b": {"minLength": 2}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}}}),
        json!({"oneOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"type": "integer"}}, "required": ["a"]}]}),
        json!({"dependentSchemas": {"a": {"required": ["b"]}}, "anyOf": [{"required": ["a"]}, {}]}),
    ];
    let values = [
        json!({}),
        json!({"a": 1}),
        json!({"a": "x"}),
        json!({"a": "y"}),
        json!({"b": 1}),
        json!({"b": "bb"}),
        json!({"c": 1}),
        json!({"c": "c"}),
        json!({"a": 1, "b": 1}),
        json!({"a": "x", "b": "bb"}),
        json!({"a": "y", "b": 1}),
        json!({"a": 1, "c": 1}),
        json!({"b": 1, "c": 1}),
        json!({"bb": 1}),
    ];
    assert_losses_reported(require_single_object, Dialect::OPENAI, &schemas, &values);
}
