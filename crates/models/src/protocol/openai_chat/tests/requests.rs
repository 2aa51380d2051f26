//! Requests as JSON.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use toolwright_chat::{Item, ItemKind, Message, ModelRequest, ToolChoice};
use toolwright_core::schema::Schema;
use toolwright_core::{Content, ToolCall, ToolResult};

use super::{
    COMPATIBLE, DEEPSEEK, MISTRAL, OPENAI, OPENROUTER, OpenAiChat, delta, finish, items, no_tools,
    parse_frames, plan, step,
};
use crate::protocol::Protocol as _;
use crate::protocol::openai_chat::quirks::CallIdFormat;
use crate::protocol::openai_chat::request::{response_format, schema_instruction};

fn ask(messages: Vec<Message>) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = messages;
    request
}

fn messages(chat: &OpenAiChat, messages: Vec<Message>) -> Value {
    let mut body = chat.body(&ask(messages), &plan(), "m");
    body.remove("messages").expect("messages")
}

fn user(text: &str) -> Message {
    Message::User(vec![Content::text(text)])
}

fn step_of(items: Vec<Item>) -> Message {
    Message::Step(Arc::new(step(items)))
}

fn result(id: &str, mut result: ToolResult) -> ToolResult {
    result.call_id = id.into();
    result.tool = "weather.now".into();
    result
}

fn call(id: &str) -> ToolCall {
    ToolCall::new("weather.now", r#"{"city":"Oslo"}"#).with_id(id)
}

#[test]
fn a_rich_conversation_is_written_completely() {
    let mut request = ask(vec![
        Message::User(vec![
            Content::text("What is this?"),
            Content::image("image/png", b"PNG"),
            Content::audio("audio/wav", b"WAV"),
            Content::audio("audio/ogg", b"OGGS"),
            Content::resource("file:///a.txt", "Hello"),
            Content::blob("file:///dir/a.pdf", "application/pdf", b"PDF"),
            Content::link("https://example.org", "A page"),
        ]),
        Message::Assistant(vec![Content::text("A pixel.")]),
        user("And the weather?"),
        step_of(vec![
            Item::new(ItemKind::Reasoning { text: "of another protocol".to_owned() }),
            Item::text("Let me see."),
            Item::call(call("call_a")),
            Item::call(call("call_b")),
            Item::new(ItemKind::Other),
        ]),
        Message::Results(vec![
            result("call_b", ToolResult::failure("no such city")),
            result("call_a", ToolResult::success("sunny")),
        ]),
        user("Thanks"),
    ]);
    request.system = Some("Be brief.".to_owned());
    request.tool_choice = ToolChoice::Named("weather.now".to_owned());
    request.options.max_tokens = Some(100);
    request.options.temperature = Some(0.7);
    request.options.top_p = Some(0.9);
    request.options.effort = Some("low".to_owned());
    request.options.extra = Map::from_iter([("seed".to_owned(), json!(7))]);
    let body = Value::Object(OPENAI.body(&request, &plan(), "gpt-5"));
    let past = |id: &str| {
        json!({"id": id, "type": "function",
            "function": {"name": "weather_now", "arguments": r#"{"city":"Oslo","unit":null}"#}})
    };
    assert_eq!(
        body,
        json!({
            "model": "gpt-5",
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
                    {"type": "input_audio", "input_audio": {"data": "V0FW", "format": "wav"}},
                    {"type": "text", "text": "[a sound, audio/ogg, 4 bytes, which cannot be shown here]"},
                    {"type": "text", "text": "file:///a.txt:\nHello"},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,UERG"}},
                    {"type": "text", "text": "[A page](https://example.org)"},
                ]},
                {"role": "assistant", "content": "A pixel."},
                {"role": "user", "content": "And the weather?"},
                {"role": "assistant", "content": "Let me see.", "tool_calls": [past("call_a"), past("call_b")]},
                {"role": "tool", "tool_call_id": "call_a", "content": "sunny"},
                {"role": "tool", "tool_call_id": "call_b", "content": "Error: no such city"},
                {"role": "user", "content": "Thanks"},
            ],
            "tools": serde_json::from_str::<Value>(plan().json()).unwrap(),
            "tool_choice": {"type": "function", "function": {"name": "weather_now"}},
            "max_completion_tokens": 100,
            "temperature": 0.7,
            "top_p": 0.9,
            "reasoning_effort": "low",
            "stream": true,
            "stream_options": {"include_usage": true},
            "seed": 7,
        })
    );
}

#[test]
fn without_tools_there_are_no_fields_for_them() {
    let mut request = ask(vec![user("Hi")]);
    request.tool_choice = ToolChoice::Required;
    let body = MISTRAL.body(&request, &no_tools(), "m");
    assert_eq!(
        Value::Object(body),
        json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true})
    );
}

