//! The limits of a request, and the tools that are omitted or not strict beyond them.

use serde_json::{Map, Value, json};
use toolwright_schema::Dialect;

use super::{Sample, omitted, plan, planned, strict};
use crate::tool::policy::StrictMode;
use crate::wire::ToolPlanner;

/// A closed object with `count` optional parameters.
fn optional(name: &str, count: usize) -> Sample {
    let properties: Map<String, Value> =
        (0..count).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    Sample::new(
        name,
        json!({"type": "object", "properties": properties, "additionalProperties": false}),
    )
}

/// An object with `count` parameters that are unions.
fn unions(name: &str, count: usize) -> Sample {
    let properties: Map<String, Value> = (0..count)
        .map(|number| (format!("p{number}"), json!({"type": ["string", "integer"]})))
        .collect();
    Sample::closed(name, Value::Object(properties))
}

fn one(name: &str) -> Sample {
    Sample::closed(name, json!({"a": {"type": "string"}}))
}

/// A tool with additional properties, which strict mode rejects.
fn open(name: &str) -> Sample {
    Sample::new(name, json!({"type": "object", "properties": {"a": {"type": "string"}}}))
}

#[test]
fn a_lossless_tool_is_strict_and_others_are_not() {
    for dialect in [Dialect::OPENAI, Dialect::ANTHROPIC] {
        let tools = [one("exact"), open("open"), optional("few", 3)];
        assert_eq!(strict(&plan(dialect, &tools)), ["exact", "few"], "{dialect}");
    }
    for dialect in [Dialect::GROQ, Dialect::GEMINI, Dialect::MCP] {
        assert_eq!(strict(&plan(dialect, &[one("exact")])), [""; 0], "{dialect}");
    }
}

#[test]
fn a_tool_may_require_or_forbid_strict_mode() {
    for dialect in [Dialect::OPENAI, Dialect::ANTHROPIC] {
        let tools = [
            one("declines").strict(StrictMode::Off),
            open("insists").strict(StrictMode::On),
            open("open"),
        ];
        assert_eq!(strict(&plan(dialect, &tools)), ["insists"], "{dialect}");
    }
    let tools = [one("declines").strict(StrictMode::Off), open("open")];
    assert_eq!(strict(&plan(Dialect::OPENAI_STRICT, &tools)), ["open"]);
}

