//! Chat Completions, from the side of a vendor that wants its reasoning back.

use serde_json::{Map, Value, json};
use toolwright_chat::StopReason;

use crate::said::{Called, Part, Resulted, Said, Speaks, halves, parsed, text, with};

struct Chat;

conforms!(Chat);

fn chunk(delta: Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [choice]});
    format!("data: {chunk}\n\n")
}

fn finish(said: &Said) -> &'static str {
    match (said.cut, said.has_calls()) {
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

impl Speaks for Chat {
    fn model(&self) -> (&'static str, &'static str) {
        ("openrouter", "some/model")
    }

    fn streamed(&self, said: &Said) -> String {
        let mut out = chunk(json!({"role": "assistant", "content": ""}), None);
        let mut calls = 0;
        for part in &said.parts {
            match part {
                Part::Text(text) => {
                    for half in halves(text) {
                        out += &chunk(json!({"content": half}), None);
                    }
                }
                Part::Thought(text, seal) => {
                    for (half, seal) in halves(text).into_iter().zip([Value::Null, json!(seal)]) {
                        let detail = json!({"type": "reasoning.text", "text": half, "signature": seal, "index": 0});
                        out += &chunk(
                            json!({"reasoning": half, "reasoning_details": [detail]}),
                            None,
                        );
                    }
                }
                Part::Call {
                    id,
                    name,
                    arguments,
                } => {
                    out += &chunk(json!({"tool_calls": [called(calls, id, name, "")]}), None);
                    for half in halves(arguments) {
                        let piece = json!({"index": calls, "function": {"arguments": half}});
                        out += &chunk(json!({"tool_calls": [piece]}), None);
                    }
                    calls += 1;
                }
                Part::Unknown => out += &chunk(json!({"hologram": {"beams": [1.5]}}), None),
                Part::Search(..) => {}
            }
        }
        out += &chunk(json!({}), Some(finish(said)));
        let last = json!({"id": "chatcmpl-1", "choices": [], "usage": usage()});
        out + &format!("data: {last}\n\ndata: [DONE]\n\n")
    }

    fn whole(&self, said: &Said) -> String {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), Value::Null);
        let mut calls = Vec::new();
        for part in &said.parts {
            match part {
                Part::Text(text) => drop(message.insert("content".to_owned(), json!(text))),
                Part::Thought(text, seal) => {
                    let detail = json!({"type": "reasoning.text", "text": text, "signature": seal, "index": 0});
                    message.insert("reasoning".to_owned(), json!(text));
                    message.insert("reasoning_details".to_owned(), json!([detail]));
                }
                Part::Call {
                    id,
                    name,
                    arguments,
                } => calls.push(called(calls.len(), id, name, arguments)),
                Part::Unknown => {
                    message.insert("hologram".to_owned(), json!({"beams": [1.5]}));
                }
                Part::Search(..) => {}
            }
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), json!(calls));
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": finish(said)});
        json!({"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage()}).to_string()
    }

    fn unknown_event(&self) -> String {
        "event: hologram\ndata: {\"beams\": 2}\n\n: a comment\n\n".to_owned()
    }

    fn gives_up(&self) -> String {
        "data: {\"error\":{\"message\":\"try later\",\"code\":503}}\n\n".to_owned()
    }

    fn busy(&self) -> &'static str {
        r#"{"error":{"message":"Rate limited.","code":429}}"#
    }

    fn out_of_credit(&self) -> (u16, &'static str) {
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        )
    }

    fn stops(&self) -> Vec<(String, StopReason)> {
        let stop = |reason| chunk(json!({"content": "x"}), Some(reason));
        vec![
            (stop("content_filter"), StopReason::Filtered),
            (stop("eos"), StopReason::End),
            (stop("hologram"), StopReason::Other("hologram".to_owned())),
        ]
    }

    fn returns_unknown(&self) -> bool {
        false
    }

    fn hosts(&self) -> (bool, bool) {
        (false, false)
    }

    fn calls(&self, body: &Value) -> Vec<Called> {
        let said = with(&body["messages"], "role", "assistant").into_iter();
        said.flat_map(|message| message["tool_calls"].as_array().into_iter().flatten())
            .map(|call| Called {
                id: text(&call["id"]),
                name: text(&call["function"]["name"]),
                arguments: parsed(&call["function"]["arguments"]),
            })
            .collect()
    }

    fn results(&self, body: &Value) -> Vec<Resulted> {
        let results = with(&body["messages"], "role", "tool").into_iter();
        results
            .map(|result| {
                let told = text(&result["content"]);
                Resulted {
                    id: text(&result["tool_call_id"]),
                    failed: told.starts_with("Error: "),
                    text: told.trim_start_matches("Error: ").to_owned(),
                }
            })
            .collect()
    }

    fn thoughts(&self, body: &Value) -> Vec<Value> {
        let said = with(&body["messages"], "role", "assistant").into_iter();
        said.flat_map(|message| {
            message["reasoning_details"]
                .as_array()
                .into_iter()
                .flatten()
        })
        .cloned()
        .collect()
    }

    fn thought(&self, text: &str, seal: &str) -> Value {
        json!({"type": "reasoning.text", "text": text, "signature": seal, "index": 0})
    }

    fn answer_schema(&self, body: &Value) -> Value {
        body["response_format"]["json_schema"]["schema"].clone()
    }
}
