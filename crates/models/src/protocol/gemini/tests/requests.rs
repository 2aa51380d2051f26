//! Requests as JSON.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolwright_chat::{
    HostedTool, Item, ItemKind, Message, ModelId, ModelRequest, Step, StopReason, ToolChoice, Usage,
};
use toolwright_core::schema::Schema;
use toolwright_core::{Config, ConfigSources, Content, StructuredContent, ToolCall, ToolResult};

use super::{calls, chunk, items, no_tools, parse_chunks, plan};
use crate::protocol::Protocol as _;
use crate::protocol::gemini::{Gemini, request};

fn body(request: &ModelRequest) -> Value {
    Gemini.body(request, &plan(), "gemini-3-pro").into()
}

fn asking(messages: Vec<Message>) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = messages;
    request
}

fn contents(messages: Vec<Message>) -> Value {
    body(&asking(messages))["contents"].take()
}

fn user(text: &str) -> Message {
    Message::User(vec![Content::text(text)])
}

fn step(items: Vec<Item>) -> Message {
    let model = ModelId::new("gemini", "gemini-3-pro");
    Message::Step(Arc::new(Step::new(model, items, StopReason::Calls, Usage::default())))
}

fn result(id: &str, mut result: ToolResult) -> ToolResult {
    result.call_id = id.into();
    result
}

fn call(id: &str, name: &str, arguments: &str) -> Item {
    Item::call(ToolCall::new(name, arguments).with_id(id))
}

fn search() -> HostedTool {
    let sources = ConfigSources::new()
        .defaults([("WebSearchTool.type", "default"), ("WebSearchTool.city", "Oslo")]);
    let config = Config::load(sources).unwrap().config;
    HostedTool::WebSearch(config.web_search().unwrap().unwrap())
}

#[test]
fn a_complete_conversation_is_written() {
    let events = parse_chunks(&[
        &chunk(r#"[{"text":"Look it up.","thought":true}]"#, None),
        &chunk(r#"[{"functionCall":{"name":"weather","args":{"city":"Oslo"},"id":"f1"},"thoughtSignature":"c2ln"}]"#, Some("STOP")),
    ])
    .unwrap();
    let mut request = asking(vec![
        Message::User(vec![Content::text("Weather?"), Content::image("image/png", b"png")]),
        Message::Assistant(vec![Content::text("Where?")]),
        user("Oslo."),
        step(items(&events)),
        Message::Results(vec![result("f1", ToolResult::success("Rain"))]),
        step(vec![Item::text("It rains.")]),
        user("Thanks."),
    ]);
    request.system = Some("Be brief.".into());
    request.tool_choice = ToolChoice::Named("weather".into());
    request.options.max_tokens = Some(100);
    request.options.temperature = Some(0.7);
    request.options.top_p = Some(0.9);
    request.options.effort = Some("low".into());
    let mut tools: Value = serde_json::from_str(plan().json()).unwrap();
    assert_eq!(tools[0]["functionDeclarations"][0]["name"], "weather");
    assert_eq!(
        body(&request),
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [
                    {"text": "Weather?"},
                    {"inlineData": {"mimeType": "image/png", "data": "cG5n"}},
                ]},
                {"role": "model", "parts": [{"text": "Where?"}]},
                {"role": "user", "parts": [{"text": "Oslo."}]},
                {"role": "model", "parts": [
                    {"text": "Look it up.", "thought": true},
                    {"functionCall": {"name": "weather", "args": {"city": "Oslo"}, "id": "f1"},
                     "thoughtSignature": "c2ln"},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "f1", "name": "weather", "response": {"result": "Rain"}}},
                ]},
                {"role": "model", "parts": [{"text": "It rains."}]},
                {"role": "user", "parts": [{"text": "Thanks."}]},
            ],
            "tools": [tools[0].take()],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}},
            "generationConfig": {
                "maxOutputTokens": 100,
                "temperature": 0.7,
                "topP": 0.9,
                "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "LOW"},
            },
        })
    );
}

#[test]
fn an_empty_request_has_only_the_required_fields() {
    let body = Gemini.body(&ModelRequest::default(), &no_tools(), "gemini-3-pro");
    assert_eq!(Value::from(body), json!({"contents": []}));
}

