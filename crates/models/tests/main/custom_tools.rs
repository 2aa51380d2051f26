//! Conversations with custom tools: of OpenAI, and of a vendor that has none.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::chat::{Chat, MemoryStore};
use toolwright::models::Vendor;
use toolwright::testing::{CannedResponse, CannedTransport};
use toolwright::{CustomToolFormat, Invoker, Registry, Tool};

/// Runs one turn of the conversation `sum`; the model runs at `base_url`, or at the vendor's own.
async fn turn(
    transport: &CannedTransport,
    (vendor, name): (&str, &str),
    base_url: Option<&str>,
    store: &Arc<MemoryStore>,
) -> String {
    let format = CustomToolFormat::Regex("[0-9]+(\\+[0-9]+)*".to_owned());
    let add_up = Tool::builder("add_up", "Adds numbers.").custom_input("sum", format);
    let add_up = add_up.run(|args, _| {
        args.get::<String>("sum")
            .map(|sum| sum.split('+').filter_map(|n| n.parse::<u64>().ok()).sum::<u64>())
    });
    let model = Vendor::by_name(vendor).unwrap().model(name).api_key("a key").streaming(false);
    let model = match base_url {
        Some(base_url) => model.base_url(base_url),
        None => model,
    };
    let model = model.transport(transport.clone()).build().unwrap();
    let registry = Registry::of(add_up.unwrap()).unwrap();
    let chat = Chat::builder(&Invoker::new(&registry).unwrap(), model).store(Arc::clone(store));
    let message = chat.build().message().conversation("sum").user("Add 1, 2 and 3.").call().await;
    message.unwrap().text().to_string()
}

fn responses(call: Value) -> CannedTransport {
    let text = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "6.", "annotations": []}]});
    let response = |item: Value| {
        let body = json!({"id": "resp_1", "object": "response", "status": "completed", "output": [item],
            "usage": {"input_tokens": 9, "output_tokens": 3}});
        CannedResponse::ok(body.to_string())
    };
    CannedTransport::new([response(call), response(text)])
}

fn custom_call() -> Value {
    json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "add_up",
        "input": "1+2+3"})
}

fn bodies(transport: &CannedTransport) -> Vec<Value> {
    let requests = transport.requests();
    requests.iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect()
}

#[tokio::test]
async fn a_custom_tool_runs_with_its_text_and_its_call_moves_to_another_vendor() {
    let store = Arc::new(MemoryStore::new());
    let openai = responses(custom_call());
    assert_eq!(turn(&openai, ("openai", "gpt-5"), None, &store).await, "6.");
    let sent = bodies(&openai);
    assert_eq!(sent[0]["tools"][0]["type"], "custom");
    assert_eq!(
        sent[1]["input"].as_array().unwrap()[1..],
        [
            custom_call(),
            json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": "6"}),
        ]
    );

    let message = json!({"id": "msg_1", "type": "message", "role": "assistant",
        "content": [{"type": "text", "text": "Still 6."}], "stop_reason": "end_turn"});
    let anthropic = CannedTransport::new([CannedResponse::ok(message.to_string())]);
    let model = ("anthropic", "claude-sonnet-5");
    assert_eq!(turn(&anthropic, model, None, &store).await, "Still 6.");
    let sent = bodies(&anthropic)[0].take();
    let call = &sent["messages"][1]["content"][0];
    assert_eq!((&call["type"], &call["input"]), (&json!("tool_use"), &json!({"sum": "1+2+3"})));
    let schema = &sent["tools"][0]["input_schema"];
    let description = schema["properties"]["sum"]["description"].as_str().unwrap();
    assert!(description.starts_with("Text in this grammar (regex):\n"), "{description}");
}

#[tokio::test]
async fn elsewhere_a_custom_tool_is_a_function() {
    let call = || {
        json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add_up",
            "arguments": r#"{"sum":"1+2+3"}"#})
    };
    for (model, base_url) in
        [(("openai", "gpt-4.1"), None), (("openai", "gpt-5"), Some("https://proxy.example/v1"))]
    {
        let transport = responses(call());
        assert_eq!(turn(&transport, model, base_url, &Arc::default()).await, "6.");
        let sent = bodies(&transport);
        assert_eq!(sent[0]["tools"][0]["type"], "function", "{model:?}");
        assert_eq!(sent[1]["input"][2]["type"], "function_call_output", "{model:?}");
    }
}