#[test]
fn each_choice_has_its_word() {
    let choice = |chat: &OpenAiChat, choice: ToolChoice| {
        let mut request = ask(vec![user("Hi")]);
        request.tool_choice = choice;
        chat.body(&request, &plan(), "m").remove("tool_choice")
    };
    assert_eq!(choice(&OPENAI, ToolChoice::Auto), None);
    assert_eq!(choice(&OPENAI, ToolChoice::None), Some(json!("none")));
    assert_eq!(choice(&OPENAI, ToolChoice::Required), Some(json!("required")));
    assert_eq!(choice(&DEEPSEEK, ToolChoice::Required), None);
}

#[test]
fn an_option_in_extra_has_the_last_word() {
    let mut request = ask(vec![user("Hi")]);
    request.options.extra = Map::from_iter([("stream_options".to_owned(), json!({}))]);
    let body = OPENAI.body(&request, &plan(), "m");
    assert_eq!(body["stream_options"], json!({}));
}

#[test]
fn vendors_have_their_own_words_for_the_same() {
    let mut request = ask(vec![]);
    request.system = Some("Be brief.".to_owned());
    request.options.max_tokens = Some(5);
    let body = COMPATIBLE.body(&request, &plan(), "m");
    assert_eq!(body["max_tokens"], 5);
    assert_eq!(body["messages"][0]["role"], "system");
    assert!(!MISTRAL.body(&request, &plan(), "m").contains_key("stream_options"));
}

#[test]
fn a_call_without_a_result_gets_an_error_result() {
    let written = messages(
        &OPENAI,
        vec![
            step_of(vec![Item::call(call("a")), Item::call(call("b"))]),
            Message::Results(vec![
                result("b", ToolResult::success("sunny")),
                result("stray", ToolResult::success("of no call")),
            ]),
            user("Well?"),
            step_of(vec![Item::call(call("c"))]),
        ],
    );
    let roles: Vec<(&str, &str)> = written
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            (
                message["role"].as_str().unwrap(),
                message["tool_call_id"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        roles,
        [
            ("assistant", ""),
            ("tool", "a"),
            ("tool", "b"),
            ("user", ""),
            ("assistant", ""),
            ("tool", "c"),
        ]
    );
    assert_eq!(written[1]["content"], "There is no result: the call was not finished.");
    assert_eq!(written[2]["content"], "sunny");
}

#[test]
fn images_of_a_result_go_where_the_vendor_can_see_them() {
    let talk = || {
        let seen = vec![Content::text("Look:"), Content::image("image/png", b"PNG")];
        vec![
            step_of(vec![Item::call(call("a")), Item::call(call("b"))]),
            Message::Results(vec![
                result("a", ToolResult::success(seen)),
                result("b", ToolResult::success("")),
            ]),
        ]
    };
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}});
    let unseen = "Look:\n[an image, image/png, 3 bytes, which cannot be shown here]";

    let after = messages(&OPENAI, talk());
    assert_eq!(after[1]["content"], "Look:\n[an image, image/png, which follows the results]");
    assert_eq!(after[2]["content"], "(nothing)");
    assert_eq!(
        after[3],
        json!({"role": "user", "content": [
            {"type": "text", "text": "From the result of weather.now:"}, image]})
    );

    let inside = messages(&MISTRAL, talk());
    assert_eq!(inside[1]["content"], json!([{"type": "text", "text": "Look:"}, image]));
    assert_eq!(inside.as_array().unwrap().len(), 3);

    assert_eq!(messages(&COMPATIBLE, talk())[1]["content"], unseen);
}