#[test]
fn what_was_read_is_written_back_unchanged() {
    let parts = [
        r#"{"text":"thinking","thought":true,"thoughtSignature":"MQ=="}"#,
        r#"{"text":"So: ","thoughtSignature":"Mg=="}"#,
        r#"{"functionCall":{"name":"weather","args":{"city":"Oslo","deep":{"a":[1,2.5]}},"id":"f1","novel":true},"thoughtSignature":"Mw=="}"#,
        r#"{"functionCall":{"name":"weather","args":{}}}"#,
        r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#,
        r#"{"toolCall":{"id":"t","toolType":"URL_CONTEXT","args":{}},"thoughtSignature":"NA=="}"#,
        r#"{"text":"","thoughtSignature":"NQ=="}"#,
    ];
    let events = parse_chunks(&[&chunk(&format!("[{}]", parts.join(",")), Some("STOP"))]).unwrap();
    let ids: Vec<_> = calls(&events).into_iter().map(|call| call.id).collect();
    let contents = contents(vec![
        step(items(&events)),
        Message::Results(vec![
            result(ids[1].as_str(), ToolResult::success("second")),
            result(ids[0].as_str(), ToolResult::success("first")),
        ]),
    ]);
    let parts: Vec<Value> = parts.iter().map(|part| serde_json::from_str(part).unwrap()).collect();
    assert_eq!(contents[0]["parts"], Value::from(parts));
    assert_eq!(
        contents[1]["parts"],
        json!([
            {"functionResponse": {"id": "f1", "name": "weather", "response": {"result": "first"}}},
            {"functionResponse": {"name": "weather", "response": {"result": "second"}}},
        ])
    );
}

#[test]
fn a_bare_signature_goes_back_with_the_empty_text_it_belongs_to() {
    let events = super::parse_parts(r#"[{"text":"a"},{"thoughtSignature":"c2ln"}]"#);
    let contents = contents(vec![step(items(&events))]);
    assert_eq!(contents[0]["parts"][1], json!({"thoughtSignature": "c2ln", "text": ""}));
}

#[test]
fn sources_of_a_search_are_not_sent_back() {
    let found = r#"{"candidates":[{"content":{"parts":[{"text":"Sunny."}]},"finishReason":"STOP",
        "groundingMetadata":{"webSearchQueries":["oslo"]}}]}"#;
    let contents = contents(vec![step(items(&parse_chunks(&[found]).unwrap()))]);
    assert_eq!(contents[0]["parts"], json!([{"text": "Sunny."}]));
}

