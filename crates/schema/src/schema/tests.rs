//! Which schemas are taken, which are refused, and where the blame goes.

use serde_json::{Value, json};

use super::*;

fn refusal(schema: Value) -> String {
    Schema::check(schema).expect_err("a refusal").to_string()
}

fn admits(schema: &Value, value: Value) -> bool {
    Schema::check(schema.clone()).unwrap().is_valid(Tape::from_value(&value).root())
}

#[test]
fn a_schema_keeps_its_words_and_their_order() {
    let text = r#"{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}"#;
    let schema = Schema::parse(text).unwrap();
    assert_eq!(serde_json::to_string(&schema).unwrap(), text);
    assert_eq!(schema, Schema::trusted(serde_json::from_str(text).unwrap()));
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    assert!(Schema::parse("{").unwrap_err().to_string().contains("not JSON"));
    assert_eq!(refusal(json!([])), "a schema is an object or a boolean");
    assert_eq!(refusal(json!({"required": "a"})), "/required: expected an array, got \"a\"");
    assert_eq!(refusal(json!({"minLength": -1})), "/minLength: expected at least 0, got -1");
    let message = refusal(json!({"properties": {"a": {"type": "strin"}}}));
    assert!(message.starts_with("/properties/a/type: expected one of"), "{message}");
    assert!(message.ends_with("did you mean \"string\"?"), "{message}");
}

#[test]
fn patterns_must_compile() {
    assert_eq!(
        refusal(json!({"properties": {"a": {"pattern": "("}}})),
        "/properties/a/pattern: expected a regular expression, got \"(\""
    );
}

#[test]
fn references_must_stay_inside_the_schema() {
    for target in ["https://example.com/x.json", "file:///etc/passwd", "#/$defs/none"] {
        let message = refusal(json!({"properties": {"a": {"$ref": target}}}));
        assert!(
            message.starts_with(&format!("/properties/a/$ref: cannot resolve `{target}`")),
            "{message}"
        );
    }
}

#[test]
fn a_schema_may_refer_to_itself() {
    let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false});
    assert!(admits(&tree, json!({"next": {"next": {}}})));
    assert!(!admits(&tree, json!({"next": {"other": 1}})));
}

#[test]
fn size_and_depth_are_bounded() {
    let deep = (0..70).fold(json!({}), |inner, _| json!({"items": inner}));
    assert!(refusal(deep).contains("deeper than 64"));
    assert!(refusal(json!({"description": "x".repeat(1 << 20)})).contains("bytes"));
}

#[test]
fn known_formats_are_asserted_and_others_ignored() {
    assert!(!admits(&json!({"format": "date"}), json!("tomorrow")));
    assert!(admits(&json!({"format": "date"}), json!("2025-01-31")));
    assert!(!admits(&json!({"format": "email"}), json!("nobody")));
    assert!(admits(&json!({"type": "integer", "format": "uint32"}), json!(-1)));
}

#[test]
fn an_older_draft_is_read_by_its_own_rules() {
    let draft7 = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]});
    assert!(!admits(&draft7, json!([1])));
}

#[test]
fn a_broken_trusted_schema_refuses_everything_and_says_so() {
    let schema = Schema::trusted(json!({"$ref": "#/$defs/none"}));
    assert!(!schema.is_valid(Tape::from_value(&json!({})).root()));
    let violations = schema.violations(&json!({}));
    assert_eq!(violations.len(), 1);
    assert!(
        violations[0].message.starts_with("the schema itself is broken: /$ref"),
        "{}",
        violations[0]
    );
}

#[test]
fn numbers_compare_by_value() {
    assert!(admits(&json!({"const": 1}), json!(1.0)));
    assert!(admits(&json!({"enum": [[1.0]]}), json!([1])));
}
