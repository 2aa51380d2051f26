//! Requests as JSON.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolwright_chat::{
    Item, ItemKind, Message, ModelId, ModelRequest, Step, StopReason, ToolChoice, Usage,
};
use toolwright_core::schema::Schema;
use toolwright_core::{Content, ToolCall, ToolResult};

use super::{DONE, calls, items, line, no_tools, parse_lines, plan};
use crate::protocol::Protocol as _;
use crate::protocol::ollama::{Ollama, request};

fn body(request: &ModelRequest) -> Value {
    Ollama.body(request, &plan(), "qwen3").into()
}

fn asking(messages: Vec<Message>) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = messages;
    request
}

fn messages(messages: Vec<Message>) -> Value {
    body(&asking(messages))["messages"].take()
}

fn user(text: &str) -> Message {
    Message::User(vec![Content::text(text)])
}

fn step(items: Vec<Item>) -> Message {
    let model = ModelId::new("ollama", "qwen3");
    Message::Step(Arc::new(Step::new(model, items, StopReason::Calls, Usage::default())))
}

fn result(id: &str, mut result: ToolResult) -> ToolResult {
    result.call_id = id.into();
    result
}

fn call(id: &str, name: &str, arguments: &str) -> Item {
    Item::call(ToolCall::new(name, arguments).with_id(id))
}