#[test]
fn a_step_of_another_protocol_is_written_from_its_kinds() {
    let other = |kind| {
        let raw = serde_json::value::to_raw_value(&json!({"foreign": true})).unwrap();
        Item::new(kind).with_raw("anthropic", raw)
    };
    let messages = vec![
        step(vec![
            other(ItemKind::Reasoning { text: "hm".into() }),
            other(ItemKind::Text { text: "Looking.".into() }),
            other(ItemKind::Other),
            call("c1", "shop/find", r#"{"name":"tea"}"#),
            call("c2", "weather", r#"{"city":"Oslo"}"#),
        ]),
        Message::Results(vec![
            result("c1", ToolResult::success("found")),
            result("c2", ToolResult::failure("no such city")),
        ]),
    ];
    let wire = plan().wire_name("shop/find").unwrap().to_owned();
    let contents = contents(messages.clone());
    assert_eq!(
        contents,
        json!([
            {"role": "model", "parts": [
                {"text": "Looking."},
                {"functionCall": {"name": wire, "args": {"name": "tea"}},
                 "thoughtSignature": "skip_thought_signature_validator"},
                {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": wire, "response": {"result": "found"}}},
                {"functionResponse": {"name": "weather", "response": {"error": "no such city"}}},
            ]},
        ])
    );
    let older: Value = Gemini.body(&asking(messages), &plan(), "gemini-2.5-pro").into();
    assert_eq!(older["contents"][0]["parts"][1].get("thoughtSignature"), None);
}

#[test]
fn a_call_without_a_result_gets_an_error_result() {
    let calls = || step(vec![call("c1", "weather", "{}"), call("c2", "weather", "{}")]);
    let missing = json!({"functionResponse": {"name": "weather",
        "response": {"error": "no result of this call is known"}}});
    let none = contents(vec![calls(), user("Go on.")]);
    assert_eq!(none[1]["parts"], json!([missing, missing]));
    assert_eq!(none[2]["parts"][0]["text"], "Go on.");
    let one =
        contents(vec![calls(), Message::Results(vec![result("c2", ToolResult::success("dry"))])]);
    assert_eq!(one[1]["parts"][0], missing);
    assert_eq!(one[1]["parts"][1]["functionResponse"]["response"]["result"], "dry");
}

#[test]
fn a_result_without_its_call_is_left_out() {
    let contents = contents(vec![
        Message::Results(vec![result("c1", ToolResult::success("dry"))]),
        user("Hello."),
    ]);
    assert_eq!(contents, json!([{"role": "user", "parts": [{"text": "Hello."}]}]));
}

#[test]
fn arguments_of_the_past_are_always_an_object() {
    for (arguments, args) in [
        ("", json!({})),
        ("{'city': 'Oslo',}", json!({"city": "Oslo"})),
        (r#"{"city":"Os"#, json!({"INVALID_JSON": r#"{"city":"Os"#})),
        ("[1]", json!({"INVALID_JSON": "[1]"})),
    ] {
        let contents = contents(vec![step(vec![call("c1", "weather", arguments)])]);
        assert_eq!(contents[0]["parts"][0]["functionCall"]["args"], args, "{arguments}");
    }
}

#[test]
fn a_structured_result_is_an_object_where_the_api_keeps_it() {
    for (structured, expected) in [
        (json!({"rain": true}), json!({"rain": true})),
        (json!([1, 2.5]), json!([1, 2.5])),
        (json!({"a": {"$ref": "picture"}}), json!("as text")),
        (json!({"id": 9_007_199_254_740_993_u64}), json!("as text")),
    ] {
        let answer =
            ToolResult::success("as text").with_structured(StructuredContent::from(&structured));
        let contents = contents(vec![
            step(vec![call("c1", "weather", "{}")]),
            Message::Results(vec![result("c1", answer)]),
        ]);
        assert_eq!(contents[1]["parts"][0]["functionResponse"]["response"]["result"], expected);
    }
}

#[test]
fn images_in_results_are_sent_to_models_that_accept_them() {
    let answer = ToolResult::success(vec![
        Content::text("A map:"),
        Content::image("image/png", b"png"),
        Content::audio("audio/wav", b"wav"),
    ]);
    let request = asking(vec![
        step(vec![call("c1", "weather", "{}")]),
        Message::Results(vec![result("c1", answer)]),
    ]);
    let response = |model: &str| {
        let body: Value = Gemini.body(&request, &plan(), model).into();
        body["contents"][1]["parts"][0]["functionResponse"].clone()
    };
    assert_eq!(
        response("gemini-3-flash"),
        json!({"name": "weather",
               "response": {"result": "A map:\n[a sound, audio/wav, 3 bytes, which cannot be shown here]"},
               "parts": [{"inlineData": {"mimeType": "image/png", "data": "cG5n"}}]})
    );
    assert_eq!(
        response("gemini-2.5-flash"),
        json!({"name": "weather",
               "response": {"result": "A map:\n[an image, image/png, 3 bytes, which cannot be shown here]\n[a sound, audio/wav, 3 bytes, which cannot be shown here]"}})
    );
}

#[test]
fn a_user_may_send_audio_files_and_links() {
    let contents = contents(vec![Message::User(vec![
        Content::audio("audio/wav", b"wav"),
        Content::blob("file:///a.pdf", "application/pdf", b"pdf"),
        Content::blob("file:///a.zip", "application/zip", b"zip"),
        Content::resource("file:///a.txt", "inside"),
        Content::link("https://a.example", "A"),
        Content::text(""),
    ])]);
    assert_eq!(
        contents[0]["parts"],
        json!([
            {"inlineData": {"mimeType": "audio/wav", "data": "d2F2"}},
            {"inlineData": {"mimeType": "application/pdf", "data": "cGRm"}},
            {"text": "[file:///a.zip, application/zip, 3 bytes, which cannot be shown here]"},
            {"text": "file:///a.txt:\ninside"},
            {"text": "[A](https://a.example)"},
        ])
    );
}

#[test]
fn every_choice_has_its_mode() {
    let wire = plan().wire_name("shop/find").unwrap().to_owned();
    for (choice, config) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({"functionCallingConfig": {"mode": "NONE"}})),
        (ToolChoice::Required, json!({"functionCallingConfig": {"mode": "ANY"}})),
        (
            ToolChoice::Named("shop/find".into()),
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [wire]}}),
        ),
    ] {
        let mut request = asking(vec![user("Hi.")]);
        request.tool_choice = choice;
        assert_eq!(body(&request)["toolConfig"], config);
        let alone = Gemini.body(&request, &no_tools(), "gemini-3-pro");
        assert_eq!(alone.get("toolConfig"), None);
    }
}

