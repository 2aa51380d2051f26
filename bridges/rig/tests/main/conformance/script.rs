//! A model that plays a script behind rig's own client of OpenAI's: only the network is missing.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::stream;
use rig::http_client::{
    BoxedStream, Error, HttpClientExt, LazyBody, MultipartForm, Request, Response,
    StreamingResponse,
};
use rig::providers::openai::OpenAIConfig;
use rig::{DynModel, operation::Completion};
use serde_json::{Value, json};
use toolwright::ToolCall;

/// What is answered, and what was asked.
#[derive(Clone, Default)]
pub(crate) struct ScriptedClient {
    answers: Arc<Mutex<Vec<String>>>,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl ScriptedClient {
    /// Plays the answers one after the other: each a list of deltas.
    pub(crate) fn new<const N: usize>(answers: [Vec<Value>; N]) -> Self {
        let script = Self::default();
        let answers = answers.into_iter().rev().map(|deltas| to_sse_body(&deltas));
        script.answers.lock().unwrap().extend(answers);
        script
    }

    /// The model.
    pub(crate) fn model(&self) -> DynModel<Completion> {
        let client = OpenAIConfig::new("no key").connect(self.clone());
        client.chat("scripted").erase()
    }

    /// The bodies of the requests.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

/// The delta of a text.
pub(crate) fn text_delta(text: &str) -> Value {
    json!({"content": text})
}

/// The delta of a call, the first, second … of an answer.
pub(crate) fn call_delta(index: usize, call: &ToolCall) -> Value {
    json!({"tool_calls": [{
        "index": index, "id": format!("call_{index}"), "type": "function",
        "function": {"name": call.name, "arguments": call.arguments.as_str()},
    }]})
}

fn to_sse_body(deltas: &[Value]) -> String {
    let called = deltas.iter().any(|delta| delta.get("tool_calls").is_some());
    let reason = if called { "tool_calls" } else { "stop" };
    let chunk = |delta: &Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let usage = reason
            .map(|_| json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}));
        json!({"id": "1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice], "usage": usage})
    };
    let chunks = deltas.iter().map(|delta| chunk(delta, None));
    let chunks = chunks.chain([chunk(&json!({}), Some(reason))]);
    let lines: String = chunks.map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{lines}data: [DONE]\n\n")
}

impl HttpClientExt for ScriptedClient {
    async fn send_streaming<T>(&self, request: Request<T>) -> Result<StreamingResponse, Error>
    where
        T: Into<Bytes> + Send,
    {
        let body: Bytes = request.into_body().into();
        let asked = serde_json::from_slice(&body).unwrap();
        self.requests.lock().unwrap().push(asked);
        let answer = self.answers.lock().unwrap().pop();
        let answer = answer.ok_or(Error::StreamEnded)?;
        let response = Response::builder().header("content-type", "text/event-stream");
        let body: BoxedStream = Box::pin(stream::iter([Ok(Bytes::from(answer))]));
        Ok(response.body(body)?)
    }

    #[expect(clippy::manual_async_fn, reason = "the future borrows nothing")]
    fn send<T, U>(
        &self,
        _: Request<T>,
    ) -> impl Future<Output = Result<Response<LazyBody<U>>, Error>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        async { Err(Error::StreamEnded) }
    }

    #[expect(clippy::manual_async_fn, reason = "the future borrows nothing")]
    fn send_multipart<U>(
        &self,
        _: Request<MultipartForm>,
    ) -> impl Future<Output = Result<Response<LazyBody<U>>, Error>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        async { Err(Error::StreamEnded) }
    }
}
