//! Requests as JSON.

use serde_json::{Value, json};
use toolwright_chat::{HostedTool, Item, ItemKind, Message, ModelRequest, ToolChoice};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::{Config, ConfigSources, Content, ToolCall, ToolResult};

use super::super::OpenAiResponses;
use super::super::request::response_format;
use super::{body, input, no_tools, plan, request_with, result, step};
use crate::protocol::Protocol as _;

fn hosted() -> Vec<HostedTool> {
    let sources = ConfigSources::new().defaults([
        ("WebSearchTool.type", "default"),
        ("WebSearchTool.city", "Vienna"),
        ("WebSearchTool.country", "AT"),
        ("MCP.name", "wiki"),
        ("MCP.url", "https://wiki.example/mcp"),
        ("MCP.description", "All that is known."),
        ("MCP.authorization", "Bearer t0ken"),
        ("MCP_1.name", "open"),
        ("MCP_1.url", "https://open.example/mcp"),
    ]);
    let config = Config::load(sources).unwrap().config;
    let search = config.web_search().unwrap().map(HostedTool::WebSearch);
    let groups = config.mcp_servers().unwrap().into_iter().map(HostedTool::Mcp);
    search.into_iter().chain(groups).collect()
}

#[test]
fn the_smallest_request_keeps_nothing_at_the_vendor() {
    let request = request_with(vec![Message::User(vec![Content::text("Hello")])]);
    assert_eq!(
        body(&request, &no_tools()),
        json!({
            "model": "gpt-5",
            "stream": true,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}],
        })
    );
}

