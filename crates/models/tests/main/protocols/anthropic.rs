//! The server side of Anthropic's Messages.

use serde_json::{Value, json};
use toolwright_chat::StopReason;

use crate::protocol_fixture::{
    ProtocolFixture, ReplyPart, ScenarioReply, SentCall, SentResult, elements_with, halves, text,
};

struct Messages;

conforms!(Messages);

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

/// The blocks of a part, each with its deltas.
fn blocks(part: &ReplyPart) -> Vec<(Value, Vec<Value>)> {
    match part {
        ReplyPart::Text(text) => {
            let deltas = halves(text).map(|half| json!({"type": "text_delta", "text": half}));
            vec![(json!({"type": "text", "text": text}), deltas.to_vec())]
        }
        ReplyPart::Reasoning(text, signature) => {
            let deltas =
                halves(text).map(|half| json!({"type": "thinking_delta", "thinking": half}));
            let mut deltas = deltas.to_vec();
            deltas.push(json!({"type": "signature_delta", "signature": signature}));
            let block = json!({"type": "thinking", "thinking": text, "signature": signature});
            vec![(block, deltas)]
        }
        ReplyPart::Call { id, name, arguments } => {
            let deltas = halves(arguments).into_iter().filter(|half| !half.is_empty());
            let deltas =
                deltas.map(|half| json!({"type": "input_json_delta", "partial_json": half}));
            let input =
                serde_json::from_str(arguments).unwrap_or_else(|_| match arguments.trim() {
                    "" => json!({}),
                    _ => json!(arguments),
                });
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
            vec![(block, deltas.collect())]
        }
        ReplyPart::Search(query, page) => {
            let call = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
                "input": {"query": query}});
            let found = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
                "content": [{"type": "web_search_result", "url": page, "title": "A page",
                    "encrypted_content": "sealed"}]});
            vec![(call, Vec::new()), (found, Vec::new())]
        }
        ReplyPart::Unknown => {
            vec![(json!({"type": "hologram", "beams": [1.5, {"b": 1, "a": 2}]}), Vec::new())]
        }
    }
}

fn stop(reply: &ScenarioReply) -> &'static str {
    match (reply.hits_token_limit, reply.has_calls()) {
        (true, _) => "max_tokens",
        (false, true) => "tool_use",
        (false, false) => "end_turn",
    }
}

fn start() -> String {
    event(
        &json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "content": [], "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 1}}}),
    )
}

fn ended(stop: &str) -> String {
    event(&json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": {"output_tokens": 30, "output_tokens_details": {"thinking_tokens": 10}}}))
        + &event(&json!({"type": "message_stop"}))
}

impl ProtocolFixture for Messages {
    fn model(&self) -> (&'static str, &'static str) {
        ("anthropic", "claude-sonnet-4-5")
    }

    fn streamed(&self, reply: &ScenarioReply) -> String {
        let mut out = start();
        let blocks = reply.parts.iter().flat_map(blocks);
        for (index, (block, deltas)) in blocks.enumerate() {
            let mut begun = block.clone();
            for field in ["text", "thinking", "signature"] {
                if let Some(value) = begun.get_mut(field) {
                    *value = json!("");
                }
            }
            if block["type"] == "tool_use" {
                begun["input"] = json!({});
            }
            out += &event(
                &json!({"type": "content_block_start", "index": index, "content_block": begun}),
            );
            for delta in deltas {
                out +=
                    &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            out += &event(&json!({"type": "content_block_stop", "index": index}));
        }
        out + &ended(stop(reply))
    }

    fn complete_body(&self, reply: &ScenarioReply) -> String {
        let content: Vec<Value> =
            reply.parts.iter().flat_map(blocks).map(|(block, _)| block).collect();
        json!({"id": "msg_1", "type": "message", "role": "assistant", "content": content,
            "stop_reason": stop(reply), "stop_sequence": null,
            "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 30,
                "output_tokens_details": {"thinking_tokens": 10}}})
        .to_string()
    }

    fn unknown_event(&self) -> String {
        event(&json!({"type": "ping"})) + "event: hologram\ndata: {\"beams\": 2}\n\n"
    }

    fn failing_stream(&self) -> String {
        event(
            &json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        )
    }

    fn rate_limit_body(&self) -> &'static str {
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Too many requests."}}"#
    }

    fn quota_error(&self) -> (u16, &'static str) {
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}"#,
        )
    }

    fn stop_reasons(&self) -> Vec<(String, StopReason)> {
        let stop = |reason| start() + &ended(reason);
        vec![
            (stop("refusal"), StopReason::Refused),
            (stop("pause_turn"), StopReason::Paused),
            (stop("stop_sequence"), StopReason::End),
            (stop("hologram"), StopReason::Other("hologram".to_owned())),
        ]
    }

    fn hosted_support(&self) -> (bool, bool) {
        (true, true)
    }

    fn calls(&self, body: &Value) -> Vec<SentCall> {
        let calls = content(body, "tool_use").into_iter();
        calls
            .map(|call| SentCall {
                id: text(&call["id"]),
                name: text(&call["name"]),
                arguments: call["input"].clone(),
            })
            .collect()
    }

    fn results(&self, body: &Value) -> Vec<SentResult> {
        let results = content(body, "tool_result").into_iter();
        results
            .map(|result| {
                let parts = result["content"].as_array().into_iter().flatten();
                let texts: String = parts.map(|part| text(&part["text"])).collect();
                SentResult {
                    id: text(&result["tool_use_id"]),
                    text: text(&result["content"]) + &texts,
                    failed: result["is_error"] == true,
                }
            })
            .collect()
    }

    fn reasoning_items(&self, body: &Value) -> Vec<Value> {
        content(body, "thinking").into_iter().cloned().collect()
    }

    fn reasoning_item(&self, text: &str, signature: &str) -> Value {
        json!({"type": "thinking", "thinking": text, "signature": signature})
    }

    fn response_schema(&self, body: &Value) -> Value {
        body["output_config"]["format"]["schema"].clone()
    }
}

/// All blocks of a type.
fn content<'a>(body: &'a Value, kind: &str) -> Vec<&'a Value> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.flat_map(|message| elements_with(&message["content"], "type", kind)).collect()
}
