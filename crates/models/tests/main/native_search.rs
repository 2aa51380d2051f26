//! Conversations in which the vendor loads the tools that a search has found, and conversations that move to another vendor.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::chat::{Chat, MemoryStore, Model, ToolDeferral, ToolSearchMode};
use toolwright::models::{ModelBuilder, Vendor, fallback};
use toolwright::testing::{CannedResponse, CannedTransport};
use toolwright::{Invoker, Registry, Tool};

/// Four tools, one of them pinned.
fn tools() -> Vec<Tool> {
    let tide = Tool::builder("read_tide", "Returns the level of the tide in a harbour.")
        .param::<String>("harbour", "The harbour.")
        .param::<Option<u32>>("days", "For how many days.")
        .read_only(true)
        .run(|args, _| args.get::<String>("harbour").map(|harbour| format!("{harbour}: 3 m")));
    let form = |number| {
        let description = format!("Files form {number} of the registry of ships.");
        Tool::builder(format!("file_form_{number}"), description).run(|_, _| "filed")
    };
    let pinned = Tool::builder("now", "Returns the time.").pinned(true).run(|_, _| "noon");
    [tide, form(1), form(2), pinned].map(Result::unwrap).into()
}

fn model(vendor: &str, name: &str, transport: &CannedTransport) -> ModelBuilder {
    Vendor::by_name(vendor).unwrap().model(name).api_key("a key").transport(transport.clone())
}

/// Runs one turn of the conversation `sea`.
async fn turn(model: Arc<dyn Model>, store: &Arc<MemoryStore>) -> String {
    let registry = Registry::of(tools()).unwrap();
    let chat = Chat::builder(&Invoker::new(&registry).unwrap(), model)
        .tool_search(ToolSearchMode::On)
        .store(Arc::clone(store))
        .build();
    let response = chat.message().conversation("sea").user("How high is it?").call();
    response.await.unwrap().text().to_string()
}

fn bodies(transport: &CannedTransport) -> Vec<Value> {
    let requests = transport.requests();
    requests.iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// A message of Anthropic that is not streamed.
fn message(blocks: Value, stop: &str) -> CannedResponse {
    let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": blocks,
        "stop_reason": stop, "usage": {"input_tokens": 9, "output_tokens": 3}});
    CannedResponse::ok(body.to_string())
}

/// A response of OpenAI that is not streamed.
fn response(output: Value) -> CannedResponse {
    let body = json!({"id": "resp_1", "object": "response", "status": "completed", "output": output,
        "usage": {"input_tokens": 9, "output_tokens": 3}});
    CannedResponse::ok(body.to_string())
}

fn anthropic() -> CannedTransport {
    CannedTransport::new([
        message(
            json!([{"type": "tool_use", "id": "toolu_1", "name": "search_tools",
                "input": {"query": "level of the tide", "limit": 1}}]),
            "tool_use",
        ),
        message(
            json!([{"type": "tool_use", "id": "toolu_2", "name": "read_tide",
                "input": {"harbour": "Brest"}, "caller": {"type": "direct"}}]),
            "tool_use",
        ),
        message(json!([{"type": "text", "text": "3 metres."}]), "end_turn"),
    ])
}

/// What OpenAI sends in a search, item by item.
fn search_item() -> Value {
    json!({"type": "tool_search_call", "id": "tsc_1", "call_id": "call_1", "execution": "client",
        "status": "completed", "arguments": {"query": "level of the tide", "limit": 1}})
}

fn answer() -> CannedResponse {
    response(json!([{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "3 metres.", "annotations": []}]}]))
}