#[test]
fn ids_are_mapped_the_same_way_for_the_call_and_its_result() {
    let written = messages(
        &MISTRAL,
        vec![
            step_of(vec![Item::call(call("call_1740241912345")), Item::call(call("abcDEF123"))]),
            Message::Results(vec![]),
        ],
    );
    let first = written[0]["tool_calls"][0]["id"].as_str().unwrap();
    assert_eq!(first.len(), 9);
    assert!(first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!(written[1]["tool_call_id"], first);
    assert_eq!(written[0]["tool_calls"][1]["id"], "abcDEF123");
    assert_eq!(
        CallIdFormat::NineAlphanumerics.conform("call_1"),
        CallIdFormat::NineAlphanumerics.conform("call_1")
    );
    assert_ne!(
        CallIdFormat::NineAlphanumerics.conform("call_1"),
        CallIdFormat::NineAlphanumerics.conform("call_2")
    );
    assert!(CallIdFormat::UpTo40Bytes.conform(&"x".repeat(100)).len() <= 40);
}

#[test]
fn what_was_read_is_written_back_as_it_came() {
    let signature = json!({"google": {"thought_signature": "SIG"}});
    let details = json!([
        {"type": "reasoning.text", "text": "Hm", "signature": "SIG", "index": 0},
        {"type": "reasoning.encrypted", "data": "AAAA", "index": 1},
    ]);
    let arguments = r#"{"city": "Oslo",  "unit": null}"#;
    let events = parse_frames(&[
        delta(json!({"reasoning": "Hm", "reasoning_content": "Hm", "reasoning_details": details})),
        delta(json!({"content": "Let me see.", "annotations": [{"n": 1}]})),
        delta(json!({"tool_calls": [{"index": 0, "id": "a", "type": "function",
            "extra_content": signature, "function": {"name": "weather_now", "arguments": arguments}}]})),
        finish("tool_calls"),
    ])
    .unwrap();
    let items = items(&events);
    let call = json!({"id": "a", "type": "function", "extra_content": signature,
        "function": {"name": "weather_now", "arguments": arguments}});

    let openai = messages(&OPENAI, vec![step_of(items.clone())]);
    assert_eq!(
        openai[0],
        json!({"role": "assistant", "content": "Let me see.", "tool_calls": [call]})
    );
    let openrouter = messages(&OPENROUTER, vec![step_of(items.clone())]);
    assert_eq!(openrouter[0]["reasoning_details"], details);
    assert_eq!(openrouter[0].get("reasoning"), None);
    let deepseek = messages(&DEEPSEEK, vec![step_of(items)]);
    assert_eq!(deepseek[0]["reasoning_content"], "Hm");
    // Extra fields of a call are not sent to another vendor.
    let plain = json!({"id": "a", "type": "function",
        "function": {"name": "weather_now", "arguments": arguments}});
    assert_eq!(deepseek[0]["tool_calls"], json!([plain]));
}

#[test]
fn empty_content_is_left_out() {
    let written = messages(
        &COMPATIBLE,
        vec![
            Message::User(Vec::new()),
            Message::Assistant(vec![Content::text(" \n")]),
            step_of(vec![Item::text("")]),
            user("Hello"),
        ],
    );
    assert_eq!(written, json!([{"role": "user", "content": "Hello"}]));
}

#[test]
fn a_call_of_a_name_that_cannot_be_goes_back_under_one_that_can() {
    let raw = json!({"id": "a", "type": "function", "function": {"name": "functions.weather", "arguments": "{}"}});
    let made_up = ToolCall::new("functions.weather", "{}").with_id("a");
    let raw = Item::call(made_up.clone()).with_raw("openai_chat", to_raw_value(&raw).unwrap());
    for item in [Item::call(made_up), raw] {
        let written = messages(&OPENAI, vec![step_of(vec![item])]);
        let name = &written[0]["tool_calls"][0]["function"]["name"];
        assert_eq!(name, "functions_weather");
    }
}

#[test]
fn the_reasoning_of_deepseek_is_replayed_with_calls_only_and_then_always() {
    let thought = |text: &str| {
        let raw = to_raw_value(&json!({"reasoning_content": text})).unwrap();
        Item::new(ItemKind::Reasoning { text: text.to_owned() }).with_raw("openai_chat", raw)
    };
    let written = messages(
        &DEEPSEEK,
        vec![step_of(vec![thought("Hm"), Item::text("Yes")]), step_of(vec![Item::call(call("a"))])],
    );
    assert_eq!(written[0], json!({"role": "assistant", "content": "Yes"}));
    assert_eq!(written[1]["reasoning_content"], "");
    assert_eq!(written[1]["content"], Value::Null);
}

#[test]
fn the_reasoning_of_mistral_is_replayed_in_the_content() {
    let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]});
    let events = parse_frames(&[
        delta(json!({"content": [thinking]})),
        delta(json!({"content": "Yes"})),
        finish("stop"),
    ])
    .unwrap();
    let written = messages(&MISTRAL, vec![step_of(items(&events))]);
    assert_eq!(written[0]["content"], json!([thinking, {"type": "text", "text": "Yes"}]));
    let elsewhere = messages(&OPENAI, vec![step_of(items(&events))]);
    assert_eq!(elsewhere[0]["content"], "Yes");
}

