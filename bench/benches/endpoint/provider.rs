//! A provider in OpenAI's protocol: asks for two tool calls, then streams the answer.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::scripted_model;

/// The calls of the answer, each with a part of its result: a tool of the program, and one of the attached server.
const CALLS: [(&str, &str, &str); 2] = [
    ("get_weather", r#"{"city":"Zurich"}"#, "Zurich"),
    ("everything_echo", r#"{"message":"over the pipe"}"#, "over the pipe"),
];

pub(crate) fn router(pace: Duration) -> Router {
    let complete = move |request: String| async move {
        complete(&serde_json::from_str(&request).unwrap(), pace)
    };
    Router::new().route("/v1/chat/completions", post(complete))
}

fn complete(request: &Value, pace: Duration) -> Response {
    let messages = request["messages"].as_array().unwrap();
    let results: Vec<String> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].to_string())
        .collect();
    if results.is_empty() {
        let calls: Vec<Value> = CALLS.iter().enumerate().map(call).collect();
        let frames = [frame(json!({ "tool_calls": calls }), None), frame(json!({}), "tool_calls")];
        return sse_response(Body::from(frames.concat() + "data: [DONE]\n\n"));
    }
    let has_all_results =
        CALLS.iter().all(|(_, _, part)| results.iter().any(|result| result.contains(part)));
    // Without its text the client counts the answer as lost.
    let deltas = if has_all_results { scripted_model::deltas() } else { &[] };
    let frames = stream::iter(deltas).then(move |delta| async move {
        tokio::time::sleep(pace).await;
        frame(json!({ "content": delta }), None)
    });
    let end = frame(json!({}), "stop") + "data: [DONE]\n\n";
    let frames = frames.chain(stream::once(async { end }));
    sse_response(Body::from_stream(frames.map(Ok::<_, Infallible>)))
}

fn call((index, (name, arguments, _)): (usize, &(&str, &str, &str))) -> Value {
    let function = json!({ "name": name, "arguments": arguments });
    json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function })
}

fn frame(delta: Value, stop: impl Into<Option<&'static str>>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": stop.into() });
    let chunk = json!({ "id": "1", "object": "chat.completion.chunk", "created": 1, "model": "script", "choices": [choice] });
    format!("data: {chunk}\n\n")
}

fn sse_response(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}
