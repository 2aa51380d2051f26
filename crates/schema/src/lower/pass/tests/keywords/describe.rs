//! Keywords in words.

use serde_json::{Value, json};

use crate::lower::pass::describe::{describe_keyword, describe_schema};

#[test]
fn every_assertion_has_words() {
    for (keyword, value, text) in [
        ("const", json!("a"), "always \"a\""),
        ("enum", json!(["a", 1]), "one of \"a\", 1"),
        ("type", json!(["string", "null"]), "a string or null"),
        ("exclusiveMaximum", json!(1.5), "less than 1.5"),
        ("exclusiveMinimum", json!(1), "greater than 1"),
        ("maximum", json!(1), "at most 1"),
        ("minimum", json!(1), "at least 1"),
        ("multipleOf", json!(5), "a multiple of 5"),
        ("format", json!("uuid"), "a UUID"),
        ("maxLength", json!(1), "at most 1 character"),
        ("minLength", json!(2), "at least 2 characters"),
        ("pattern", json!("^a"), "matches the pattern `^a`"),
        ("additionalItems", json!(false), "no further items"),
        ("contains", json!({"type": "integer"}), "at least one item is an integer"),
        ("items", json!({"type": "integer"}), "each item is an integer"),
        (
            "prefixItems",
            json!([{"type": "integer"}, true]),
            "the items are, in order: an integer, anything",
        ),
        ("maxItems", json!(3), "at most 3 items"),
        ("minItems", json!(1), "not empty"),
        ("uniqueItems", json!(true), "no item comes twice"),
        ("additionalProperties", json!({"type": "boolean"}), "each further property is a boolean"),
        ("dependentRequired", json!({"a": ["b", "c"]}), "`a` requires `b` and `c`"),
        ("dependentSchemas", json!({"a": {"required": ["b"]}}), "with `a` with `b`"),
        ("maxProperties", json!(2), "at most 2 properties"),
        ("minProperties", json!(1), "at least 1 property"),
        (
            "patternProperties",
            json!({"^x": {"type": "null"}}),
            "each property whose name matches `^x` is null",
        ),
        ("properties", json!({"a": {"const": 1}}), "`a` is 1"),
        (
            "propertyNames",
            json!({"maxLength": 3}),
            "the name of each property is at most 3 characters",
        ),
        ("required", json!(["a", "b", "c"]), "requires `a`, `b` and `c`"),
        (
            "allOf",
            json!([{"type": "string"}, {"minLength": 2}]),
            "a string and at least 2 characters",
        ),
        ("anyOf", json!([{"type": "string"}, {"type": "object"}]), "a string or an object"),
        (
            "oneOf",
            json!([{"required": ["a"]}, {"required": ["b"]}]),
            "exactly one of: with `a`; with `b`",
        ),
        ("not", json!({"enum": ["a", "b"]}), "not one of \"a\", \"b\""),
        ("if", json!({"properties": {"kind": {"const": "a"}}}), "if `kind` \"a\""),
        ("then", json!({"required": ["b"]}), "then with `b`"),
        (
            "else",
            json!({"type": "object", "properties": {"a": {}, "kind": {"const": "b"}}}),
            "otherwise an object with `a` and `kind` \"b\"",
        ),
    ] {
        assert_eq!(describe_keyword(keyword, &value).as_deref(), Some(text), "{keyword}");
    }
}

#[test]
fn what_asks_nothing_has_none() {
    for (keyword, value) in [
        ("title", json!("T")),
        ("additionalProperties", json!(false)),
        ("additionalProperties", json!({})),
        ("items", json!({"description": "any"})),
        ("uniqueItems", json!(false)),
        ("required", json!([])),
        ("minLength", json!(0)),
        ("minLength", json!("three")),
        ("allOf", json!([])),
    ] {
        assert_eq!(describe_keyword(keyword, &value), None, "{keyword}: {value}");
    }
}

#[test]
fn words_are_few_whatever_the_schema() {
    let long = "é".repeat(5_000);
    let many: Value = (0..5_000).collect();
    let deep = (0..100).fold(json!({"type": "string"}), |inner, _| json!({"not": inner}));
    for text in [
        describe_keyword("pattern", &json!(long)),
        describe_keyword("enum", &many),
        describe_keyword("required", &json!([long])),
        describe_keyword("allOf", &json!([deep])),
    ] {
        assert!(text.unwrap().chars().count() <= 201);
    }
    assert_eq!(describe_schema(&deep), "not not not a certain value");
}