#[test]
fn a_search_stands_beside_our_tools() {
    let mut request = asking(vec![user("Hi.")]);
    request.hosted_tools = vec![search()];
    let both = body(&request);
    assert_eq!(both["tools"][1], json!({"googleSearch": {}}));
    assert_eq!(both["toolConfig"], json!({"includeServerSideToolInvocations": true}));
    let alone: Value = Gemini.body(&request, &no_tools(), "gemini-3-pro").into();
    assert_eq!(alone["tools"], json!([{"googleSearch": {}}]));
    assert_eq!(alone.get("toolConfig"), None);
}

#[test]
fn an_answer_for_a_program_has_a_schema() {
    let plain =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let lowered = request::response_schema(&Schema::check(plain).unwrap());
    assert_eq!(lowered["properties"]["city"]["type"], "string");
    // The name has to be changed on the wire; lifting restores it.
    let renamed = json!({"type": "object", "properties": {"the city": {"type": "string"}}, "required": ["the city"]});
    let kept = request::response_schema(&Schema::check(renamed.clone()).unwrap());
    assert_eq!(kept["required"], json!(["the_city"]));
}

#[test]
fn effort_is_a_level_or_a_budget() {
    let thinking = |model: &str, effort: &str| {
        let mut request = asking(vec![user("Hi.")]);
        request.options.effort = Some(effort.into());
        let body: Value = Gemini.body(&request, &no_tools(), model).into();
        body["generationConfig"]["thinkingConfig"].clone()
    };
    assert_eq!(thinking("models/gemini-3.5-flash", "minimal")["thinkingLevel"], "MINIMAL");
    assert_eq!(thinking("gemini-flash-latest", "high")["thinkingLevel"], "HIGH");
    assert_eq!(
        thinking("gemini-2.5-flash", "medium"),
        json!({"includeThoughts": true, "thinkingBudget": 8192})
    );
}

#[test]
fn extra_fields_are_added_last_and_into_what_is_there() {
    let mut request = asking(vec![user("Hi.")]);
    request.options.max_tokens = Some(5);
    request.options.extra = Map::from_iter([
        ("generationConfig".to_owned(), json!({"seed": 7, "maxOutputTokens": 6})),
        ("safetySettings".to_owned(), json!([])),
    ]);
    let body = body(&request);
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 6, "seed": 7}));
    assert_eq!(body["safetySettings"], json!([]));
}

#[test]
fn a_model_is_addressed_by_its_name_and_cannot_leave_its_place() {
    for (model, path) in [
        ("gemini-3-pro", "/v1beta/models/gemini-3-pro"),
        ("models/gemini-3-pro", "/v1beta/models/gemini-3-pro"),
        ("tunedModels/mine", "/v1beta/tunedModels/mine"),
        ("../../a?b#c", "/v1beta/models/a%3Fb%23c"),
    ] {
        assert_eq!(Gemini.path(model, true), format!("{path}:streamGenerateContent?alt=sse"));
    }
}

#[test]
fn consecutive_model_messages_are_one_content_and_invalid_names_are_rewritten() {
    let written = contents(vec![
        user("Go."),
        Message::Assistant(vec![Content::text("Yes?")]),
        step(vec![Item::text("I begin.")]),
        step(vec![call("a", "no such tool", "{}")]),
        user("Wait."),
    ]);
    let roles: Vec<&Value> = written.as_array().unwrap().iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["user", "model", "user", "user"]);
    assert_eq!(written[1]["parts"].as_array().unwrap().len(), 3);
    assert_eq!(written[1]["parts"][2]["functionCall"]["name"], "no_such_tool");
    assert_eq!(written[2]["parts"][0]["functionResponse"]["name"], "no_such_tool");
}
