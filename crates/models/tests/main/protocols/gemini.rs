//! The server side of Gemini's `streamGenerateContent`.

use serde_json::{Value, json};
use toolwright_chat::StopReason;
use toolwright_models::WireRequest;

use crate::protocol_fixture::{
    ProtocolFixture, ReplyPart, ScenarioReply, SentCall, SentResult, halves, text,
};

struct Gemini;

conforms!(Gemini);

fn chunk(value: &Value) -> String {
    format!("data: {value}\r\n\r\n")
}

fn candidate(parts: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({"candidates": [candidate], "modelVersion": "gemini-3-pro", "responseId": "r1"})
}

/// A part as the API writes it; `None` for a search, which is not among the parts.
fn part(part: &ReplyPart) -> Option<Value> {
    Some(match part {
        ReplyPart::Text(text) => json!({"text": text}),
        ReplyPart::Reasoning(text, signature) => {
            json!({"text": text, "thought": true, "thoughtSignature": signature})
        }
        ReplyPart::Call { id, name, arguments } => {
            let mut call = json!({"id": id, "name": name});
            if !arguments.is_empty() {
                let text = || json!(arguments);
                call["args"] = serde_json::from_str(arguments).unwrap_or_else(|_| text());
            }
            json!({"functionCall": call})
        }
        ReplyPart::Search(..) => return None,
        ReplyPart::Unknown => json!({"hologram": {"beams": [1.5, {"b": 1, "a": 2}]}}),
    })
}

fn last(reply: &ScenarioReply, parts: &Value) -> Value {
    let mut last =
        candidate(parts, Some(if reply.hits_token_limit { "MAX_TOKENS" } else { "STOP" }));
    let searches = reply.parts.iter().find_map(|part| match part {
        ReplyPart::Search(query, page) => Some((query, page)),
        _ => None,
    });
    if let Some((query, page)) = searches {
        last["candidates"][0]["groundingMetadata"] = json!({"webSearchQueries": [query],
            "groundingChunks": [{"web": {"uri": page, "title": "A page"}}]});
    }
    last["usageMetadata"] = json!({"promptTokenCount": 120, "cachedContentTokenCount": 20,
        "candidatesTokenCount": 20, "thoughtsTokenCount": 10, "totalTokenCount": 150});
    last
}

impl ProtocolFixture for Gemini {
    fn model(&self) -> (&'static str, &'static str) {
        ("gemini", "gemini-3-pro")
    }

    fn streamed(&self, reply: &ScenarioReply) -> String {
        let mut out = String::new();
        for reply_part in &reply.parts {
            match (reply_part, part(reply_part)) {
                (ReplyPart::Text(text), _) => {
                    for half in halves(text) {
                        out += &chunk(&candidate(&json!([{"text": half}]), None));
                    }
                }
                (_, Some(part)) => out += &chunk(&candidate(&json!([part]), None)),
                (_, None) => {}
            }
        }
        out + &chunk(&last(reply, &json!([{"text": ""}])))
    }

    fn complete_body(&self, reply: &ScenarioReply) -> String {
        let parts: Vec<Value> = reply.parts.iter().filter_map(part).collect();
        serde_json::to_string_pretty(&last(reply, &json!(parts))).unwrap()
    }

    fn unknown_event(&self) -> String {
        "event: hologram\ndata: {\"beams\": 2}\n\n".to_owned()
    }

    fn failing_stream(&self) -> String {
        chunk(&json!({"error": {"code": 503, "message": "try later", "status": "UNAVAILABLE"}}))
    }

    fn rate_limit_body(&self) -> &'static str {
        r#"{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED"}}"#
    }

    fn quota_error(&self) -> (u16, &'static str) {
        (
            429,
            r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}"#,
        )
    }

    fn stop_reasons(&self) -> Vec<(String, StopReason)> {
        let stop = |reason| chunk(&candidate(&json!([{"text": "x"}]), Some(reason)));
        vec![
            (stop("SAFETY"), StopReason::Filtered),
            (
                stop("MALFORMED_FUNCTION_CALL"),
                StopReason::Other("MALFORMED_FUNCTION_CALL".to_owned()),
            ),
        ]
    }

    /// Arguments are JSON: other text can only be a string.
    fn delivered_arguments(&self, arguments: &str) -> String {
        json!(arguments).to_string()
    }

    /// Usage and sources may come after the finish reason.
    fn has_end_marker(&self) -> bool {
        false
    }

    fn hosted_support(&self) -> (bool, bool) {
        (true, false)
    }

    fn requests_stream(&self, request: &WireRequest) -> bool {
        request.url.path().ends_with(":streamGenerateContent")
            && request.url.query() == Some("alt=sse")
    }

    fn calls(&self, body: &Value) -> Vec<SentCall> {
        let calls = parts(body).into_iter().filter_map(|part| part.get("functionCall"));
        calls
            .map(|call| SentCall {
                id: text(&call["id"]),
                name: text(&call["name"]),
                arguments: call["args"].clone(),
            })
            .collect()
    }

    fn results(&self, body: &Value) -> Vec<SentResult> {
        let results = parts(body).into_iter().filter_map(|part| part.get("functionResponse"));
        results
            .map(|result| {
                let response = &result["response"];
                SentResult {
                    id: text(&result["id"]),
                    text: text(&response["result"]) + &text(&response["error"]),
                    failed: response.get("error").is_some(),
                }
            })
            .collect()
    }

    fn reasoning_items(&self, body: &Value) -> Vec<Value> {
        let reasoning = parts(body).into_iter().filter(|part| part["thought"] == true);
        reasoning.cloned().collect()
    }

    fn reasoning_item(&self, text: &str, signature: &str) -> Value {
        json!({"text": text, "thought": true, "thoughtSignature": signature})
    }

    fn response_schema(&self, body: &Value) -> Value {
        body["generationConfig"]["responseJsonSchema"].clone()
    }
}

fn parts(body: &Value) -> Vec<&Value> {
    let contents = body["contents"].as_array().unwrap().iter();
    contents.flat_map(|content| content["parts"].as_array().unwrap()).collect()
}
