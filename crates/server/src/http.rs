//! Requests in, answers out: which path is whose.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::app::App;
use crate::endpoint::{ASSISTANT, Live};
use crate::problem::Problem;

mod ag_ui;
mod body;
mod brought;
mod chat;
mod chat_socket;
mod console;
mod conversation;
mod cors;
mod gate;
mod info;
mod list;
mod openai;
mod openapi;
mod prompts;
mod session;
mod socket;
pub(crate) mod sse;
mod tools;
pub(crate) mod turn;

/// What the plain routes work on.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) app: Arc<App>,
    /// The endpoint that the console talks to.
    pub(crate) main: Arc<Live>,
    pub(crate) lives: Arc<[Arc<Live>]>,
}

/// What an endpoint's path may not begin with.
const TAKEN: &[&str] = &[
    "api",
    "mcp",
    "v1",
    "agui",
    "healthz",
    "readyz",
    "metrics",
    ".well-known",
];

/// Tells whether a path begins with what is ours.
pub(crate) fn is_taken(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    let first = first.unwrap_or_default();
    TAKEN.contains(&first) || console::begins(first)
}

/// All routes of a server.
pub(crate) fn router(app: &Arc<App>, lives: &[Arc<Live>], console: bool, mcp: bool) -> Router {
    let mut router = Router::new();
    for live in lives {
        router = router.merge(endpoint(live));
    }
    if let Some(main) = lives
        .iter()
        .find(|live| live.template.collection() == Some(ASSISTANT))
    {
        router = router.merge(plain(Context {
            app: Arc::clone(app),
            main: Arc::clone(main),
            lives: lives.into(),
        }));
    }
    if console {
        router = router.merge(console::router());
    }
    if mcp {
        router = router.nest("/mcp", app.mcp.router());
        router = router.merge(app.mcp.well_known());
    }
    router
        .fallback(async || Problem::unknown("nothing is at this path"))
        .method_not_allowed_fallback(async || {
            let message = "this path does not take that method";
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
        })
        .layer(from_fn_with_state(Arc::clone(app), gate::admit))
}

/// What every endpoint answers under its path.
fn endpoint(live: &Arc<Live>) -> Router {
    let path = &live.template.path;
    let mut router = Router::new()
        .route(path, get(conversation::show).delete(conversation::delete))
        .route(&format!("{path}/events"), get(conversation::events))
        .route(&format!("{path}/prompt"), post(conversation::prompt))
        .route(&format!("{path}/decide"), post(conversation::decide))
        .route(&format!("{path}/stop"), post(conversation::stop))
        .route(&format!("{path}/export"), get(conversation::export))
        .route(
            &format!("{path}/chat"),
            post(chat::send).get(chat_socket::open),
        )
        .route(&format!("{path}/stream"), get(chat::resume));
    router = match live.template.collection() {
        // Where front ends of the AI SDK look by themselves.
        Some(ASSISTANT) => router
            .route("/api/chat", post(chat::send).get(chat_socket::open))
            .route("/api/chat/{id}/stream", get(chat::resume))
            .route("/api/chat/{id}/stop", post(conversation::stop)),
        Some(path) => router.route(path, post(chat::send).get(chat_socket::open)),
        None => router,
    };
    router.with_state(Arc::clone(live))
}

/// What is there once.
fn plain(context: Context) -> Router {
    Router::new()
        .route("/api/info", get(info::show))
        .route("/api/session", post(session::begin).delete(session::end))
        .route("/api/conversations", get(list::list))
        .route("/api/tools", get(tools::list))
        .route("/api/tools/{name}", post(tools::call))
        .route("/api/tools/{name}/lowered", get(tools::lowered))
        .route("/api/prompts", get(prompts::list))
        .route("/api/prompts/{name}", post(prompts::render))
        .route("/api/openapi.json", get(openapi::show))
        .route("/agui", post(ag_ui::run))
        .route("/v1/chat/completions", post(openai::complete))
        .route("/v1/models", get(openai::models))
        .route("/v1/models/{name}", get(openai::model))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(context)
}

/// Whether a message would be accepted: conversations can be read and written, and not too many turns run.
async fn ready(State(context): State<Context>) -> Result<&'static str, Problem> {
    if context.app.ending.is_cancelled() {
        let message = "the server is about to end";
        return Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "ending",
            message,
        ));
    }
    context.main.store.list(1).await?;
    context.main.check_admission().await?;
    Ok("ready\n")
}

async fn metrics(State(context): State<Context>) -> Response {
    let rooms = context.lives.iter().map(|live| live.count()).sum();
    let text = context.app.metrics.text(rooms);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// An answer in JSON that nobody keeps.
pub(crate) fn json<T: serde::Serialize>(
    status: StatusCode,
    value: &T,
) -> Result<Response, Problem> {
    let body = serde_json::to_vec(value).map_err(|error| {
        let message = format!("the answer cannot be written: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    })?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((status, headers, body).into_response())
}
