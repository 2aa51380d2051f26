//! Arguments in a dialect's form, back in their own.

use serde_json::{Value, json};

use crate::{Dialect, Schema, lower::LIFT_KEYWORD};

fn closed(properties: Value, required: Value) -> Schema {
    Schema::check(json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}))
        .unwrap()
}

/// What arrives, when this is sent.
fn lifted(schema: &Schema, dialect: Dialect, sent: Value) -> Value {
    let mut arguments = sent;
    schema.lower(dialect).unwrap().lift_arguments(&mut arguments);
    arguments
}

fn sent(schema: &Schema, dialect: Dialect, arguments: Value) -> Value {
    let mut arguments = arguments;
    schema.lower(dialect).unwrap().lower_arguments(&mut arguments);
    arguments
}

/// Both ways at once.
fn assert_round_trip(schema: &Schema, dialect: Dialect, wire: Value, own: Value) {
    assert_eq!(lifted(schema, dialect, wire.clone()), own, "{dialect}");
    assert_eq!(sent(schema, dialect, own), wire, "{dialect}");
}

#[test]
fn a_null_for_leaving_out_is_left_out() {
    let schema = closed(
        json!({"a": {"type": "string"}, "b": {"type": ["string", "null"]}, "c": {"type": "object", "properties": {"d": {"type": "integer"}}, "additionalProperties": false}}),
        json!(["b"]),
    );
    for dialect in [Dialect::OPENAI_STRICT, Dialect::DEEPSEEK_STRICT] {
        assert_round_trip(
            &schema,
            dialect,
            json!({"b": null, "c": {"d": null}, "a": null}),
            json!({"b": null, "c": {}}),
        );
        assert_round_trip(
            &schema,
            dialect,
            json!({"a": "x", "b": "y", "c": null}),
            json!({"a": "x", "b": "y"}),
        );
    }
    // Elsewhere null is not mentioned.
    assert!(schema.lower(Dialect::OPENAI).unwrap().keeps_argument_form());
    let null = json!({"a": null, "b": "y"});
    assert_eq!(lifted(&schema, Dialect::OPENAI, null.clone()), null);
}

#[test]
fn a_parameter_gets_its_own_name_back() {
    let schema = closed(
        json!({"größe": {"type": "integer"}, "a.b": {"type": "object", "properties": {"x y": {"type": "string"}}}}),
        json!(["größe"]),
    );
    for dialect in [Dialect::GEMINI, Dialect::GEMINI_OPENAPI, Dialect::PORTABLE] {
        let own = json!({"größe": 1, "a.b": {"x y": "z"}});
        let wire = sent(&schema, dialect, own.clone());
        assert_ne!(wire, own);
        for name in wire.as_object().unwrap().keys() {
            assert!(
                name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'),
                "{name}"
            );
        }
        assert_eq!(lifted(&schema, dialect, wire), own, "{dialect}");
        // A model that knows the name better is right, too.
        assert_eq!(lifted(&schema, dialect, own.clone()), own);
    }
}

#[test]
fn pairs_are_the_members_of_an_object() {
    let schema = closed(
        json!({"map": {"type": "object", "additionalProperties": {"type": "integer"}}}),
        json!(["map"]),
    );
    assert_round_trip(
        &schema,
        Dialect::OPENAI_STRICT,
        json!({"map": [{"key": "a", "value": 1}, {"key": "", "value": 2}]}),
        json!({"map": {"a": 1, "": 2}}),
    );
    assert_round_trip(&schema, Dialect::OPENAI_STRICT, json!({"map": []}), json!({"map": {}}));
    for odd in [
        json!({"map": [{"key": "a", "value": 1}, {"key": "a", "value": 2}]}),
        json!({"map": [{"key": "a"}]}),
        json!({"map": [{"key": 1, "value": 1}]}),
        json!({"map": [{"key": "a", "value": 1, "more": 1}]}),
        json!({"map": "none"}),
        json!({"map": {"a": 1}}),
    ] {
        assert_eq!(
            lifted(&schema, Dialect::OPENAI_STRICT, odd.clone()),
            odd,
            "left for the validator"
        );
    }
}

#[test]
fn json_in_text_is_read() {
    let schema = closed(json!({"any": {"type": "object"}}), json!(["any"]));
    let dialect = Dialect::OPENAI_STRICT;
    assert_eq!(schema.lower(dialect).unwrap().schema()["properties"]["any"]["type"], "string");
    assert_round_trip(
        &schema,
        dialect,
        json!({"any": "{\"b\":[1,null],\"a\":\"{}\"}"}),
        json!({"any": {"b": [1, null], "a": "{}"}}),
    );
    for broken in [
        json!({"any": "{\"a\": "}),
        json!({"any": ""}),
        json!({"any": "{\"a\": 1, \"a\": 2}"}),
        json!({"any": {"a": 1}}),
        json!({"any": 1}),
    ] {
        assert_eq!(lifted(&schema, dialect, broken.clone()), broken);
    }
}