#[test]
fn a_complete_conversation_is_written() {
    let mut request = request_with(vec![
        Message::User(vec![Content::text("What is this?"), Content::image("image/png", b"png")]),
        Message::Assistant(vec![Content::text("Let me think.")]),
        step(vec![
            Item::new(ItemKind::Reasoning { text: "Elsewhere.".to_owned() }),
            Item::text("I look it up."),
            Item::call(ToolCall::new("shop.find", r#"{"what":"tea"}"#).with_id("call_1")),
            Item::call(ToolCall::new("now", "{}").with_id("call_2")),
            Item::new(ItemKind::Other),
        ]),
        Message::Results(vec![
            result("call_1", ToolResult::success("green tea")),
            result("call_2", ToolResult::failure("the clock has stopped")),
        ]),
        Message::User(vec![Content::text("And now?")]),
    ]);
    request.system = Some("Be brief.".to_owned());
    request.options.max_tokens = Some(500);
    request.options.temperature = Some(0.7);
    request.options.top_p = Some(0.9);
    request.options.effort = Some("low".to_owned());
    request.options.extra = object(json!({
        "reasoning": {"summary": "auto"},
        "parallel_tool_calls": false,
        "store": true,
    }));
    let plan = plan();
    assert_eq!(
        body(&request, &plan),
        json!({
            "model": "gpt-5",
            "stream": true,
            "store": true,
            "include": ["reasoning.encrypted_content"],
            "instructions": "Be brief.",
            "input": [
                {"type": "message", "role": "user", "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,cG5n"},
                ]},
                {"type": "message", "role": "assistant", "content": "Let me think."},
                {"type": "message", "role": "assistant", "content": "I look it up."},
                {"type": "function_call", "call_id": "call_1", "name": "shop_find", "arguments": "{\"what\":\"tea\",\"most\":null}"},
                {"type": "function_call", "call_id": "call_2", "name": "now", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "green tea"},
                {"type": "function_call_output", "call_id": "call_2", "output": "Error: the clock has stopped"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And now?"}]},
            ],
            "tools": serde_json::from_str::<Value>(plan.json()).unwrap(),
            "reasoning": {"effort": "low", "summary": "auto"},
            "max_output_tokens": 500,
            "temperature": 0.7,
            "top_p": 0.9,
            "parallel_tool_calls": false,
        })
    );
}

#[test]
fn tools_are_written_flat_and_with_their_strictness() {
    let tools = body(&request_with(Vec::new()), &plan())["tools"].take();
    assert_eq!(tools[0]["type"], "function");
    assert_eq!(tools[0]["name"], "shop_find");
    assert_eq!(tools[0]["strict"], true);
    assert_eq!(tools[1]["name"], "now");
}

#[test]
fn hosted_tools_stand_after_ours() {
    let mut request = request_with(Vec::new());
    request.hosted_tools = hosted();
    let tools = body(&request, &plan())["tools"].take();
    assert_eq!(
        tools.as_array().unwrap()[2..],
        [
            json!({"type": "web_search_preview", "user_location": {"type": "approximate", "city": "Vienna", "country": "AT"}}),
            json!({
                "type": "mcp",
                "server_label": "wiki",
                "server_url": "https://wiki.example/mcp",
                "server_description": "All that is known.",
                "authorization": "Bearer t0ken",
                "require_approval": "always",
            }),
            json!({"type": "mcp", "server_label": "open", "server_url": "https://open.example/mcp", "require_approval": "always"}),
        ]
    );
}

#[test]
fn the_choice_of_a_tool_is_written_as_the_api_wants_it() {
    let chosen = |choice: ToolChoice| {
        let mut request = request_with(Vec::new());
        request.hosted_tools = hosted();
        request.tool_choice = choice;
        body(&request, &plan()).get("tool_choice").cloned()
    };
    let named = |name: &str| chosen(ToolChoice::Named(name.to_owned()));
    assert_eq!(chosen(ToolChoice::Auto), None);
    assert_eq!(chosen(ToolChoice::None), Some(json!("none")));
    assert_eq!(chosen(ToolChoice::Required), Some(json!("required")));
    assert_eq!(named("shop.find"), Some(json!({"type": "function", "name": "shop_find"})));
    assert_eq!(named("web_search"), Some(json!({"type": "web_search_preview"})));
    assert_eq!(named("wiki"), Some(json!({"type": "mcp", "server_label": "wiki"})));
    assert_eq!(named("lost"), Some(json!({"type": "function", "name": "lost"})));
}

#[test]
fn another_vendors_name_for_the_search_is_not_used() {
    let rows = [
        ("default", "web_search_preview"),
        ("web_search", "web_search"),
        ("web_search_2025_08_26", "web_search_2025_08_26"),
        ("web_search_20250305", "web_search"),
    ];
    for (set, sent) in rows {
        let sources = ConfigSources::new().defaults([("WebSearchTool.type", set)]);
        let search = Config::load(sources).unwrap().config.web_search().unwrap();
        let mut request = request_with(Vec::new());
        request.hosted_tools = search.map(HostedTool::WebSearch).into_iter().collect();
        request.tool_choice = ToolChoice::Named("web_search".to_owned());
        let body = body(&request, &no_tools());
        assert_eq!(body["tools"][0]["type"], sent);
        assert_eq!(body["tool_choice"]["type"], sent);
    }
}

#[test]
fn calls_go_back_under_ids_and_names_that_are_taken() {
    let made_up = |id: &str| Item::call(ToolCall::new("shop.lost!", "{}").with_id(id));
    let own = r#"{"type":"function_call","id":"fc_1","call_id":"a","name":"x.y","arguments":"{}"}"#;
    let long = "x".repeat(80);
    let request = request_with(vec![
        step(vec![made_up("a"), made_up(&long)]),
        step(vec![made_up("a").with_raw("openai_responses", serde_json::from_str(own).unwrap())]),
    ]);
    let input = body(&request, &no_tools())["input"].take();
    let calls: Vec<&Value> = [0, 1, 4].map(|place| &input[place]).to_vec();
    let results: Vec<&Value> = [2, 3, 5].map(|place| &input[place]).to_vec();
    for (call, result) in calls.iter().zip(results) {
        assert_eq!(call["type"], "function_call");
        assert_eq!(call["call_id"], result["call_id"]);
    }
    assert_eq!(calls[0]["call_id"], "a");
    assert!(calls[1]["call_id"].as_str().unwrap().len() <= 64);
    assert_eq!(calls[2]["call_id"], "a_2");
    assert_eq!(calls[0]["name"], "shop_lost_");
    assert_eq!(calls[2]["name"], "x_y");
}

#[test]
fn without_tools_nothing_is_chosen() {
    let mut request = request_with(Vec::new());
    request.tool_choice = ToolChoice::Required;
    let body = body(&request, &no_tools());
    assert_eq!(body.get("tools"), None);
    assert_eq!(body.get("tool_choice"), None);
}

#[test]
fn a_call_without_a_result_gets_an_error_result() {
    let calls = step(vec![
        Item::call(ToolCall::new("now", "{}").with_id("call_1")),
        Item::call(ToolCall::new("now", "{}").with_id("call_2")),
    ]);
    let input = input(vec![
        calls,
        Message::User(vec![Content::text("Never mind.")]),
        Message::Results(vec![result("call_2", ToolResult::success("noon"))]),
    ]);
    let outputs: Vec<_> = input.as_array().unwrap()[2..].to_vec();
    assert_eq!(outputs[0]["call_id"], "call_1");
    assert_eq!(
        outputs[0]["output"],
        "Error: this call has no result; whether it ran is not known."
    );
    assert_eq!(outputs[1]["output"], "noon");
    assert_eq!(outputs[2]["role"], "user");
    assert_eq!(outputs.len(), 3);
}

#[test]
fn a_result_without_its_call_is_left_out() {
    let input = input(vec![
        Message::Results(vec![result("call_0", ToolResult::success("lost"))]),
        step(vec![Item::call(ToolCall::new("now", "{}").with_id("call_1"))]),
        Message::Results(vec![
            result("call_9", ToolResult::success("whose?")),
            result("call_1", ToolResult::success("noon")),
        ]),
    ]);
    assert_eq!(
        input,
        json!([
            {"type": "function_call", "call_id": "call_1", "name": "now", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "noon"},
        ])
    );
}

#[test]
fn a_step_of_another_protocol_is_written_from_its_kinds() {
    let raw = |json: &str| serde_json::value::RawValue::from_string(json.to_owned()).unwrap();
    let input = input(vec![step(vec![
        Item::new(ItemKind::Reasoning { text: "Secret.".to_owned() })
            .with_raw("anthropic", raw("{}")),
        Item::text("").with_raw("anthropic", raw("{}")),
        Item::text("Hello.").with_raw("anthropic", raw(r#"{"type":"text"}"#)),
        Item::new(ItemKind::Refusal { text: "No.".to_owned() }),
        Item::new(ItemKind::Other).with_raw("gemini", raw("{}")),
        Item::new(ItemKind::HostedCall {
            tool: "web_search".to_owned(),
            input: "tea".to_owned(),
            output: String::new(),
            failed: false,
        }),
    ])]);
    assert_eq!(
        input,
        json!([
            {"type": "message", "role": "assistant", "content": "Hello."},
            {"type": "message", "role": "assistant", "content": "No."},
        ])
    );
}

#[test]
fn a_result_with_an_image_is_a_list_of_parts() {
    let mixed = vec![
        Content::text("Here:"),
        Content::image("image/jpeg", b"jpg"),
        Content::audio("audio/wav", b"wave"),
    ];
    let input = input(vec![
        step(vec![
            Item::call(ToolCall::new("now", "{}").with_id("call_1")),
            Item::call(ToolCall::new("now", "{}").with_id("call_2")),
        ]),
        Message::Results(vec![
            result("call_1", ToolResult::success(mixed.clone())),
            result("call_2", ToolResult::failure(mixed)),
        ]),
    ]);
    let parts = json!([
        {"type": "input_text", "text": "Here:"},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/jpeg;base64,anBn"},
        {"type": "input_text", "text": "[a sound, audio/wav, 4 bytes, which cannot be shown here]"},
    ]);
    assert_eq!(input[2]["output"], parts);
    assert_eq!(input[3]["output"][0], json!({"type": "input_text", "text": "Error:"}));
    assert_eq!(input[3]["output"].as_array().unwrap()[1..], parts.as_array().unwrap()[..]);
}

#[test]
fn every_kind_of_content_finds_its_form() {
    let input = input(vec![
        Message::User(vec![
            Content::image("image/tiff", b"tiff"),
            Content::resource("file:///notes.txt", "Buy tea."),
            Content::blob("file:///bills/may.pdf", "application/pdf", b"pdf"),
            Content::blob("file:///list.csv", "text/csv; charset=utf-8", b"a,b"),
            Content::blob("file:///cat.webp", "image/webp", b"cat"),
            Content::blob("file:///a.bin", "application/octet-stream", b"bin"),
            Content::link("https://tea.example", "Tea"),
        ]),
        Message::User(Vec::new()),
        Message::Assistant(vec![Content::text("Look:"), Content::image("image/png", b"png")]),
        Message::Assistant(Vec::new()),
    ]);
    assert_eq!(
        input,
        json!([
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "[an image, image/tiff, 4 bytes, which cannot be shown here]"},
                {"type": "input_text", "text": "file:///notes.txt:\nBuy tea."},
                {"type": "input_file", "filename": "may.pdf", "file_data": "data:application/pdf;base64,cGRm"},
                {"type": "input_file", "filename": "list.csv", "file_data": "data:text/csv;base64,YSxi"},
                {"type": "input_image", "detail": "auto", "image_url": "data:image/webp;base64,Y2F0"},
                {"type": "input_text", "text": "[file:///a.bin, application/octet-stream, 3 bytes, which cannot be shown here]"},
                {"type": "input_text", "text": "[Tea](https://tea.example)"},
            ]},
            {"type": "message", "role": "assistant", "content": "Look:\n[an image, image/png, 3 bytes, which cannot be shown here]"},
        ])
    );
}

