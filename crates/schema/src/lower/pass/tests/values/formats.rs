//! Formats and patterns.

use serde_json::json;

use crate::lower::pass::tests::assert_pass;
use crate::{
    Dialect,
    lower::pass::formats::{needs_backtracking, run},
};

#[test]
fn an_unsupported_format_is_described() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"properties": {
            "format": {"type": "string", "format": "uri"},
            "day": {"type": "string", "format": "date", "description": "When."},
        }}),
        json!({"properties": {
            "format": {"type": "string", "description": "An absolute URI such as https://example.com/"},
            "day": {"type": "string", "format": "date", "description": "When."},
        }}),
        &[
            "/properties/format: format (wider), described as \"an absolute URI such as https://example.com/\"",
        ],
    );
}

#[test]
fn formats_of_numbers_go_in_silence() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"anyOf": [{"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}, {"type": "number", "format": "double"}]}),
        json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "number"}]}),
        &[],
    );
}

#[test]
fn a_format_that_nobody_checks_costs_nothing() {
    assert_pass(
        run,
        Dialect::GEMINI,
        json!({"type": "string", "format": "phone", "description": ""}),
        json!({"type": "string", "description": "In the format `phone`"}),
        &["/: format (note), described as \"in the format `phone`\""],
    );
}

#[test]
fn a_format_is_read_on_its_own_type_only() {
    assert_pass(
        run,
        Dialect::GEMINI_OPENAPI,
        json!({"anyOf": [{"type": "integer", "format": "int32"}, {"type": "string", "format": "int32"}, {"type": "string", "format": "date-time"}]}),
        json!({"anyOf": [{"type": "integer", "format": "int32"}, {"type": "string"}, {"type": "string", "format": "date-time"}]}),
        &[],
    );
}

#[test]
fn patterns_with_look_around_are_described_where_patterns_are_supported() {
    let before = json!({"type": "string", "pattern": "^(?!x)\\w+$"});
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        before.clone(),
        json!({"type": "string", "description": "Matches the pattern `^(?!x)\\w+$`"}),
        &["/: pattern (wider), described as \"matches the pattern `^(?!x)\\w+$`\""],
    );
    // There no pattern is read, and the keywords pass takes them all.
    assert_pass(run, Dialect::GEMINI, before.clone(), before, &[]);
}

#[test]
fn look_around_is_distinguished_from_what_looks_like_it() {
    for pattern in ["(?=a)", "a(?!b)", "(?<=a)b", "(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>", r"[]](?=a)"]
    {
        assert!(needs_backtracking(pattern), "{pattern}");
    }
    for pattern in ["", "a", r"\(?=a", "(?:a)", "(?<n>a)", r"\\1", r"[\1]", "[(?=]", r"\d{1}", "\\"]
    {
        assert!(!needs_backtracking(pattern), "{pattern}");
    }
}
