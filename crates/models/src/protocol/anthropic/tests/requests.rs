//! Requests as JSON.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_chat::{
    HostedTool, Item, ItemKind, Message, ModelId, ModelRequest, Step, StopReason, ToolChoice, Usage,
};
use toolwright_core::schema::Schema;
use toolwright_core::{Config, ConfigSources, Content, ToolCall, ToolResult};

use super::{MODEL, body, no_tools};
use crate::protocol::Protocol as _;
use crate::protocol::anthropic::Anthropic;
use crate::protocol::anthropic::request::response_format;

fn asking(messages: Vec<Message>) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = messages;
    request
}

fn user(text: &str) -> Message {
    Message::User(vec![Content::text(text)])
}

fn step(items: Vec<Item>) -> Message {
    let model = ModelId::new("openai", "gpt-5");
    Message::Step(Arc::new(Step::new(model, items, StopReason::End, Usage::default())))
}

fn call(id: &str, name: &str, arguments: &str) -> Item {
    Item::call(ToolCall::new(name, arguments).with_id(id))
}

fn result(id: &str, mut result: ToolResult) -> ToolResult {
    result.call_id = id.into();
    result
}

fn config(settings: &[(&str, &str)]) -> Config {
    let settings = settings.iter().map(|(key, value)| (*key, *value));
    Config::load(ConfigSources::new().defaults(settings)).unwrap().config
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn the_smallest_request_has_a_model_a_length_and_a_message() {
    let body = Anthropic.body(&asking(vec![user("Hi")]), &no_tools(), MODEL);
    assert_eq!(
        Value::from(body),
        json!({
            "model": "claude-sonnet-5",
            "max_tokens": 32_000,
            "stream": true,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        })
    );
}

#[test]
fn a_rich_conversation_is_written_exactly() {
    let mut request = asking(vec![
        Message::User(vec![
            Content::text("What is this, and how is the weather?"),
            Content::image("image/png", b"png"),
        ]),
        Message::Assistant(vec![Content::text("I shall look.")]),
        step(vec![
            Item::new(ItemKind::Reasoning { text: "left out".into() }),
            Item::text("Two things at once."),
            call("call|1", "get_weather", r#"{"city": "Rome"}"#),
            call("call_2", "files.read", ""),
        ]),
        Message::Results(vec![
            result("call|1", ToolResult::success("Sunny")),
            result("call_2", ToolResult::failure("no such file")),
        ]),
        user("Go on."),
    ]);
    request.system = Some("Be brief.".into());
    request.options.max_tokens = Some(500);
    assert_eq!(
        body(&request, "claude-opus-4-6"),
        json!({
            "model": "claude-opus-4-6",
            "max_tokens": 500,
            "stream": true,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "tools": [
                {
                    "name": "get_weather",
                    "description": "Tells the weather.",
                    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false},
                    "strict": true,
                },
                {
                    "name": "files_read",
                    "description": "Reads a file.",
                    "input_schema": {"type": "object", "properties": {}, "additionalProperties": false},
                    "strict": true,
                    "cache_control": {"type": "ephemeral"},
                },
            ],
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "What is this, and how is the weather?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
                ]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I shall look."},
                    {"type": "text", "text": "Two things at once."},
                    {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "Rome"}},
                    {"type": "tool_use", "id": "call_2", "name": "files_read", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "Sunny"},
                    {"type": "tool_result", "tool_use_id": "call_2", "content": "no such file", "is_error": true},
                    {"type": "text", "text": "Go on."},
                ]},
            ],
        })
    );
}

#[test]
fn content_goes_as_far_as_the_api_can_carry_it() {
    let request = asking(vec![Message::User(vec![
        Content::image("image/bmp", b"b"),
        Content::audio("audio/wav", b"w"),
        Content::resource("file:///a.txt", "inside"),
        Content::blob("file:///b.txt", "text/plain", b"decoded"),
        Content::blob("file:///c.pdf", "application/pdf", b"pdf"),
        Content::blob("file:///d.gif", "image/gif", b"gif"),
        Content::blob("file:///e.zip", "application/zip", b"zip"),
        Content::link("https://x.example", "X"),
        Content::text("  "),
    ])]);
    assert_eq!(
        body(&request, MODEL)["messages"][0]["content"],
        json!([
            text("[an image, image/bmp, 1 bytes, which cannot be shown here]"),
            text("[a sound, audio/wav, 1 bytes, which cannot be shown here]"),
            text("file:///a.txt:\ninside"),
            text("file:///b.txt:\ndecoded"),
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "cGRm"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "Z2lm"}},
            text("[file:///e.zip, application/zip, 3 bytes, which cannot be shown here]"),
            text("[X](https://x.example)"),
        ])
    );
}