#[test]
fn twenty_tools_may_be_strict_and_the_destructive_ones_come_first() {
    let mut tools: Vec<Sample> = (0..25).map(|number| one(&format!("t{number}"))).collect();
    tools.push(one("delete").destructive());
    tools.push(one("asked").strict(StrictMode::On));
    tools.push(Sample::closed(
        "rich",
        json!({"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "integer"}}),
    ));
    for dialect in [Dialect::ANTHROPIC, Dialect::ANTHROPIC_STRICT] {
        let plan = plan(dialect, &tools);
        let strict = strict(&plan);
        assert_eq!(strict.len(), 20);
        assert!(strict.ends_with(&["delete", "asked", "rich"]), "{strict:?}");
        assert!(strict.starts_with(&["t0", "t1"]), "{strict:?}");
        assert_eq!(plan.omitted(), [], "the rest is sent all the same");
    }
    assert_eq!(strict(&plan(Dialect::OPENAI, &tools)).len(), tools.len());
}

#[test]
fn optional_parameters_are_counted_over_the_request() {
    let tools = [
        optional("a", 10),
        optional("b", 10),
        optional("c", 10).destructive(),
        optional("d", 4),
        one("none"),
    ];
    assert_eq!(strict(&plan(Dialect::ANTHROPIC, &tools)), ["a", "c", "d", "none"]);
}

#[test]
fn unions_are_counted_over_the_request() {
    let tools = [unions("a", 9), unions("b", 8), unions("c", 8).destructive(), unions("d", 1)];
    assert_eq!(strict(&plan(Dialect::ANTHROPIC, &tools)), ["b", "c"]);
}

#[test]
fn a_tool_over_the_limit_is_omitted_with_the_reason() {
    let tools: Vec<Sample> = (0..129).map(|number| one(&format!("t{number}"))).collect();
    let reason = "openai takes at most 128 tools in a request";
    let full = plan(Dialect::OPENAI, &tools);
    assert_eq!(omitted(&full), [("t128", reason)]);

    let planner = ToolPlanner::new(Dialect::OPENAI).prefer(["t128", "unknown"]);
    let preferring = planned(&planner, Dialect::OPENAI, &tools);
    assert_eq!(omitted(&preferring), [("t127", reason)]);
    assert_eq!(
        preferring.tools().last().map(|tool| tool.name.as_str()),
        Some("t128"),
        "the order stays"
    );
    assert_eq!(omitted(&plan(Dialect::ANTHROPIC, &tools)), []);
}

#[test]
fn of_more_preferred_tools_than_fit_the_first_are_kept() {
    let tools: Vec<Sample> = (0..140).map(|number| one(&format!("t{number}"))).collect();
    let names: Vec<String> = (5..140).map(|number| format!("t{number}")).collect();
    let planner = ToolPlanner::new(Dialect::OPENAI).prefer(names);
    let plan = planned(&planner, Dialect::OPENAI, &tools);
    assert_eq!(plan.tools().len(), 128);
    assert_eq!(plan.tools()[0].name, "t5");
    assert_eq!(plan.omitted().len(), 12);
}

#[test]
fn a_tool_over_the_token_budget_is_omitted_and_the_next_may_fit() {
    let long =
        Sample::closed("long", json!({"a": {"type": "string", "description": "x".repeat(4000)}}));
    let tools = [one("a"), long, one("b")];
    let planner = ToolPlanner::new(Dialect::OPENAI).max_tokens(200);
    let plan = planned(&planner, Dialect::OPENAI, &tools);
    let names: Vec<&str> = plan.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(plan.tokens() <= 200);
    let (name, reason) = omitted(&plan)[0];
    assert_eq!(name, "long");
    assert!(
        reason.starts_with("its 1")
            && reason.ends_with(" tokens are more than is left of the budget"),
        "{reason}"
    );
}

#[test]
fn a_tool_that_cannot_be_lowered_does_not_affect_the_others() {
    for dialect in Dialect::ALL {
        let tools = [one("a"), Sample::new("text", json!({"type": "string"})), one("b")];
        let plan = plan(dialect, &tools);
        assert_eq!(plan.tools().len(), 2, "{dialect}");
        assert_eq!(
            omitted(&plan),
            [("text", "arguments are an object, and this schema admits none")],
            "{dialect}"
        );
    }
}

#[test]
fn the_longest_lists_lose_their_limit_where_the_sum_is_bounded() {
    let list = |name: &str, bound: u64| {
        Sample::closed(
            name,
            json!({"l": {"type": "array", "items": {"type": "string"}, "maxItems": bound}}),
        )
    };
    for dialect in [Dialect::GEMINI, Dialect::GEMINI_OPENAPI] {
        let tools = [list("a", 500), list("b", 400), list("c", 100), list("d", 60)];
        let plan = plan(dialect, &tools);
        assert!(!plan.json().contains(r#""maxItems":500"#), "{}", plan.json());
        let sum: u64 = [400, 100, 60]
            .into_iter()
            .filter(|bound| plan.json().contains(&format!(r#""maxItems":{bound}"#)))
            .sum();
        assert_eq!(sum, 560, "{}", plan.json());
    }
    let tools = [list("a", 500), list("b", 460)];
    assert!(plan(Dialect::GEMINI, &tools).json().contains(r#""maxItems":500"#));
    assert!(plan(Dialect::OPENAI, &[list("a", 5000)]).json().contains(r#""maxItems":5000"#));
}
