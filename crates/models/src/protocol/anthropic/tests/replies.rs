//! Items of a response, replayed in the next request.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_chat::{Item, Message, ModelId, ModelRequest, Step};
use toolwright_core::{Content, ToolCall, ToolResult};

use super::{MODEL, answer, body, finished, items, raw, text_of};
use crate::protocol::Protocol as _;
use crate::protocol::anthropic::Anthropic;

/// Every kind of block, and an unknown one.
fn streamed() -> (Vec<Value>, String) {
    let blocks = vec![
        json!({"type": "thinking", "thinking": "Hm.", "signature": "Sg==", "x_later": {"a": [1, null]}}),
        json!({"type": "redacted_thinking", "data": "Emw="}),
        json!({"type": "text", "text": "Let me look.", "citations": null}),
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "https://x.example", "title": "X", "encrypted_content": "Eq"}]}),
        json!({"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "wiki", "input": {}}),
        json!({"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": false, "content": [{"type": "text", "text": "yes"}]}),
        json!({"type": "server_tool_use", "id": "srvtoolu_2", "name": "tool_search_tool_bm25", "input": {"query": "files"}}),
        json!({"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_2", "content": {"type": "tool_search_tool_search_result", "tool_references": [{"type": "tool_reference", "tool_name": "files_read"}]}}),
        json!({"type": "novelty", "depth": 3}),
        json!({"type": "thinking", "thinking": "", "signature": "Omitted=="}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "files_read", "input": {"b": 2, "a": 1}, "caller": {"type": "direct"}}),
    ];
    let mut values = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let mut start = block.clone();
        let mut deltas = Vec::new();
        if block["type"] == "tool_use" {
            start["input"] = json!({});
            let json = block["input"].to_string();
            let (left, right) = json.split_at(4);
            deltas.push(json!({"type": "input_json_delta", "partial_json": left}));
            deltas.push(json!({"type": "input_json_delta", "partial_json": right}));
        }
        if block["type"] == "thinking" {
            start["thinking"] = "".into();
            start["signature"] = "".into();
            deltas.push(json!({"type": "thinking_delta", "thinking": block["thinking"]}));
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        values.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            values.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        values.push(json!({"type": "content_block_stop", "index": index}));
    }
    values.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    values.push(json!({"type": "message_stop"}));
    (blocks, text_of(&values))
}

fn asking(items: Vec<Item>) -> ModelRequest {
    let events = answer(&streamed().1);
    let (stop, usage) = finished(&events);
    let step = Step::new(ModelId::new("anthropic", MODEL), items, stop, usage);
    let mut result = ToolResult::success("contents");
    result.call_id = "toolu_1".into();
    let mut request = ModelRequest::default();
    request.messages = vec![
        Message::User(vec![Content::text("Hi")]),
        Message::Step(Arc::new(step)),
        Message::Results(vec![result]),
    ];
    request
}

#[test]
fn blocks_go_back_unchanged_and_in_order() {
    let (blocks, text) = streamed();
    let items = items(&answer(&text));
    let raws: Vec<Value> = items.iter().map(raw).collect();
    assert_eq!(raws, blocks);
    let body = body(&asking(items), MODEL);
    let sent = &body["messages"][1]["content"];
    assert_eq!(sent, &json!(blocks));
    assert_eq!(sent.to_string(), json!(blocks).to_string(), "fields keep their order too");
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "toolu_1");
}

#[test]
fn a_journal_in_between_changes_nothing() {
    let (blocks, text) = streamed();
    let written = serde_json::to_string(&items(&answer(&text))).unwrap();
    let items: Vec<Item> = serde_json::from_str(&written).unwrap();
    assert_eq!(body(&asking(items), MODEL)["messages"][1]["content"], json!(blocks));
}

#[test]
fn past_mcp_blocks_still_need_their_header() {
    let request = asking(items(&answer(&streamed().1)));
    assert_eq!(
        Anthropic.headers(&request),
        [("anthropic-beta", "mcp-client-2025-11-20".to_owned())]
    );
    assert!(Anthropic.headers(&asking(vec![Item::text("Hi")])).is_empty());
}

#[test]
fn a_paused_response_continues_in_the_same_message() {
    let paused = items(&answer(&streamed().1));
    let mut request = asking(paused[3..5].to_vec());
    request.messages.pop();
    let Message::Step(step) = request.messages[1].clone() else {
        panic!("the second message is the step");
    };
    request.messages.push(Message::Step(step));
    let body = body(&request, MODEL);
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert_eq!(body["messages"][1]["content"].as_array().unwrap().len(), 4);
}

#[test]
fn content_that_the_api_rejects_is_not_replayed() {
    let unsigned = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "Hm."}}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "\n\n"}}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "So."}}),
        json!({"type": "message_stop"}),
    ];
    let request = asking(items(&answer(&text_of(&unsigned))));
    let so = json!({"type": "text", "text": "So."});
    assert_eq!(body(&request, MODEL)["messages"][1]["content"], json!([so]));
    // A vendor that does not sign its reasoning accepts it without a signature.
    let local = body(&request, "qwen3-8b");
    assert_eq!(
        local["messages"][1]["content"],
        json!([{"type": "thinking", "thinking": "Hm."}, so])
    );
}

#[test]
fn another_protocols_raw_items_are_written_from_what_they_mean() {
    let foreign =
        serde_json::value::to_raw_value(&json!({"type": "message", "content": []})).unwrap();
    let request =
        asking(vec![Item::text("From another vendor.").with_raw("openai_responses", foreign)]);
    let expected = json!([{"type": "text", "text": "From another vendor."}]);
    assert_eq!(body(&request, MODEL)["messages"][1]["content"], expected);
}

#[test]
fn a_call_of_a_name_that_cannot_be_goes_back_under_one_that_can() {
    let raw = r#"{"type":"tool_use","id":"toolu_1","name":"files.read all","input":{}}"#;
    let call = Item::call(ToolCall::new("files.read all", "{}").with_id("toolu_1"));
    let own = call.clone().with_raw("anthropic", serde_json::from_str(raw).unwrap());
    for item in [call, own] {
        let body = body(&asking(vec![item]), MODEL);
        let block = &body["messages"][1]["content"][0];
        assert_eq!(block["name"], "files_read_all");
    }
}