#[test]
fn a_refusal_is_replayed_as_one_or_as_text() {
    let events = parse_frames(&[delta(json!({"refusal": "No."})), finish("stop")]).unwrap();
    let written = messages(&OPENAI, vec![step_of(items(&events))]);
    assert_eq!(written[0], json!({"role": "assistant", "content": null, "refusal": "No."}));
    let written = messages(&COMPATIBLE, vec![step_of(items(&events))]);
    assert_eq!(written[0], json!({"role": "assistant", "content": "No."}));
}

#[test]
fn a_step_of_which_nothing_can_be_replayed_is_left_out() {
    let strange = Item::new(ItemKind::Reasoning { text: "Hm".to_owned() });
    assert_eq!(messages(&OPENAI, vec![step_of(vec![strange])]), json!([]));
}

#[test]
fn malformed_arguments_of_the_past_are_made_an_object_where_they_would_break_the_request() {
    let past = |arguments: &str| Item::call(ToolCall::new("f", arguments).with_id("a"));
    let written = |chat: &OpenAiChat, arguments: &str| {
        let mut written = messages(chat, vec![step_of(vec![past(arguments)])]);
        written[0]["tool_calls"][0]["function"]["arguments"].take()
    };
    assert_eq!(written(&OPENAI, "{\"x\":"), "{\"x\":");
    assert_eq!(written(&COMPATIBLE, "{\"x\":"), r#"{"unreadable":"{\"x\":"}"#);
    assert_eq!(written(&COMPATIBLE, ""), "{}");
    assert_eq!(written(&COMPATIBLE, "{\"x\": 1}"), "{\"x\": 1}");
}

#[test]
fn a_response_format_is_strict_if_nothing_is_lost() {
    let person = json!({"type": "object", "properties": {"name": {"type": "string"}},
        "required": ["name"], "additionalProperties": false});
    let schema = Schema::trusted(person.clone());
    assert_eq!(
        response_format(&OPENAI, "a person", &schema),
        json!({"type": "json_schema", "json_schema": {"name": "a_person", "schema": person, "strict": true}})
    );
    let open =
        Schema::trusted(json!({"type": "object", "additionalProperties": {"type": "integer"}}));
    assert_eq!(response_format(&OPENAI, "", &open)["json_schema"]["strict"], false);
    assert_eq!(response_format(&DEEPSEEK, "person", &schema), json!({"type": "json_object"}));
    assert!(schema_instruction(&schema).contains(r#""required":["name"]"#));
}

#[test]
fn texts_in_a_row_are_one_text() {
    let written = messages(
        &COMPATIBLE,
        vec![Message::User(vec![Content::text("One"), Content::text("Two")])],
    );
    assert_eq!(written[0]["content"], "One\nTwo");
}
