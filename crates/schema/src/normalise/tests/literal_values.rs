//! Keywords in the wrong shape, options and defaults of the wrong type.

use serde_json::json;

use super::{assert_property_normalises, assert_unchanged, refusal};

#[test]
fn numbers_and_flags_are_read_from_text() {
    assert_property_normalises(
        json!({"type": "number", "minimum": "0", "maximum": "1.5"}),
        json!({"type": "number", "minimum": 0, "maximum": 1.5}),
        &["`minimum: \"0\"` read as 0", "`maximum: \"1.5\"` read as 1.5"],
    );
    assert_property_normalises(
        json!({"type": "string", "minLength": " 3 ", "maxLength": null}),
        json!({"type": "string", "minLength": 3}),
        &["`minLength: \" 3 \"` read as 3", "`maxLength: null` dropped"],
    );
    assert_property_normalises(
        json!({"type": "array", "uniqueItems": "True"}),
        json!({"type": "array", "uniqueItems": true}),
        &["`uniqueItems: \"True\"` read as true"],
    );
    assert_eq!(refusal(json!({"minimum": "a few"})), "/minimum: expected a number, got \"a few\"");
    assert_eq!(
        refusal(json!({"maxLength": "1.5"})),
        "/maxLength: expected a whole number, got \"1.5\""
    );
    assert_eq!(refusal(json!({"uniqueItems": 1})), "/uniqueItems: expected true or false, got 1");
    assert_eq!(refusal(json!({"pattern": ["a"]})), "/pattern: expected text, got an array");
}

#[test]
fn words_for_readers_become_text() {
    assert_property_normalises(
        json!({"type": "string", "title": 5, "description": ["One.", "Two."]}),
        json!({"type": "string", "title": "5", "description": "One.\nTwo."}),
        &["`title: 5` read as \"5\"", "`description: an array` read as \"One.\\nTwo.\""],
    );
    assert_property_normalises(
        json!({"type": "string", "description": null}),
        json!({"type": "string"}),
        &["`description: null` dropped"],
    );
    assert_property_normalises(
        json!({"type": "string", "description": {"en": "One."}}),
        json!({"type": "string", "description": "{\"en\":\"One.\"}"}),
        &["`description: an object` read as \"{\\\"en\\\":\\\"One.\\\"}\""],
    );
}

#[test]
fn a_schema_in_the_place_of_words_is_refused() {
    assert_eq!(
        refusal(json!({"type": "string", "title": {"type": "strng"}})),
        "/title: expected text, got an object"
    );
}

#[test]
fn whether_others_are_admitted_is_read_from_anything() {
    let of = |others| json!({"type": "object", "additionalProperties": others});
    assert_property_normalises(
        of(json!("false")),
        of(json!(false)),
        &["/additionalProperties: \"false\" read as false"],
    );
    assert_property_normalises(
        of(json!("string")),
        of(json!({"type": "string"})),
        &["/additionalProperties: \"string\" read as {\"type\":\"string\"}"],
    );
    assert_property_normalises(
        of(json!(null)),
        json!({"type": "object"}),
        &["`additionalProperties: null` dropped"],
    );
    refusal(of(json!("some")));
    refusal(of(json!(1)));
}

#[test]
fn schemas_in_lists_are_read_from_anything_that_names_them() {
    assert_property_normalises(
        json!({"anyOf": ["string", {"type": "int"}, null], "allOf": [], "oneOf": null}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {}]}),
        &[
            "/anyOf/0: \"string\" read as {\"type\":\"string\"}",
            "/anyOf/1: type \"int\" read as \"integer\"",
            "/anyOf/2: null read as any value",
            "`allOf: []` dropped",
            "`oneOf: null` dropped",
        ],
    );
    assert_property_normalises(
        json!({"anyOf": {"type": "string"}}),
        json!({"anyOf": [{"type": "string"}]}),
        &["a schema in `anyOf` read as a list of one"],
    );
    assert_eq!(refusal(json!({"anyOf": 5})), "/anyOf: expected a list of schemas, got 5");
    assert_eq!(
        refusal(json!({"$defs": [1]})),
        "/$defs: expected an object of schemas, got an array"
    );
}

