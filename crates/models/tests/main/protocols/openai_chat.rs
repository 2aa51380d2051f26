//! The server side of Chat Completions, of a vendor that requires its reasoning back.

use serde_json::{Map, Value, json};
use toolwright_chat::StopReason;

use crate::protocol_fixture::{
    ProtocolFixture, ReplyPart, ScenarioReply, SentCall, SentResult, elements_with, halves, parsed,
    text,
};

struct Chat;

conforms!(Chat);

fn chunk(delta: Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [choice]});
    format!("data: {chunk}\n\n")
}

fn finish(reply: &ScenarioReply) -> &'static str {
    match (reply.hits_token_limit, reply.has_calls()) {
        (true, _) => "length",
        (false, true) => "tool_calls",
        (false, false) => "stop",
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 20}, "completion_tokens_details": {"reasoning_tokens": 10}})
}

fn called(index: usize, id: &str, name: &str, arguments: &str) -> Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

impl ProtocolFixture for Chat {
    fn model(&self) -> (&'static str, &'static str) {
        ("openrouter", "some/model")
    }

    fn streamed(&self, reply: &ScenarioReply) -> String {
        let mut out = chunk(json!({"role": "assistant", "content": ""}), None);
        let mut calls = 0;
        for part in &reply.parts {
            match part {
                ReplyPart::Text(text) => {
                    for half in halves(text) {
                        out += &chunk(json!({"content": half}), None);
                    }
                }
                ReplyPart::Reasoning(text, signature) => {
                    for (half, signature) in
                        halves(text).into_iter().zip([Value::Null, json!(signature)])
                    {
                        let detail = json!({"type": "reasoning.text", "text": half, "signature": signature, "index": 0});
                        out +=
                            &chunk(json!({"reasoning": half, "reasoning_details": [detail]}), None);
                    }
                }
                ReplyPart::Call { id, name, arguments } => {
                    out += &chunk(json!({"tool_calls": [called(calls, id, name, "")]}), None);
                    for half in halves(arguments) {
                        let piece = json!({"index": calls, "function": {"arguments": half}});
                        out += &chunk(json!({"tool_calls": [piece]}), None);
                    }
                    calls += 1;
                }
                ReplyPart::Unknown => out += &chunk(json!({"hologram": {"beams": [1.5]}}), None),
                ReplyPart::Search(..) => {}
            }
        }
        out += &chunk(json!({}), Some(finish(reply)));
        let last = json!({"id": "chatcmpl-1", "choices": [], "usage": usage()});
        out + &format!("data: {last}\n\ndata: [DONE]\n\n")
    }

    fn complete_body(&self, reply: &ScenarioReply) -> String {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), Value::Null);
        let mut calls = Vec::new();
        for part in &reply.parts {
            match part {
                ReplyPart::Text(text) => drop(message.insert("content".to_owned(), json!(text))),
                ReplyPart::Reasoning(text, signature) => {
                    let detail = json!({"type": "reasoning.text", "text": text, "signature": signature, "index": 0});
                    message.insert("reasoning".to_owned(), json!(text));
                    message.insert("reasoning_details".to_owned(), json!([detail]));
                }
                ReplyPart::Call { id, name, arguments } => {
                    calls.push(called(calls.len(), id, name, arguments))
                }
                ReplyPart::Unknown => {
                    message.insert("hologram".to_owned(), json!({"beams": [1.5]}));
                }
                ReplyPart::Search(..) => {}
            }
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), json!(calls));
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": finish(reply)});
        json!({"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage()}).to_string()
    }

    fn unknown_event(&self) -> String {
        "event: hologram\ndata: {\"beams\": 2}\n\n: a comment\n\n".to_owned()
    }

    fn failing_stream(&self) -> String {
        "data: {\"error\":{\"message\":\"try later\",\"code\":503}}\n\n".to_owned()
    }

    fn rate_limit_body(&self) -> &'static str {
        r#"{"error":{"message":"Rate limited.","code":429}}"#
    }

    fn quota_error(&self) -> (u16, &'static str) {
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        )
    }

    fn stop_reasons(&self) -> Vec<(String, StopReason)> {
        let stop = |reason| chunk(json!({"content": "x"}), Some(reason));
        vec![
            (stop("content_filter"), StopReason::Filtered),
            (stop("eos"), StopReason::End),
            (stop("hologram"), StopReason::Other("hologram".to_owned())),
        ]
    }

    fn replays_unknown_items(&self) -> bool {
        false
    }

    fn hosted_support(&self) -> (bool, bool) {
        (false, false)
    }

    fn calls(&self, body: &Value) -> Vec<SentCall> {
        let messages = elements_with(&body["messages"], "role", "assistant").into_iter();
        messages
            .flat_map(|message| message["tool_calls"].as_array().into_iter().flatten())
            .map(|call| SentCall {
                id: text(&call["id"]),
                name: text(&call["function"]["name"]),
                arguments: parsed(&call["function"]["arguments"]),
            })
            .collect()
    }

    fn results(&self, body: &Value) -> Vec<SentResult> {
        let results = elements_with(&body["messages"], "role", "tool").into_iter();
        results
            .map(|result| {
                let content = text(&result["content"]);
                SentResult {
                    id: text(&result["tool_call_id"]),
                    failed: content.starts_with("Error: "),
                    text: content.trim_start_matches("Error: ").to_owned(),
                }
            })
            .collect()
    }

    fn reasoning_items(&self, body: &Value) -> Vec<Value> {
        let messages = elements_with(&body["messages"], "role", "assistant").into_iter();
        messages
            .flat_map(|message| message["reasoning_details"].as_array().into_iter().flatten())
            .cloned()
            .collect()
    }

    fn reasoning_item(&self, text: &str, signature: &str) -> Value {
        json!({"type": "reasoning.text", "text": text, "signature": signature, "index": 0})
    }

    fn response_schema(&self, body: &Value) -> Value {
        body["response_format"]["json_schema"]["schema"].clone()
    }
}
