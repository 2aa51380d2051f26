//! Which annotations are removed, and which are described.

use serde_json::json;

use crate::lower::pass::tests::{assert_losses_reported, run_pass};
use crate::{Dialect, lower::pass::annotations::run};

#[test]
fn what_only_informs_goes_without_a_word() {
    for (before, after) in [
        (
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "a:b", "type": "object"}),
            json!({"type": "object"}),
        ),
        (
            json!({"type": "string", "examples": ["a"], "example": "a", "deprecated": true, "x-order": 3, "readOnly": true}),
            json!({"type": "string"}),
        ),
        (
            json!({"anyOf": [{"$comment": "c", "type": "null"}], "discriminator": {"propertyName": "kind"}}),
            json!({"anyOf": [{"type": "null"}]}),
        ),
        (
            json!({"type": "string", "enumDescriptions": ["a"], "markdownDescription": "*a*", "whatever": {"a": 1}}),
            json!({"type": "string"}),
        ),
    ] {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

#[test]
fn a_title_speaks_where_there_is_no_description() {
    for (before, after) in [
        (json!({"title": "Unit"}), json!({"description": "Unit"})),
        (json!({"title": "Unit", "description": " "}), json!({"description": "Unit"})),
        (json!({"title": "Unit", "description": "Of what."}), json!({"description": "Of what."})),
        (json!({"title": ""}), json!({})),
    ] {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

#[test]
fn properties_may_be_named_like_keywords() {
    let schema = json!({
        "type": "object",
        "properties": {"title": {"type": "string"}, "examples": {"type": "array"}, "x-y": {}, "default": {"type": "null"}},
        "required": ["title"]
    });
    assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, schema.clone()), (schema, vec![]));
}

#[test]
fn a_default_is_described_where_it_cannot_be_written() {
    let before = json!({"properties": {"days": {"type": "integer", "default": 5}, "unit": {"description": "In what.", "default": "C"}}});
    assert_eq!(
        run_pass(run, Dialect::OPENAI_STRICT, before.clone()),
        (
            json!({"properties": {"days": {"type": "integer", "description": "Default: 5"}, "unit": {"description": "In what. (default: \"C\")"}}}),
            vec![
                "/properties/days: default (note), described as \"default: 5\"".to_owned(),
                "/properties/unit: default (note), described as \"default: \"C\"\"".to_owned(),
            ]
        )
    );
    assert_eq!(run_pass(run, Dialect::XAI, before.clone()), (before, vec![]));
}

#[test]
fn a_long_default_is_cut() {
    let (after, _) = run_pass(run, Dialect::OPENAI_STRICT, json!({"default": "ü".repeat(300)}));
    assert_eq!(after, json!({"description": format!("Default: \"{}…", "ü".repeat(79))}));
}

#[test]
fn the_encoding_of_text_is_described() {
    let losses = |words: &str, keywords: &[&str]| {
        let loss = |keyword: &&str| format!("/: {keyword} (note), described as \"{words}\"");
        keywords.iter().map(loss).collect::<Vec<_>>()
    };
    assert_eq!(
        run_pass(
            run,
            Dialect::OPENAI_STRICT,
            json!({"type": "string", "contentEncoding": "base64"})
        ),
        (
            json!({"type": "string", "description": "Base64 text"}),
            losses("base64 text", &["contentEncoding"])
        )
    );
    assert_eq!(
        run_pass(
            run,
            Dialect::OPENAI_STRICT,
            json!({"description": "A picture.", "contentEncoding": "base64", "contentMediaType": "image/png", "contentSchema": {}})
        ),
        (
            json!({"description": "A picture. (image/png as base64 text)"}),
            losses("image/png as base64 text", &["contentMediaType", "contentEncoding"])
        )
    );
}

#[test]
fn an_older_draft_is_converted_to_the_newest() {
    const SEVEN: &str = "http://json-schema.org/draft-07/schema#";
    for (before, after) in [
        (
            json!({"$schema": SEVEN, "items": [{"type": "string"}], "additionalItems": false}),
            json!({"prefixItems": [{"type": "string"}], "items": false}),
        ),
        (
            json!({"$schema": SEVEN, "items": {"type": "string"}, "additionalItems": false, "prefixItems": [{"type": "null"}]}),
            json!({"items": {"type": "string"}}),
        ),
        (
            json!({"$schema": SEVEN, "dependentRequired": {"a": ["b"]}, "dependencies": {"a": ["c"]}, "unevaluatedProperties": false}),
            json!({"dependencies": {"a": ["c"]}}),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false, "const": 3}),
            json!({"maximum": 5, "exclusiveMinimum": 1}),
        ),
    ] {
        assert_eq!(run_pass(run, Dialect::OPENAI_STRICT, before), (after, vec![]));
    }
}

#[test]
fn the_verdict_is_the_same() {
    const SEVEN: &str = "http://json-schema.org/draft-07/schema#";
    let schemas = [
        json!({"title": "T", "type": "array", "examples": [1], "x-a": {"type": "null"}, "nullable": true}),
        json!({"properties": {"title": {"type": "string", "title": "T", "default": 3}}, "required": ["title"]}),
        json!({"$schema": SEVEN, "items": [{"type": "integer"}], "additionalItems": {"type": "string"}}),
        json!({"$schema": SEVEN, "prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "dependentRequired": {"a": ["b"]}}),
        json!({"$schema": SEVEN, "contentEncoding": "base64"}),
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "number", "minimum": 1, "exclusiveMinimum": true, "const": 4}),
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{"type": "integer"}], "unevaluatedItems": false}),
    ];
    let values = [
        json!(null),
        json!(1),
        json!(1.5),
        json!("?"),
        json!([]),
        json!([1]),
        json!([1, "a"]),
        json!([1, 2]),
        json!(["a"]),
        json!({"a": 1}),
        json!({"title": "a"}),
        json!({"title": 3}),
    ];
    assert_losses_reported(run, Dialect::OPENAI_STRICT, &schemas, &values);
}
