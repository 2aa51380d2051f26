//! The cost of a message that is accepted and answered at once, with and without quotas.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use toolwright::auth::Identity;
use toolwright::chat::{MemoryStore, Price, Prices, Store};
use toolwright::server::{QuotaLimits, QuotaSettings, ServerBuilder};
use toolwright::testing::FnModel;
use toolwright::{Invoker, Registry};
use toolwright_bench::{Comparison, Table};
use tower::ServiceExt as _;

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    println!("{}", compare(&runtime, "memory", &memory));
    let url = format!("sqlite:{}", directory.path().join("store.db").display());
    let sqlite = runtime.block_on(toolwright_store::open(&url)).unwrap();
    println!("{}", compare(&runtime, "SQLite", &sqlite));
}

/// Times a message with each limit, none of which is ever reached.
fn compare(runtime: &Runtime, name: &str, store: &Arc<dyn Store>) -> Table {
    const MANY: u64 = 1 << 50;
    let none = QuotaLimits::new();
    let rows = [
        ("without quotas", none),
        ("messages_per_minute", none.messages_per_minute(MANY)),
        ("concurrent_turns", none.concurrent_turns(16)),
        ("tokens_per_day", none.tokens_per_day(MANY)),
        ("cost_per_day", none.cost_per_day(1e9)),
        (
            "all four",
            none.messages_per_minute(MANY)
                .concurrent_turns(16)
                .tokens_per_day(MANY)
                .cost_per_day(1e9),
        ),
    ];
    let title = format!("a message and its answer, quotas in {name}");
    let comparison = Comparison::new(title, runtime);
    let comparison = rows.into_iter().fold(comparison, |comparison, (name, limits)| {
        let router = router(limits, Arc::clone(store));
        comparison.add_async_function(name, async move || complete(&router).await)
    });
    comparison.run()
}

fn router(limits: QuotaLimits, store: Arc<dyn Store>) -> Router {
    let prices = || Prices::default().with("function", Price::new(1.0, 1.0));
    let server = ServerBuilder::new(Invoker::new(Registry::new()).unwrap(), FnModel::echo())
        .store(store, "bench")
        .configure_chat(move |chat| chat.prices(prices()))
        .login(|_| std::future::ready(Ok(Some(Identity::new("ada")))))
        .quota(QuotaSettings::new(limits))
        .mount_all();
    server.build().unwrap().router()
}

/// Sends a message that is not stored, and returns the text of the answer.
async fn complete(router: &Router) -> String {
    let body = json!({ "model": "function", "messages": [{ "role": "user", "content": "Hi" }] });
    let request = Request::post("/v1/chat/completions")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let completion: Value = serde_json::from_slice(&bytes).unwrap();
    let text = completion["choices"][0]["message"]["content"].as_str();
    text.expect("an answer").to_owned()
}