#[test]
fn numbers_that_were_listed_as_text_are_numbers_again() {
    let schema = closed(
        json!({"size": {"type": "integer", "enum": [1, 2, 10]}, "on": {"enum": [true, "maybe"]}}),
        json!(["size", "on"]),
    );
    for dialect in [Dialect::GEMINI_OPENAPI, Dialect::PORTABLE] {
        let wire = sent(&schema, dialect, json!({"size": 10, "on": true}));
        assert_eq!(wire["size"], "10");
        assert_eq!(lifted(&schema, dialect, wire), json!({"size": 10, "on": true}), "{dialect}");
        assert_eq!(
            lifted(&schema, dialect, json!({"size": "3", "on": "maybe"}))["size"],
            "3",
            "not listed"
        );
        // 10.0 is the same number.
        assert_eq!(sent(&schema, dialect, json!({"size": 10.0, "on": true}))["size"], "10");
    }
}

#[test]
fn of_alternatives_the_one_that_is_meant_is_lifted() {
    let schema = closed(
        json!({"shape": {"anyOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind"], "additionalProperties": false},
            {"type": "object", "properties": {"kind": {"const": "map"}, "of": {"type": "object", "additionalProperties": {"type": "integer"}}}, "required": ["kind", "of"], "additionalProperties": false},
            {"type": "array", "items": {"type": "string"}},
            {"type": "null"},
        ]}}),
        json!(["shape"]),
    );
    for (wire, own) in [
        (json!({"kind": "circle", "r": null}), json!({"kind": "circle"})),
        (json!({"kind": "circle", "r": 2}), json!({"kind": "circle", "r": 2})),
        (
            json!({"kind": "map", "of": [{"key": "a", "value": 1}]}),
            json!({"kind": "map", "of": {"a": 1}}),
        ),
        (json!(["a"]), json!(["a"])),
        (json!(null), json!(null)),
    ] {
        assert_round_trip(
            &schema,
            Dialect::OPENAI_STRICT,
            json!({ "shape": wire }),
            json!({ "shape": own }),
        );
    }
    let neither = json!({"shape": {"kind": "square", "r": null}});
    assert_eq!(lifted(&schema, Dialect::OPENAI_STRICT, neither.clone()), neither);
}

#[test]
fn schemas_that_contain_themselves_are_lifted_all_the_way() {
    let schema = Schema::check(json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "required": ["tree"],
        "additionalProperties": false,
        "$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "in": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["name"], "additionalProperties": false}},
    }))
    .unwrap();
    assert_round_trip(
        &schema,
        Dialect::OPENAI_STRICT,
        json!({"tree": {"name": "a", "in": [{"name": "b", "in": null}, {"name": "c", "in": [{"name": "d", "in": null}]}]}}),
        json!({"tree": {"name": "a", "in": [{"name": "b"}, {"name": "c", "in": [{"name": "d"}]}]}}),
    );
}

#[test]
fn a_schema_cannot_ask_for_lifting_itself() {
    for mark in [
        json!({"json": true}),
        json!({"absent": true}),
        json!({"name": "b"}),
        json!({"texts": [1]}),
        json!({"pairs": true}),
    ] {
        let schema = closed(
            json!({"a": {"type": "string", "enum": ["1", "2"], (LIFT_KEYWORD): mark}, "c": {"anyOf": [{"type": "string", (LIFT_KEYWORD): mark}, {"type": "integer"}]}}),
            json!(["a", "c"]),
        );
        for dialect in Dialect::ALL {
            let lowered = schema.lower(dialect).unwrap();
            assert!(!lowered.text().contains("\\u0001lift"), "{dialect}");
            let wire = json!({"a": "1", "c": "2"});
            assert_eq!(lifted(&schema, dialect, wire.clone()), wire, "{dialect}");
        }
    }
}

#[test]
fn what_is_no_object_is_left_alone() {
    let schema = closed(json!({"a": {"type": "string"}}), json!([]));
    for odd in [json!(null), json!([1]), json!("{}"), json!({"b": null})] {
        assert_eq!(lifted(&schema, Dialect::OPENAI_STRICT, odd.clone()), odd);
    }
}