#[test]
fn a_complete_conversation_is_written() {
    let events = parse_lines(&[
        &line(r#""content":"","thinking":"Look it up.""#),
        &line(r#""content":"","tool_calls":[{"id":"call_x","function":{"index":0,"name":"weather","arguments":{"city":"Oslo"}}}]"#),
        DONE,
    ])
    .unwrap();
    let mut request = asking(vec![
        Message::User(vec![Content::text("Weather?"), Content::image("image/png", b"png")]),
        Message::Assistant(vec![Content::text("Where?")]),
        user("Oslo."),
        step(items(&events)),
        Message::Results(vec![result("call_x", ToolResult::success("Rain"))]),
        step(vec![Item::text("It rains.")]),
        user("Thanks."),
    ]);
    request.system = Some("Be brief.".into());
    request.options.max_tokens = Some(100);
    request.options.temperature = Some(0.7);
    request.options.top_p = Some(0.9);
    request.options.effort = Some("minimal".into());
    let tools: Value = serde_json::from_str(plan().json()).unwrap();
    assert_eq!(tools[0]["function"]["name"], "weather");
    assert_eq!(
        body(&request),
        json!({
            "model": "qwen3",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Weather?", "images": ["cG5n"]},
                {"role": "assistant", "content": "Where?"},
                {"role": "user", "content": "Oslo."},
                {"role": "assistant", "content": "", "thinking": "Look it up.", "tool_calls": [
                    {"id": "call_x", "function": {"index": 0, "name": "weather", "arguments": {"city": "Oslo"}}},
                ]},
                {"role": "tool", "content": "Rain", "tool_name": "weather", "tool_call_id": "call_x"},
                {"role": "assistant", "content": "It rains."},
                {"role": "user", "content": "Thanks."},
            ],
            "stream": true,
            "tools": tools,
            "think": "low",
            "options": {"num_predict": 100, "temperature": 0.7, "top_p": 0.9},
        })
    );
}

#[test]
fn an_empty_request_has_only_the_required_fields() {
    let body = Ollama.body(&ModelRequest::default(), &no_tools(), "qwen3");
    assert_eq!(Value::from(body), json!({"model": "qwen3", "messages": [], "stream": true}));
}

#[test]
fn what_was_read_is_written_back_unchanged() {
    let entries = r#"[{"function":{"index":0,"name":"weather","arguments":{"city":"Oslo","deep":[1,2.5]},"novel":true}},
        {"id":"b","function":{"index":0,"name":"weather","arguments":{}}},{"type":"hologram"}]"#;
    let events = parse_lines(&[
        &line(r#""thinking":"So.""#),
        &line(&format!(r#""content":"Looking.","tool_calls":{entries}"#)),
        DONE,
    ])
    .unwrap();
    let ids: Vec<_> = calls(&events).into_iter().map(|call| call.id).collect();
    let messages = messages(vec![
        step(items(&events)),
        Message::Results(vec![
            result(ids[1].as_str(), ToolResult::success("second")),
            result(ids[0].as_str(), ToolResult::success("first")),
        ]),
    ]);
    let entries: Value = serde_json::from_str(entries).unwrap();
    assert_eq!(
        messages,
        json!([
            {"role": "assistant", "content": "Looking.", "thinking": "So.", "tool_calls": entries},
            {"role": "tool", "content": "first", "tool_name": "weather"},
            {"role": "tool", "content": "second", "tool_name": "weather", "tool_call_id": "b"},
        ])
    );
}

#[test]
fn a_step_of_another_protocol_is_written_from_its_kinds() {
    let other = |kind| {
        let raw = serde_json::value::to_raw_value(&json!({"foreign": true})).unwrap();
        Item::new(kind).with_raw("anthropic", raw)
    };
    let wire = plan().wire_name("shop/find").unwrap().to_owned();
    let messages = messages(vec![
        step(vec![
            other(ItemKind::Reasoning { text: "hm".into() }),
            other(ItemKind::Text { text: "Looking.".into() }),
            other(ItemKind::Other),
            call("c1", "shop/find", r#"{"name":"tea"}"#),
        ]),
        Message::Results(vec![result("c1", ToolResult::failure("sold out"))]),
        step(vec![other(ItemKind::Reasoning { text: "hm".into() })]),
    ]);
    assert_eq!(
        messages,
        json!([
            {"role": "assistant", "content": "Looking.", "tool_calls": [
                {"id": "c1", "function": {"name": wire, "arguments": {"name": "tea"}}},
            ]},
            {"role": "tool", "content": "error: sold out", "tool_name": wire, "tool_call_id": "c1"},
        ])
    );
}

#[test]
fn a_call_without_a_result_gets_an_error_result() {
    let messages = messages(vec![
        step(vec![call("c1", "weather", "{}"), call("c2", "weather", "{}")]),
        Message::Results(vec![result("c2", ToolResult::success("dry"))]),
        user("Go on."),
    ]);
    assert_eq!(messages[1]["content"], "error: no result of this call is known");
    assert_eq!(messages[1]["tool_call_id"], "c1");
    assert_eq!(messages[2]["content"], "dry");
    assert_eq!(messages[3]["role"], "user");
}

#[test]
fn a_result_without_its_call_is_left_out() {
    let messages = messages(vec![
        Message::Results(vec![result("c1", ToolResult::success("dry"))]),
        user("Hello."),
    ]);
    assert_eq!(messages, json!([{"role": "user", "content": "Hello."}]));
}

#[test]
fn arguments_of_the_past_are_always_an_object() {
    for (arguments, expected) in [
        ("", json!({})),
        ("{'city': 'Oslo',}", json!({"city": "Oslo"})),
        (r#"{"city":"Os"#, json!({"INVALID_JSON": r#"{"city":"Os"#})),
    ] {
        let messages = messages(vec![step(vec![call("c1", "weather", arguments)])]);
        assert_eq!(messages[0]["tool_calls"][0]["function"]["arguments"], expected);
    }
}

#[test]
fn images_are_sent_and_other_content_described() {
    let shown = vec![
        Content::text("See:"),
        Content::image("image/png", b"png"),
        Content::blob("file:///a.jpg", "image/jpeg", b"jpg"),
        Content::audio("audio/wav", b"wav"),
        Content::blob("file:///a.zip", "application/zip", b"zip"),
        Content::resource("file:///a.txt", "inside"),
        Content::link("https://a.example", "A"),
    ];
    let messages = messages(vec![
        Message::User(shown.clone()),
        step(vec![call("c1", "weather", "{}")]),
        Message::Results(vec![result("c1", ToolResult::success(shown))]),
    ]);
    for place in [0, 2] {
        assert_eq!(messages[place]["images"], json!(["cG5n", "anBn"]));
        assert_eq!(
            messages[place]["content"],
            "See:\n[a sound, audio/wav, 3 bytes, which cannot be shown here]\n[file:///a.zip, application/zip, 3 bytes, which cannot be shown here]\n\
             file:///a.txt:\ninside\n[A](https://a.example)"
        );
    }
}

#[test]
fn a_choice_is_made_by_what_is_shown() {
    let wire = plan().wire_name("shop/find").unwrap().to_owned();
    for (choice, names) in [
        (ToolChoice::Auto, vec!["weather", wire.as_str()]),
        (ToolChoice::Required, vec!["weather", wire.as_str()]),
        (ToolChoice::Named("shop/find".into()), vec![wire.as_str()]),
        (ToolChoice::None, vec![]),
    ] {
        let mut request = asking(vec![user("Hi.")]);
        request.tool_choice = choice;
        let body = body(&request);
        let tools = body.get("tools").and_then(Value::as_array).cloned();
        let tools = tools.unwrap_or_default();
        let shown: Vec<_> =
            tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
        assert_eq!(shown, names);
        assert_eq!(body.get("tools").is_none(), names.is_empty());
    }
}

#[test]
fn effort_is_a_word_the_api_knows() {
    for (effort, think) in [
        ("none", json!(false)),
        ("minimal", json!("low")),
        ("medium", json!("medium")),
        ("high", json!("high")),
        ("xhigh", json!("max")),
        ("much", json!(true)),
    ] {
        let mut request = asking(vec![user("Hi.")]);
        request.options.effort = Some(effort.into());
        assert_eq!(body(&request)["think"], think, "{effort}");
    }
}

#[test]
fn a_response_format_keeps_its_complete_schema() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]});
    let format = request::response_schema(&Schema::check(schema).unwrap());
    assert_eq!(format["properties"]["n"]["minimum"], 1);
}

#[test]
fn extra_fields_are_added_last_and_into_what_is_there() {
    let mut request = asking(vec![user("Hi.")]);
    request.options.max_tokens = Some(5);
    request.options.extra = Map::from_iter([
        ("options".to_owned(), json!({"num_ctx": 8192})),
        ("keep_alive".to_owned(), json!("1h")),
    ]);
    let body = body(&request);
    assert_eq!(body["options"], json!({"num_predict": 5, "num_ctx": 8192}));
    assert_eq!(body["keep_alive"], "1h");
}

#[test]
fn empty_content_is_left_out() {
    let written = messages(vec![
        Message::User(Vec::new()),
        Message::Assistant(vec![Content::text(" ")]),
        Message::User(vec![Content::image("image/png", b"png")]),
    ]);
    assert_eq!(written, json!([{"role": "user", "content": "", "images": ["cG5n"]}]));
}