#[test]
fn an_answer_is_held_to_its_schema_where_that_loses_nothing() {
    let plain = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "note": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let schema = Schema::check(plain).unwrap();
    assert_eq!(OpenAiResponses.response_format_dialect(&schema), Some(Dialect::OPENAI_STRICT));
    assert_eq!(
        response_format("Vec<City>", &schema),
        json!({
            "type": "json_schema",
            "name": "Vec_City_",
            "schema": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "note": {"type": ["string", "null"]}},
                "required": ["city", "note"],
                "additionalProperties": false,
            },
            "strict": true,
        })
    );
}

#[test]
fn a_response_format_that_strict_mode_would_change_is_not_strict() {
    let odd = json!({
        "type": "object",
        "properties": {"id": {"type": "string", "not": {"const": "x"}}},
        "required": ["id"],
        "additionalProperties": false,
    });
    let schema = Schema::check(odd).unwrap();
    assert_eq!(OpenAiResponses.response_format_dialect(&schema), Some(Dialect::OPENAI));
    assert_eq!(response_format("", &schema)["strict"], false);
    assert_eq!(response_format("", &schema)["name"], "answer");
}

#[test]
fn reasoning_is_not_requested_of_models_without_it() {
    use crate::protocol::Protocol as _;
    let asked_of = |model: &str| {
        let body = super::OpenAiResponses.body(&ModelRequest::default(), &no_tools(), model);
        body.contains_key("include")
    };
    for model in ["gpt-5", "gpt-5.6-mini", "o3", "o4-mini", "qwen3"] {
        assert!(asked_of(model), "{model}");
    }
    for model in ["gpt-4o", "gpt-4.1-mini", "ft:gpt-4o:acme", "gpt-5-chat-latest"] {
        assert!(!asked_of(model), "{model}");
    }
}

#[test]
fn a_number_that_is_none_is_left_out() {
    let mut request = request_with(Vec::new());
    request.options.temperature = Some(f32::NAN);
    assert_eq!(body(&request, &no_tools()).get("temperature"), None);
}

fn object(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().cloned().unwrap()
}