#[test]
fn images_of_the_assistant_are_described() {
    let picture = Message::Assistant(vec![Content::image("image/png", b"png")]);
    let body = body(&asking(vec![user("?"), picture]), MODEL);
    let expected = text("[an image, image/png, 3 bytes, which cannot be shown here]");
    assert_eq!(body["messages"][1]["content"][0], expected);
}

#[test]
fn results_contain_images_and_errors_are_never_empty() {
    let ids = ["a", "b", "c", "d"];
    let calls = ids.map(|id| call(id, "files.read", "{}")).into();
    let picture = vec![Content::text("Look:"), Content::image("image/png", b"png")];
    let results = vec![
        result("a", ToolResult::success(picture)),
        result("b", ToolResult::success("")),
        result("c", ToolResult::failure("")),
        result("d", ToolResult::success(Vec::new()).with_structured(json!({"n": 1}))),
    ];
    let body = body(&asking(vec![step(calls), Message::Results(results)]), MODEL);
    let content = &body["messages"][1]["content"];
    let png = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}});
    assert_eq!(content[0]["content"], json!([text("Look:"), png]));
    assert_eq!(content[1]["content"], "");
    assert_eq!(content[2]["content"], "the tool did not say what went wrong");
    assert_eq!(content[2]["is_error"], true);
    assert_eq!(content[3]["content"], r#"{"n":1}"#);
}

#[test]
fn a_call_without_a_result_gets_an_error_result() {
    let calls = || step(vec![call("a", "files.read", "{}"), call("b", "files.read", "{}")]);
    let answered = Message::Results(vec![result("b", ToolResult::success("ok"))]);
    let body = body(&asking(vec![user("?"), calls(), answered, user("And?"), calls()]), MODEL);
    let missing = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "there is no result: the call was never answered", "is_error": true});
    assert_eq!(
        body["messages"][2]["content"],
        json!([missing("a"), {"type": "tool_result", "tool_use_id": "b", "content": "ok"}, text("And?")])
    );
    assert_eq!(body["messages"][4]["content"], json!([missing("a_2"), missing("b_2")]));
}

#[test]
fn results_follow_their_calls_even_after_a_user_message() {
    let messages = vec![
        step(vec![call("a", "files.read", "{}")]),
        user("Hurry!"),
        Message::Results(vec![result("a", ToolResult::success("ok"))]),
    ];
    let body = body(&asking(messages), MODEL);
    let content = &body["messages"][1]["content"];
    assert_eq!(content[0]["type"], "tool_result");
    assert_eq!(content[1], text("Hurry!"));
}

#[test]
fn a_result_without_its_call_is_left_out() {
    let orphan = Message::Results(vec![result("gone", ToolResult::success("secret"))]);
    let body = body(&asking(vec![orphan, user("Hi")]), MODEL);
    assert_eq!(body["messages"], json!([{"role": "user", "content": [text("Hi")]}]));
}

#[test]
fn calls_of_one_id_get_their_results_in_order_under_ids_of_their_own() {
    let calls = step(vec![call("", "files.read", "{}"), call("", "files.read", "{}")]);
    let results =
        vec![result("", ToolResult::success("first")), result("", ToolResult::success("second"))];
    let body = body(&asking(vec![calls, Message::Results(results)]), MODEL);
    let content = &body["messages"][1]["content"];
    assert_eq!(
        (&content[0]["tool_use_id"], &content[0]["content"]),
        (&json!("call"), &json!("first"))
    );
    assert_eq!(
        (&content[1]["tool_use_id"], &content[1]["content"]),
        (&json!("call_2"), &json!("second"))
    );
}

