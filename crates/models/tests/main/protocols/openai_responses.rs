//! The server side of OpenAI's Responses.

use serde_json::{Value, json};
use toolwright_chat::StopReason;

use crate::protocol_fixture::{
    ProtocolFixture, ReplyPart, ScenarioReply, SentCall, SentResult, elements_with, halves, parsed,
    text,
};

struct Responses;

conforms!(Responses);

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn item(index: usize, part: &ReplyPart) -> Value {
    match part {
        ReplyPart::Text(text) => {
            json!({"id": format!("msg_{index}"), "type": "message", "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": text}]})
        }
        ReplyPart::Reasoning(text, signature) => {
            json!({"id": format!("rs_{index}"), "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}], "encrypted_content": signature})
        }
        ReplyPart::Call { id, name, arguments } => {
            json!({"id": format!("fc_{index}"), "type": "function_call", "status": "completed",
            "arguments": arguments, "call_id": id, "name": name})
        }
        ReplyPart::Search(query, page) => {
            json!({"id": format!("ws_{index}"), "type": "web_search_call",
            "status": "completed",
            "action": {"type": "search", "query": query, "sources": [{"type": "url", "url": page}]}})
        }
        ReplyPart::Unknown => {
            json!({"id": format!("ho_{index}"), "type": "hologram_call", "beams": [1.5, {"b": 1, "a": 2}]})
        }
    }
}

fn response(reply: &ScenarioReply) -> Value {
    let items = reply.parts.iter().enumerate();
    let output: Vec<Value> = items.map(|(index, part)| item(index, part)).collect();
    json!({
        "id": "resp_1",
        "object": "response",
        "status": if reply.hits_token_limit { "incomplete" } else { "completed" },
        "incomplete_details": reply.hits_token_limit.then(|| json!({"reason": "max_output_tokens"})),
        "error": null,
        "output": output,
        "usage": {"input_tokens": 120, "input_tokens_details": {"cached_tokens": 20},
            "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 150}
    })
}

fn deltas(index: usize, part: &ReplyPart) -> Vec<Value> {
    let (kind, text) = match part {
        ReplyPart::Text(text) => ("response.output_text.delta", *text),
        ReplyPart::Reasoning(text, _) => ("response.reasoning_summary_text.delta", *text),
        ReplyPart::Call { arguments, .. } => {
            ("response.function_call_arguments.delta", arguments.as_str())
        }
        _ => return Vec::new(),
    };
    let id = item(index, part)["id"].clone();
    let delta = |delta| json!({"type": kind, "item_id": id, "output_index": index, "delta": delta});
    halves(text).map(delta).to_vec()
}

impl ProtocolFixture for Responses {
    fn model(&self) -> (&'static str, &'static str) {
        ("openai", "gpt-5")
    }

    fn streamed(&self, reply: &ScenarioReply) -> String {
        let mut out = event(
            &json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
        );
        for (index, part) in reply.parts.iter().enumerate() {
            let done = item(index, part);
            let mut added = done.clone();
            for field in ["arguments", "content", "summary", "encrypted_content"] {
                if let Some(value) = added.get_mut(field) {
                    *value = if value.is_string() { json!("") } else { json!([]) };
                }
            }
            out += &event(
                &json!({"type": "response.output_item.added", "output_index": index, "item": added}),
            );
            for delta in deltas(index, part) {
                out += &event(&delta);
            }
            out += &event(
                &json!({"type": "response.output_item.done", "output_index": index, "item": done}),
            );
        }
        let kind =
            if reply.hits_token_limit { "response.incomplete" } else { "response.completed" };
        out + &event(&json!({"type": kind, "response": response(reply)}))
    }

    fn complete_body(&self, reply: &ScenarioReply) -> String {
        serde_json::to_string_pretty(&response(reply)).unwrap()
    }

    fn unknown_event(&self) -> String {
        event(&json!({"type": "response.hologram.delta", "item_id": "x", "delta": {"beams": 2}}))
    }

    fn failing_stream(&self) -> String {
        event(&json!({"type": "error", "code": "server_error", "message": "try later"}))
    }

    fn rate_limit_body(&self) -> &'static str {
        r#"{"error":{"message":"Rate limit reached.","type":"requests","code":"rate_limit_exceeded"}}"#
    }

    fn quota_error(&self) -> (u16, &'static str) {
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        )
    }

    fn stop_reasons(&self) -> Vec<(String, StopReason)> {
        let ended =
            |kind: &str, response: Value| event(&json!({"type": kind, "response": response}));
        vec![
            (
                ended(
                    "response.incomplete",
                    json!({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}),
                ),
                StopReason::Filtered,
            ),
            (
                ended(
                    "response.completed",
                    json!({"status": "completed", "output": [{"type": "message", "id": "m", "role": "assistant",
                        "content": [{"type": "refusal", "refusal": "No."}]}]}),
                ),
                StopReason::Refused,
            ),
        ]
    }

    fn hosted_support(&self) -> (bool, bool) {
        (true, true)
    }

    fn calls(&self, body: &Value) -> Vec<SentCall> {
        let calls = elements_with(&body["input"], "type", "function_call").into_iter();
        calls
            .map(|call| SentCall {
                id: text(&call["call_id"]),
                name: text(&call["name"]),
                arguments: parsed(&call["arguments"]),
            })
            .collect()
    }

    fn results(&self, body: &Value) -> Vec<SentResult> {
        let results = elements_with(&body["input"], "type", "function_call_output").into_iter();
        results
            .map(|result| {
                let parts = result["output"].as_array().into_iter().flatten();
                let texts: String = parts.map(|part| text(&part["text"])).collect();
                let content = text(&result["output"]) + &texts;
                SentResult {
                    id: text(&result["call_id"]),
                    failed: content.starts_with("Error: "),
                    text: content.trim_start_matches("Error: ").to_owned(),
                }
            })
            .collect()
    }

    fn reasoning_items(&self, body: &Value) -> Vec<Value> {
        let reasoning = elements_with(&body["input"], "type", "reasoning");
        reasoning.into_iter().cloned().collect()
    }

    fn reasoning_item(&self, text: &str, signature: &str) -> Value {
        json!({"id": "rs_0", "type": "reasoning", "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": signature})
    }

    fn response_schema(&self, body: &Value) -> Value {
        body["text"]["format"]["schema"].clone()
    }
}