#[test]
fn options_are_a_list() {
    assert_property_normalises(
        json!({"type": "string", "enum": "a"}),
        json!({"type": "string", "enum": ["a"]}),
        &["`enum: \"a\"` read as a list of one"],
    );
    assert_property_normalises(
        json!({"type": "string", "enum": []}),
        json!({"type": "string"}),
        &["`enum: []` dropped: no value would be admitted"],
    );
    assert_property_normalises(
        json!({"type": "string", "enum": null}),
        json!({"type": "string"}),
        &["`enum: null` dropped: no value would be admitted"],
    );
    assert_property_normalises(
        json!({"type": "string", "examples": "a"}),
        json!({"type": "string", "examples": ["a"]}),
        &["`examples` read as a list of one"],
    );
    assert_eq!(refusal(json!({"enum": "a, b"})), "/enum: expected a list, got \"a, b\"");
    assert_eq!(refusal(json!({"enum": {"a": "b"}})), "/enum: expected a list, got an object");
}

#[test]
fn options_become_values_of_the_type() {
    assert_property_normalises(
        json!({"type": "integer", "enum": ["1", 2]}),
        json!({"type": "integer", "enum": [1, 2]}),
        &["`enum`: \"1\" read as 1"],
    );
    assert_property_normalises(
        json!({"type": "string", "enum": [1, true]}),
        json!({"type": "string", "enum": ["1", "true"]}),
        &["`enum`: 1 read as \"1\"", "`enum`: true read as \"true\""],
    );
    assert_property_normalises(
        json!({"type": "bool", "enum": ["True", "False"]}),
        json!({"type": "boolean", "enum": [true, false]}),
        &[
            "type \"bool\" read as \"boolean\"",
            "`enum`: \"True\" read as true",
            "`enum`: \"False\" read as false",
        ],
    );
    assert_property_normalises(
        json!({"type": "string", "enum": ["a", null]}),
        json!({"type": "string", "enum": ["a", null]}),
        &["`enum` names null, which is no string: it can never be sent"],
    );
    assert_eq!(
        refusal(json!({"type": "integer", "enum": ["low", "high"]})),
        "/enum: none of the options is of type integer"
    );
}

#[test]
fn the_options_of_an_array_are_those_of_its_elements() {
    assert_property_normalises(
        json!({"type": "array", "items": {"type": "integer"}, "enum": ["1", "2"]}),
        json!({"type": "array", "items": {"type": "integer", "enum": [1, 2]}}),
        &[
            "`enum` read as the options of the elements",
            "/items: `enum`: \"1\" read as 1",
            "/items: `enum`: \"2\" read as 2",
        ],
    );
    assert_property_normalises(
        json!({"type": "array", "enum": ["a"]}),
        json!({"type": "array", "items": {"enum": ["a"]}}),
        &["`enum` read as the options of the elements"],
    );
    assert_unchanged(json!({"type": "array", "enum": [["a"], []]}));
    refusal(json!({"type": "array", "items": false, "enum": ["a"]}));
    refusal(json!({"type": "array", "items": {"enum": ["b"]}, "enum": ["a"]}));
}

#[test]
fn a_default_becomes_a_value_of_the_type_or_stays_with_a_note() {
    for (kind, default, read) in [
        ("integer", json!("5"), json!(5)),
        ("number", json!("0.5"), json!(0.5)),
        ("boolean", json!("False"), json!(false)),
        ("string", json!(5), json!("5")),
        ("array", json!("[1]"), json!([1])),
    ] {
        let shown = |value: &serde_json::Value| match value {
            serde_json::Value::Array(_) => "an array".to_owned(),
            other => other.to_string(),
        };
        let note = format!("`default: {default}` read as {}", shown(&read));
        assert_property_normalises(
            json!({"type": kind, "default": default}),
            json!({"type": kind, "default": read}),
            &[&note],
        );
    }
    assert_property_normalises(
        json!({"type": "integer", "default": "five"}),
        json!({"type": "integer", "default": "five"}),
        &["`default: \"five\"` kept, though it is no integer"],
    );
    assert_property_normalises(
        json!({"type": "string", "default": null}),
        json!({"type": "string", "default": null}),
        &["`default: null` kept, though it is no string"],
    );
    assert_unchanged(json!({"type": ["string", "null"], "default": null}));
    assert_unchanged(json!({"type": "integer", "default": 5.0}));
}
