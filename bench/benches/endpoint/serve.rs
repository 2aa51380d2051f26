//! The servers in Rust: Toolwright, a minimal one that sends the same bytes, and the provider of the program's model.

use std::convert::Infallible;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use tokio::net::TcpListener;
use toolwright::chat::ModelId;
use toolwright::server::ServerBuilder;
use toolwright::{Invoker, Registry};

use crate::provider;
use crate::scripted_model::ScriptedModel;

/// Serves until the process is ended.
pub(crate) async fn serve_named(name: &str, pace: u64) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    match name {
        "floor" => {
            let router = baseline_router();
            println!("{addr}");
            let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
            axum::serve(listener, router).await.unwrap();
        }
        "provider" => {
            println!("{addr}");
            let router = provider::router(Duration::from_millis(pace));
            axum::serve(listener, router).await.unwrap();
        }
        _ => {
            let script =
                ScriptedModel { id: ModelId::new("script", ""), pace: Duration::from_millis(pace) };
            let invoker = Invoker::new(Registry::new()).unwrap();
            let server = ServerBuilder::new(invoker, script).mount_all().build().unwrap();
            println!("{addr}");
            server.serve(listener, std::future::pending()).await.unwrap();
        }
    }
}

/// Sends the events that it reads from stdin in response to any request.
fn baseline_router() -> Router {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    let events: Vec<Bytes> = input
        .split_inclusive("\n\n")
        .map(|event| Bytes::copy_from_slice(event.as_bytes()))
        .collect();
    let events: Arc<[Bytes]> = events.into();
    let whole = Arc::clone(&events);
    let chat = move |_: String| async move { sse_response(whole, false) };
    let native = move || async move { sse_response(events, true) };
    let prompt = async |_: String| {
        let json = [(header::CONTENT_TYPE, "application/json")];
        (StatusCode::ACCEPTED, json, r#"{"queued":false,"seq":0}"#)
    };
    Router::new()
        .route("/api/chat", post(chat))
        .route("/api/conversations/{id}/prompt", post(prompt))
        .route("/api/conversations/{id}/events", get(native))
}

/// Sends the events; with `keep_open`, the response does not end until the client disconnects.
fn sse_response(events: Arc<[Bytes]>, keep_open: bool) -> Response {
    let count = events.len();
    let events = stream::iter(0..count).map(move |at| events[at].clone());
    let body = match keep_open {
        true => Body::from_stream(events.chain(stream::pending()).map(Ok::<_, Infallible>)),
        false => Body::from_stream(events.map(Ok::<_, Infallible>)),
    };
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, body).into_response()
}
