//! An answer of 500 pieces in the protocols of front ends: a request to the server's router, without a network, until its last event.

use std::cell::Cell;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, header};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use toolwright::chat::ModelId;
use toolwright::server::ServerBuilder;
use toolwright::{Invoker, Registry};
use toolwright_bench::comparison::single_threaded_runtime;
use tower::ServiceExt as _;

use crate::Work;
use crate::scripted_model::ScriptedModel;

pub(crate) fn ai_sdk() -> Work {
    answer(async |router, conversation| {
        let parts = json!([{ "type": "text", "text": "Tell me." }]);
        let message = json!({ "id": "1", "role": "user", "parts": parts });
        let body = json!({ "id": conversation, "messages": [message] });
        read_until(&router, Method::POST, "/api/chat", Some(body), b"[DONE]").await;
    })
}

pub(crate) fn native() -> Work {
    answer(async |router, conversation| {
        let path = format!("/api/conversations/{conversation}/prompt");
        let body = json!({ "text": "Tell me." });
        read_until(&router, Method::POST, &path, Some(body), b"seq").await;
        let path = format!("/api/conversations/{conversation}/events?after=0");
        read_until(&router, Method::GET, &path, None, br#""type":"ended""#).await;
    })
}

pub(crate) fn openai() -> Work {
    answer(async |router, _| {
        let message = json!({ "role": "user", "content": "Tell me." });
        let body = json!({ "model": "script", "stream": true, "messages": [message] });
        read_until(&router, Method::POST, "/v1/chat/completions", Some(body), b"[DONE]").await;
    })
}

/// Asks in a new conversation each time.
fn answer(ask: impl AsyncFn(Router, String) + 'static) -> Work {
    let model = ScriptedModel { id: ModelId::new("script", ""), pace: Duration::ZERO };
    let invoker = Invoker::new(Registry::new()).unwrap();
    let runtime = single_threaded_runtime();
    let server = {
        let _guard = runtime.enter();
        ServerBuilder::new(invoker, model).mount_all().build().unwrap()
    };
    let router = server.router();
    let asked = Cell::new(0);
    Box::new(move || {
        asked.set(asked.get() + 1);
        runtime.block_on(ask(router.clone(), format!("c{}", asked.get())));
    })
}

/// Sends a request and reads its response until a chunk contains the end.
async fn read_until(router: &Router, method: Method, path: &str, body: Option<Value>, end: &[u8]) {
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/json")
        .extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4000))))
        .body(body)
        .unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let mut body = response.into_body();
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.unwrap().into_data() else { continue };
        read.extend_from_slice(&data);
        if read.ends_with(b"\n\n") && contains(&data, end) {
            return;
        }
    }
    assert!(
        status.is_success() && contains(&read, end),
        "{status}: {}",
        String::from_utf8_lossy(&read)
    );
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