#[test]
fn untidy_arguments_of_the_past_are_sent_as_they_were_read() {
    let body = body(&asking(vec![step(vec![call("a", "gone", r#"{'x': 1,}"#)])]), MODEL);
    assert_eq!(body["messages"][0]["content"][0]["input"], json!({"x": 1}));
}

#[test]
fn malformed_arguments_of_the_past_are_wrapped() {
    let body = body(&asking(vec![step(vec![call("a", "gone", r#"{"x": "#)])]), MODEL);
    assert_eq!(body["messages"][0]["content"][0]["input"], json!({"INVALID_JSON": "{\"x\": "}));
}

#[test]
fn every_choice_has_its_word_and_auto_needs_none() {
    let rows = [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({"type": "none"})),
        (ToolChoice::Required, json!({"type": "any"})),
        (ToolChoice::Named("files.read".into()), json!({"type": "tool", "name": "files_read"})),
    ];
    for (choice, expected) in rows {
        let mut request = asking(vec![user("Hi")]);
        request.tool_choice = choice;
        assert_eq!(body(&request, MODEL)["tool_choice"], expected);
        let without = Anthropic.body(&request, &no_tools(), MODEL);
        assert!(!without.contains_key("tool_choice") && !without.contains_key("tools"));
    }
}

#[test]
fn hosted_tools_stand_behind_ours() {
    let config = config(&[
        ("WebSearchTool.type", "default"),
        ("WebSearchTool.city", "Lyon"),
        ("MCP.name", "wiki"),
        ("MCP.url", "https://wiki.example/mcp"),
        ("MCP.authorization", "Bearer s3cret"),
        ("MCP_1.name", "open"),
        ("MCP_1.url", "https://open.example/mcp"),
    ]);
    let mut request = asking(vec![user("Hi")]);
    request.hosted_tools.push(HostedTool::WebSearch(config.web_search().unwrap().unwrap()));
    request.hosted_tools.extend(config.mcp_servers().unwrap().into_iter().map(HostedTool::Mcp));
    let body = Value::from(Anthropic.body(&request, &no_tools(), MODEL));
    assert_eq!(
        body["tools"],
        json!([
            {"type": "web_search_20260318", "name": "web_search", "allowed_callers": ["direct"], "user_location": {"city": "Lyon", "type": "approximate"}},
            {"type": "mcp_toolset", "mcp_server_name": "wiki"},
            {"type": "mcp_toolset", "mcp_server_name": "open", "cache_control": {"type": "ephemeral"}},
        ])
    );
    assert_eq!(
        body["mcp_servers"],
        json!([
            {"type": "url", "url": "https://wiki.example/mcp", "name": "wiki", "authorization_token": "s3cret"},
            {"type": "url", "url": "https://open.example/mcp", "name": "open"},
        ])
    );
    assert_eq!(
        Anthropic.headers(&request),
        [("anthropic-beta", "mcp-client-2025-11-20".to_owned())]
    );
}

#[test]
fn a_dated_search_is_taken_at_its_word_and_nowhere_is_no_place() {
    let rows = [
        ("web_search_20260209", MODEL, "web_search_20260209"),
        ("web_search_20250305", MODEL, "web_search_20250305"),
        // OpenAI's date format.
        ("web_search_2025_08_26", MODEL, "web_search_20260318"),
        ("default", "claude-opus-4-6", "web_search_20260318"),
        ("default", "claude-haiku-4-5", "web_search_20250305"),
        ("web_search_20260318", "claude-haiku-4-5", "web_search_20260318"),
    ];
    for (set, model, sent) in rows {
        let config = config(&[("WebSearchTool.type", set)]);
        let mut request = asking(vec![user("Hi")]);
        request.hosted_tools.push(HostedTool::WebSearch(config.web_search().unwrap().unwrap()));
        let body = Value::from(Anthropic.body(&request, &no_tools(), model));
        let cache_control = json!({"type": "ephemeral"});
        let mut tool = json!({"type": sent, "name": "web_search", "cache_control": cache_control});
        if sent != "web_search_20250305" {
            // A search that code makes needs a container, which no request keeps.
            tool["allowed_callers"] = json!(["direct"]);
        }
        assert_eq!(body["tools"], json!([tool]));
        assert!(Anthropic.headers(&request).is_empty());
    }
}

#[test]
fn effort_becomes_what_the_model_understands() {
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    let low = json!({"effort": "low"});
    let rows = [
        ("claude-opus-5", "low", None, adaptive.clone(), low.clone(), 32_000),
        ("claude-opus-5", "minimal", None, adaptive.clone(), low, 32_000),
        ("claude-opus-5", "max", Some(9), adaptive, json!({"effort": "max"}), 9),
        ("claude-haiku-4-5", "medium", None, budget(8_000), Value::Null, 24_000),
        ("claude-haiku-4-5", "high", Some(10_000), budget(5_000), Value::Null, 10_000),
        ("claude-haiku-4-5", "high", Some(1_500), Value::Null, Value::Null, 1_500),
        ("claude-3-5-haiku-latest", "high", None, Value::Null, Value::Null, 8_192),
    ];
    for (model, effort, max_tokens, thinking, output, expected) in rows {
        let mut request = asking(vec![user("Hi")]);
        request.options.effort = Some(effort.into());
        request.options.max_tokens = max_tokens;
        let body = body(&request, model);
        assert_eq!(body["thinking"], thinking, "{model} {effort}");
        assert_eq!(body["output_config"], output, "{model} {effort}");
        assert_eq!(body["max_tokens"], expected, "{model} {effort}");
    }
}

#[test]
fn a_forced_call_excludes_thinking() {
    for model in ["claude-opus-5", "claude-haiku-4-5"] {
        let mut request = asking(vec![user("Hi")]);
        request.options.effort = Some("high".into());
        request.tool_choice = ToolChoice::Required;
        assert_eq!(body(&request, model)["thinking"], Value::Null);
        request.tool_choice = ToolChoice::None;
        assert!(body(&request, model)["thinking"].is_object());
    }
}

#[test]
fn a_turn_that_started_without_thinking_continues_without_a_budget() {
    let calls = step(vec![call("a", "files.read", "{}")]);
    let results = Message::Results(vec![result("a", ToolResult::success("ok"))]);
    let mut request = asking(vec![user("Hi"), calls, results]);
    request.options.effort = Some("high".into());
    assert_eq!(body(&request, "claude-haiku-4-5")["thinking"], Value::Null);
    assert_eq!(body(&request, "claude-opus-5")["thinking"]["type"], "adaptive");
    request.messages.extend([step(vec![Item::text("Done.")]), user("More?")]);
    assert_eq!(body(&request, "claude-haiku-4-5")["thinking"]["type"], "enabled");
}

#[test]
fn sampling_is_sent_only_to_models_that_accept_it() {
    let mut request = asking(vec![user("Hi")]);
    request.options.temperature = Some(0.7);
    request.options.top_p = Some(0.9);
    let old = body(&request, "claude-haiku-4-5");
    assert_eq!(old["temperature"].to_string(), "0.7");
    assert_eq!(old["top_p"].to_string(), "0.9");
    let new = body(&request, "claude-opus-4-7");
    assert_eq!((&new["temperature"], &new["top_p"]), (&Value::Null, &Value::Null));
    request.options.effort = Some("low".into());
    assert_eq!(body(&request, "claude-haiku-4-5")["temperature"], Value::Null);
}

#[test]
fn extra_fields_have_the_last_word() {
    let mut request = asking(vec![user("Hi")]);
    request.options.extra.insert("max_tokens".into(), 7.into());
    request.options.extra.insert("metadata".into(), json!({"user_id": "u"}));
    let body = body(&request, MODEL);
    assert_eq!(body["max_tokens"], 7);
    assert_eq!(body["metadata"], json!({"user_id": "u"}));
}

#[test]
fn a_response_format_is_lowered_to_the_strict_dialect() {
    let schema = Schema::check(json!({
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}},
        "required": ["n"],
    }))
    .unwrap();
    let format = response_format(&schema);
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["schema"]["additionalProperties"], false);
    assert_eq!(format["schema"]["properties"]["n"]["minimum"], Value::Null);
}

#[test]
fn a_blank_system_prompt_is_none() {
    let mut request = asking(vec![user("Hi")]);
    request.system = Some(" \n".into());
    assert_eq!(body(&request, MODEL)["system"], Value::Null);
}
