//! A provider whose model follows the protocol that a request offers: it calls the tool of the task, or searches for it first.

use std::sync::{Arc, Mutex, MutexGuard};

use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};
use toolwright::Secret;
use toolwright::chat::{Model, ModelError};
use toolwright::models::{Transport, Vendor, WireRequest, WireResponse};

use crate::tasks::Task;
use crate::token_counter::{RequestBody, RequestSize, TokenCounter};

/// A vendor, and how its API writes a response.
pub(crate) struct WireFormat {
    pub(crate) vendor: &'static str,
    /// A model that has no tool search of its own.
    model: &'static str,
    /// The number of tokens that the model accepts.
    context: usize,
    write_call: fn(&str, &Value) -> String,
    write_text: fn(&str) -> String,
}

pub(crate) const WIRE_FORMATS: [WireFormat; 2] = [
    WireFormat {
        vendor: "openai-chat",
        model: "gpt-4.1",
        context: 1_047_576,
        write_call: write_openai_call,
        write_text: write_openai_text,
    },
    WireFormat {
        vendor: "anthropic",
        model: "claude-3-5-haiku-20241022",
        context: 200_000,
        write_call: write_anthropic_call,
        write_text: write_anthropic_text,
    },
];

/// What a tool of a task returns.
pub(crate) const RESULT: &str = "The task is done.";

/// Receives the requests of one model.
pub(crate) struct Provider {
    format: &'static WireFormat,
    state: Mutex<ProviderState>,
}

pub(crate) struct ProviderState {
    pub(crate) task: Option<Arc<Task>>,
    /// The requests since the task was set.
    pub(crate) requests: Vec<RequestSize>,
    counter: TokenCounter,
}

impl Provider {
    pub(crate) fn new(format: &'static WireFormat) -> Arc<Self> {
        let (task, requests, counter) = (None, Vec::new(), TokenCounter::new());
        Arc::new(Self { format, state: Mutex::new(ProviderState { task, requests, counter }) })
    }

    /// Returns the client of its model, with the body of every request as the vendor gets it.
    pub(crate) fn model(self: &Arc<Self>) -> Arc<dyn Model> {
        let builder = Vendor::by_name(self.format.vendor).unwrap().model(self.format.model);
        builder.api_key(Secret::new("a key")).transport(Arc::clone(self)).build().unwrap()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ProviderState> {
        self.state.lock().unwrap()
    }

    /// Writes the next response of the model.
    fn respond(&self, task: &Task, body: &RequestBody<'_>) -> String {
        let is_offered = |name: &str| body.tools_text().contains(&format!(r#""name":"{name}""#));
        let newest = body.newest_text();
        let call = |name: &str, arguments: &Value| (self.format.write_call)(name, arguments);
        if newest.contains(RESULT) {
            return (self.format.write_text)("Done.");
        }
        if is_offered(task.tool) {
            return call(task.tool, &task.arguments);
        }
        if is_offered("search_tools") && newest.contains(task.question) {
            return call("search_tools", &json!({"query": task.question}));
        }
        if newest.contains(&format!(r#""name":"{}""#, task.tool)) {
            return call("call_tool", &json!({"name": task.tool, "arguments": task.arguments}));
        }
        (self.format.write_text)("There is no tool for that.")
    }
}

impl Transport for Provider {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        let body: RequestBody<'_> = serde_json::from_str(&request.body).unwrap();
        let mut state = self.state();
        let size = state.counter.measure(&request.body, &body);
        state.requests.push(size);
        let task = Arc::clone(state.task.as_ref().unwrap());
        let response = match size.tokens > self.format.context {
            true => {
                let message = format!("{} tokens are more than the model accepts", size.tokens);
                let error = json!({"error": {"type": "invalid_request_error", "message": message}});
                WireResponse::new(400, error.to_string())
            }
            false => WireResponse::new(200, self.respond(&task, &body)),
        };
        async { Ok(response) }.boxed()
    }
}

fn openai_chunks(delta: &Value, finish: &str) -> String {
    let chunk = |delta: &Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "c", "choices": [choice]}))
    };
    chunk(delta, None) + &chunk(&json!({}), Some(finish)) + "data: [DONE]\n\n"
}

fn write_openai_call(name: &str, arguments: &Value) -> String {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": function});
    openai_chunks(&json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
}

fn write_openai_text(text: &str) -> String {
    openai_chunks(&json!({"role": "assistant", "content": text}), "stop")
}

fn anthropic_events(block: &Value, delta: &Value, reason: &str) -> String {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message =
        json!({"id": "m", "type": "message", "role": "assistant", "content": [], "usage": usage});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn write_anthropic_call(name: &str, arguments: &Value) -> String {
    let block = json!({"type": "tool_use", "id": "call_1", "name": name, "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": arguments.to_string()});
    anthropic_events(&block, &delta, "tool_use")
}

fn write_anthropic_text(text: &str) -> String {
    let delta = json!({"type": "text_delta", "text": text});
    anthropic_events(&json!({"type": "text", "text": ""}), &delta, "end_turn")
}
