//! Provider errors that users reported, each detected before the request is sent.

use serde_json::json;

use super::*;

#[test]
fn gemini_does_not_know_what_other_servers_send() {
    let referring =
        with_definitions(open_object(json!({"type": "string"})), json!({"n": {"type": "string"}}));
    let positive = |kind: &str| open_object(json!({"type": kind, "exclusiveMinimum": 0}));
    let rows = [
        // google-gemini/gemini-cli#13326
        (referring, "", "`$defs` is not accepted"),
        // brightwave-inc/tidebreak#1516
        (open_object(json!({"type": ["string", "null"]})), "/properties/a", "`type` must be text"),
        (
            open_object(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true})),
            "/properties/a",
            "`uniqueItems` is not accepted",
        ),
        // adolfousier/opencrabs#99
        (closed_object(json!({"type": "string"})), "", "`additionalProperties` is not accepted"),
        // tailcallhq/forgecode#3426
        (json!({"type": "object", "propertyNames": {}}), "", "`propertyNames` is not accepted"),
        // pizza-bot-app/pizza-bot#62
        (positive("integer"), "/properties/a", "`exclusiveMinimum` is not accepted"),
        // router-for-me/CLIProxyAPI#3512
        (
            open_object(json!({"type": "string", "$comment": "c"})),
            "/properties/a",
            "`$comment` is not accepted",
        ),
        (
            open_object(json!({"type": "string", "enumDescriptions": []})),
            "/properties/a",
            "`enumDescriptions` is not",
        ),
    ];
    assert_rejects(Dialect::GEMINI_OPENAPI, rows);
    // googleapis/python-genai#2170
    let long = open_object(json!({"type": "array", "items": {"type": "string"}, "maxItems": 1000}));
    assert_rejects(
        Dialect::GEMINI,
        [
            (long, "", "`maxItems` add up to 1000"),
            (positive("number"), "/properties/a", "`exclusiveMinimum` is not accepted"),
        ],
    );
}

#[test]
fn strict_modes_refuse_what_libraries_generate() {
    let page = closed_object(json!({"type": "string", "format": "uri"}));
    assert_accepts(Dialect::ANTHROPIC_STRICT, [page.clone()]);
    assert_rejects(
        Dialect::OPENAI_STRICT,
        [
            // posit-dev/chatlas#255
            (page, "/properties/a", "format `uri` is not accepted"),
            // github/github-mcp-server#376
            (json!({"type": "object", "properties": {}}), "", "`additionalProperties: false`"),
            // vercel/ai#6704
            (
                closed_object(json!({"type": "object", "properties": {}})),
                "/properties/a",
                "`additionalProperties: false`",
            ),
            // openai/openai-agents-python#454
            (
                json!({"type": "object", "additionalProperties": false}),
                "",
                "must have `properties`",
            ),
            // anomalyco/opencode#45245
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
                "",
                "`a` is missing",
            ),
            // softwaremill/sttp-ai#521
            (closed_object(json!({})), "/properties/a", "untyped"),
        ],
    );
}

#[test]
fn limits_and_names_are_reported_before_the_request() {
    let names: Vec<String> = (0..513).map(|number| format!("tool{number}")).collect();
    let rejections = |dialect| crate::validate_tools_for(dialect, names.iter().map(String::as_str));
    // zed-industries/zed#32946, HolmesGPT/holmesgpt#1050, gemini-cli#19083
    assert!(rejections(Dialect::OPENAI)[0].rule.contains("at most 128"));
    assert!(rejections(Dialect::GEMINI)[0].rule.contains("at most 512"));
    // openai/codex#8174, github/copilot-cli#1879
    assert_eq!(crate::validate_tools_for(Dialect::OPENAI, ["server.tool"]).len(), 1);
}