fn openai() -> CannedTransport {
    CannedTransport::new([
        response(json!([search_item()])),
        response(json!([{"type": "function_call", "id": "fc_1", "call_id": "call_2",
            "name": "read_tide", "namespace": "read_tide", "status": "completed",
            "arguments": r#"{"harbour":"Brest"}"#}])),
        answer(),
    ])
}

#[tokio::test]
async fn anthropic_loads_the_tools_that_the_result_of_a_search_refers_to() {
    let transport = anthropic();
    let model = model("anthropic", "claude-sonnet-4-5", &transport).streaming(false);
    let answer = turn(model.build().unwrap(), &Arc::default()).await;
    assert_eq!(answer, "3 metres.");
    let bodies = bodies(&transport);
    for body in &bodies {
        assert_eq!(body["tools"], bodies[0]["tools"], "the tools stay the same");
    }
    let tools = &bodies[0]["tools"];
    let expected = ["search_tools", "now", "read_tide", "file_form_1", "file_form_2"];
    assert_eq!(names(tools), expected);
    assert_eq!(tools[1]["cache_control"], json!({"type": "ephemeral"}));
    for deferred in &tools.as_array().unwrap()[2..] {
        assert_eq!(deferred["defer_loading"], true);
        assert_eq!(deferred["strict"], false);
        assert!(deferred.get("cache_control").is_none(), "the API rejects it");
    }
    assert!(tools[0].get("defer_loading").is_none());
    assert_eq!(
        bodies[1]["messages"][2]["content"],
        json!([{"type": "tool_result", "tool_use_id": "toolu_1",
            "content": [{"type": "tool_reference", "tool_name": "read_tide"}]}])
    );
    assert_eq!(
        bodies[2]["messages"][4]["content"],
        json!([{"type": "tool_result", "tool_use_id": "toolu_2", "content": "Brest: 3 m"}])
    );
    assert!(transport.requests().iter().all(|sent| sent.header("anthropic-beta").is_none()));
}

#[tokio::test]
async fn openai_loads_the_definitions_in_the_output_of_a_search() {
    let transport = openai();
    let model = model("openai", "gpt-5.4", &transport).streaming(false);
    let answer = turn(model.build().unwrap(), &Arc::default()).await;
    assert_eq!(answer, "3 metres.");
    let bodies = bodies(&transport);
    for body in &bodies {
        assert_eq!(body["tools"], bodies[0]["tools"], "the tools stay the same");
    }
    let tools = bodies[0]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 2);
    assert_eq!(
        (&tools[0]["type"], &tools[0]["execution"]),
        (&json!("tool_search"), &json!("client"))
    );
    assert_eq!(tools[0]["parameters"]["properties"]["query"]["type"], "string");
    assert_eq!(tools[1]["name"], "now");
    let input = bodies[1]["input"].as_array().unwrap();
    assert_eq!(input[1], search_item(), "the search is replayed as it came");
    let output = &input[2];
    assert_eq!(output["type"], "tool_search_output");
    assert_eq!((&output["call_id"], &output["execution"]), (&json!("call_1"), &json!("client")));
    let loaded = &output["tools"][0];
    assert_eq!(names(&output["tools"]), ["read_tide"]);
    assert_eq!((&loaded["defer_loading"], &loaded["strict"]), (&json!(true), &json!(false)));
    assert_eq!(loaded["parameters"]["required"], json!(["harbour"]));
    let last = bodies[2]["input"].as_array().unwrap();
    assert_eq!(last[3]["namespace"], "read_tide");
    assert_eq!(
        last[4],
        json!({"type": "function_call_output", "call_id": "call_2", "output": "Brest: 3 m"})
    );
}

#[tokio::test]
async fn openai_loads_the_tools_of_a_bundle_in_a_namespace_if_that_is_set() {
    let transport = openai();
    let model = model("openai", "gpt-5.4", &transport).streaming(false).tool_namespaces(true);
    assert_eq!(turn(model.build().unwrap(), &Arc::default()).await, "3 metres.");
    let output = &bodies(&transport)[1]["input"][2];
    let namespace = &output["tools"][0];
    assert_eq!((&namespace["type"], &namespace["name"]), (&json!("namespace"), &json!("built")));
    assert_eq!(namespace["description"], "The tools of built.");
    assert_eq!(names(&namespace["tools"]), ["read_tide"]);
    assert_eq!(namespace["tools"][0]["defer_loading"], true);
}

#[tokio::test]
async fn a_streamed_search_is_a_call_of_the_tool_that_searches() {
    let frames = |item: Value| {
        let mut added = item.clone();
        added["status"] = json!("in_progress");
        added["arguments"] = json!({});
        let frames = [
            json!({"type": "response.output_item.added", "output_index": 0, "item": added}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": {"status": "completed", "output": [item]}}),
        ];
        frames.map(|frame| format!("data: {frame}\n\n")).concat()
    };
    let text = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Found.", "annotations": []}]});
    let replies = [frames(search_item()), frames(text)];
    let transport = CannedTransport::new(replies.map(CannedResponse::ok));
    let model = model("openai", "gpt-5.4", &transport).build().unwrap();
    assert_eq!(turn(model, &Arc::default()).await, "Found.");
    let input = bodies(&transport)[1]["input"].take();
    let types: Vec<&str> =
        input.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["message", "tool_search_call", "tool_search_output"]);
}

#[tokio::test]
async fn a_conversation_moves_to_another_vendor_and_to_a_model_without_deferred_tools() {
    let store = Arc::new(MemoryStore::new());
    let transports = [openai(), anthropic(), CannedTransport::new([answer()])];
    let models = [("openai", "gpt-5.4"), ("anthropic", "claude-opus-5"), ("openai", "gpt-5")];
    for (transport, (vendor, name)) in transports.iter().zip(models) {
        let model = model(vendor, name, transport).streaming(false).build().unwrap();
        assert_eq!(turn(model, &store).await, "3 metres.");
    }
    let moved = bodies(&transports[1])[0]["messages"].take();
    let (call, found) = (&moved[1]["content"][0], &moved[2]["content"][0]);
    assert_eq!((&call["type"], &call["name"]), (&json!("tool_use"), &json!("search_tools")));
    assert_eq!(found["content"], json!([{"type": "tool_reference", "tool_name": "read_tide"}]));
    assert_eq!(moved[3]["content"][0]["name"], "read_tide");
    // Without a search of the vendor, each is a function with a text.
    let last = bodies(&transports[2])[0]["input"].take();
    let types: Vec<&str> =
        last.as_array().unwrap().iter().filter_map(|item| item["type"].as_str()).collect();
    assert!(types.iter().all(|kind| !kind.starts_with("tool_search")), "{types:?}");
    assert_eq!(
        (&last[1]["type"], &last[1]["name"]),
        (&json!("function_call"), &json!("search_tools"))
    );
    assert!(last[2]["output"].as_str().unwrap().contains("input_schema"));
    let tools = bodies(&transports[2])[0]["tools"].take();
    assert_eq!(names(&tools), ["search_tools", "call_tool", "now"]);
}

#[test]
fn only_the_own_host_of_a_vendor_and_newer_models_load_tools() {
    let transport = CannedTransport::default();
    let deferral =
        |vendor: &str, name: &str| model(vendor, name, &transport).build().unwrap().tool_deferral();
    assert_eq!(deferral("anthropic", "claude-sonnet-4-5"), Some(ToolDeferral::References));
    assert_eq!(deferral("anthropic", "claude-3-7-sonnet-latest"), None);
    assert_eq!(deferral("openai", "gpt-5.4"), Some(ToolDeferral::Definitions));
    assert_eq!(deferral("openai", "gpt-5"), None);
    assert_eq!(deferral("openai-chat", "gpt-5.4"), None);
    assert_eq!(deferral("gemini", "gemini-3-pro-preview"), None);

    let proxy = || model("openai", "gpt-5.4", &transport).base_url("https://proxy.example/v1");
    assert_eq!(proxy().build().unwrap().tool_deferral(), None);
    let native = proxy().native_tool_search(true).build().unwrap();
    assert_eq!(native.tool_deferral(), Some(ToolDeferral::Definitions));
    let off = model("openai", "gpt-5.4", &transport).native_tool_search(false);
    assert_eq!(off.build().unwrap().tool_deferral(), None);
}

#[test]
fn of_several_models_all_must_load_tools_in_the_same_way() {
    let transport = CannedTransport::default();
    let of = |models: [(&str, &str); 2]| {
        let models = models.map(|(vendor, name)| model(vendor, name, &transport).build().unwrap());
        fallback(models).unwrap().tool_deferral()
    };
    let openai = ("openai", "gpt-5.4");
    assert_eq!(of([openai, ("openai", "gpt-5.5")]), Some(ToolDeferral::Definitions));
    assert_eq!(of([openai, ("anthropic", "claude-opus-5")]), None);
    assert_eq!(of([openai, ("ollama", "qwen3")]), None);
}
