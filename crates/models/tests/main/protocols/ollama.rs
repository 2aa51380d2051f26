//! The server side of Ollama's `/api/chat`.

use serde_json::{Map, Value, json};
use toolwright_chat::{StopReason, Usage};

use crate::protocol_fixture::{
    ProtocolFixture, ReplyPart, ScenarioReply, SentCall, SentResult, elements_with, halves, text,
};

struct Ollama;

conforms!(Ollama);

fn line(message: &Value) -> String {
    format!(
        "{}\n",
        json!({"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
    )
}

fn done(message: &Value, reason: &str) -> String {
    let line = json!({"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": true,
        "done_reason": reason, "total_duration": 9, "prompt_eval_count": 120, "eval_count": 30});
    format!("{line}\n")
}

/// An object, or the text that some servers send instead.
fn called(id: &str, name: &str, arguments: &str) -> Value {
    let arguments = match arguments {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    };
    json!({"id": id, "function": {"index": 0, "name": name, "arguments": arguments}})
}

fn reason(reply: &ScenarioReply) -> &'static str {
    if reply.hits_token_limit { "length" } else { "stop" }
}

impl ProtocolFixture for Ollama {
    fn model(&self) -> (&'static str, &'static str) {
        ("ollama", "qwen3")
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn streamed(&self, reply: &ScenarioReply) -> String {
        let mut out = String::new();
        for part in &reply.parts {
            match part {
                ReplyPart::Text(text) => {
                    for half in halves(text) {
                        out += &line(&json!({"role": "assistant", "content": half}));
                    }
                }
                ReplyPart::Reasoning(text, _) => {
                    for half in halves(text) {
                        out +=
                            &line(&json!({"role": "assistant", "content": "", "thinking": half}));
                    }
                }
                ReplyPart::Call { id, name, arguments } => {
                    let calls = json!([called(id, name, arguments)]);
                    out += &line(&json!({"role": "assistant", "content": "", "tool_calls": calls}));
                }
                ReplyPart::Unknown => {
                    let calls = json!([{"id": "u1", "hologram": {"beams": [1.5]}}]);
                    out += &line(&json!({"role": "assistant", "content": "", "tool_calls": calls}));
                }
                ReplyPart::Search(..) => {}
            }
        }
        out + &done(&json!({"role": "assistant", "content": ""}), reason(reply))
    }

    fn complete_body(&self, reply: &ScenarioReply) -> String {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), json!(""));
        let mut calls = Vec::new();
        for part in &reply.parts {
            match part {
                ReplyPart::Text(text) => drop(message.insert("content".to_owned(), json!(text))),
                ReplyPart::Reasoning(text, _) => {
                    drop(message.insert("thinking".to_owned(), json!(text)))
                }
                ReplyPart::Call { id, name, arguments } => calls.push(called(id, name, arguments)),
                ReplyPart::Unknown => calls.push(json!({"id": "u1", "hologram": {"beams": [1.5]}})),
                ReplyPart::Search(..) => {}
            }
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), json!(calls));
        }
        done(&Value::Object(message), reason(reply))
    }

    fn unknown_event(&self) -> String {
        "{\"hologram\":{\"beams\":2}}\n\n".to_owned()
    }

    fn failing_stream(&self) -> String {
        "{\"error\":\"the runner has stopped\"}\n".to_owned()
    }

    fn rate_limit_body(&self) -> &'static str {
        r#"{"error":"too many requests"}"#
    }

    fn quota_error(&self) -> (u16, &'static str) {
        (
            429,
            r#"{"error":"you (someone) have reached your weekly usage limit, upgrade for higher limits"}"#,
        )
    }

    fn stop_reasons(&self) -> Vec<(String, StopReason)> {
        let message = json!({"role": "assistant", "content": "x"});
        vec![
            (done(&message, ""), StopReason::End),
            (done(&message, "load"), StopReason::Other("load".to_owned())),
        ]
    }

    fn usage(&self) -> Usage {
        Usage::new(120, 30)
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
                arguments: call["function"]["arguments"].clone(),
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
                    failed: content.starts_with("error: "),
                    text: content.trim_start_matches("error: ").to_owned(),
                }
            })
            .collect()
    }

    fn reasoning_items(&self, body: &Value) -> Vec<Value> {
        let messages = elements_with(&body["messages"], "role", "assistant").into_iter();
        messages.filter_map(|message| message.get("thinking")).cloned().collect()
    }

    /// The protocol has no signatures.
    fn reasoning_item(&self, text: &str, _: &str) -> Value {
        json!(text)
    }

    fn response_schema(&self, body: &Value) -> Value {
        body["format"].clone()
    }
}
