//! The routes of a server.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};

use crate::auth::{login, middleware};
use crate::endpoint::server_state::ServerState;
use crate::endpoint::{ASSISTANT_PATH, EndpointRuntime};
use crate::http::error_response::ErrorResponse;
use crate::protocols::native::conversation_list;
use crate::protocols::{ag_ui, ai_sdk, native, openai};

pub(crate) mod body;
pub(crate) mod console;
pub(crate) mod error_response;
mod info;
pub(crate) mod limits;
pub(crate) mod metrics;
mod openapi;
mod prompts;
pub(crate) mod serve;
mod tools;
mod write_timeout;

/// The state of the routes that exist once per server.
#[derive(Clone)]
pub(crate) struct ApiState {
    pub(crate) server: Arc<ServerState>,
    /// The endpoint of the console, at `/api/conversations`.
    pub(crate) assistant_endpoint: Arc<EndpointRuntime>,
    pub(crate) endpoints: Arc<[Arc<EndpointRuntime>]>,
}

/// The first segments that paths of endpoints may not have.
const RESERVED_SEGMENTS: &[&str] =
    &["api", "mcp", "v1", "agui", "healthz", "readyz", "metrics", ".well-known"];

/// Returns true if the server itself serves paths with this first segment.
pub(crate) fn is_reserved(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    let first = first.unwrap_or_default();
    RESERVED_SEGMENTS.contains(&first) || console::has_first_segment(first)
}

/// All routes of a server.
pub(crate) fn router(
    server: &Arc<ServerState>,
    endpoints: &[Arc<EndpointRuntime>],
    console: bool,
    mcp: bool,
) -> Router {
    let mut router = Router::new();
    for endpoint in endpoints {
        router = router.merge(endpoint_routes(endpoint));
    }
    if let Some(main) = endpoints
        .iter()
        .find(|endpoint| endpoint.template.collection_path() == Some(ASSISTANT_PATH))
    {
        router = router.merge(api_routes(ApiState {
            server: Arc::clone(server),
            assistant_endpoint: Arc::clone(main),
            endpoints: endpoints.into(),
        }));
    }
    if console {
        router = router.merge(console::router());
    }
    if mcp {
        router = router.nest("/mcp", server.mcp.router());
        router = router.merge(server.mcp.well_known_router());
    }
    router
        .fallback(async || ErrorResponse::not_found("nothing is at this path"))
        .method_not_allowed_fallback(async || {
            let message = "this path does not take that method";
            ErrorResponse::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
        })
        .layer(from_fn_with_state(Arc::clone(server), middleware::authenticate))
}

/// The routes of one endpoint, below its path.
fn endpoint_routes(endpoint: &Arc<EndpointRuntime>) -> Router {
    let path = &endpoint.template.path;
    let mut router = Router::new()
        .route(path, get(native::show_or_upgrade).delete(native::delete_conversation))
        .route(&format!("{path}/events"), get(native::subscribe_events))
        .route(&format!("{path}/prompt"), post(native::post_message))
        // No parameter of an endpoint's path has a hyphen.
        .route(&format!("{path}/queue/{{queue-position}}"), delete(native::withdraw_message))
        .route(&format!("{path}/decide"), post(native::post_decision))
        .route(&format!("{path}/stop"), post(native::stop_turn))
        .route(&format!("{path}/export"), get(native::export_journal))
        .route(&format!("{path}/chat"), post(ai_sdk::post_chat).get(ai_sdk::websocket::upgrade))
        .route(&format!("{path}/stream"), get(ai_sdk::resume_stream));
    router = match endpoint.template.collection_path() {
        // The default paths of the AI SDK's transport.
        Some(ASSISTANT_PATH) => router
            .route("/api/chat", post(ai_sdk::post_chat).get(ai_sdk::websocket::upgrade))
            .route("/api/chat/{id}/stream", get(ai_sdk::resume_stream))
            .route("/api/chat/{id}/stop", post(native::stop_turn)),
        Some(path) => router.route(path, post(ai_sdk::post_chat).get(ai_sdk::websocket::upgrade)),
        None => router,
    };
    router.with_state(Arc::clone(endpoint))
}

/// The routes that exist once per server.
fn api_routes(state: ApiState) -> Router {
    Router::new()
        .route("/api/info", get(info::show_info))
        .route("/api/session", post(login::log_in).delete(login::log_out))
        .route("/api/conversations", get(conversation_list::list_conversations))
        .route("/api/tools", get(tools::list_tools))
        .route("/api/tools/{name}", post(tools::call_tool))
        .route("/api/tools/{name}/lowered", get(tools::show_lowered_schema))
        .route("/api/prompts", get(prompts::list_prompts))
        .route("/api/prompts/{name}", post(prompts::render_prompt))
        .route("/api/openapi.json", get(openapi::show_openapi))
        .route("/agui", post(ag_ui::run))
        .route("/v1/chat/completions", post(openai::create_completion))
        .route("/v1/models", get(openai::list_models))
        .route("/v1/models/{name}", get(openai::show_model))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(state)
}

/// `/readyz`: whether a message would be accepted, so the store is readable and writable and the limit of running turns is
/// not reached.
async fn ready(State(state): State<ApiState>) -> Result<&'static str, ErrorResponse> {
    if state.server.shutdown.is_cancelled() {
        let message = "the server is about to end";
        return Err(ErrorResponse::new(StatusCode::SERVICE_UNAVAILABLE, "ending", message));
    }
    state.assistant_endpoint.store.list(1).await?;
    state.assistant_endpoint.check_admission(true).await?;
    Ok("ready\n")
}

async fn metrics(State(state): State<ApiState>) -> Result<Response, ErrorResponse> {
    let rooms = state.endpoints.iter().map(|endpoint| endpoint.room_count()).sum();
    let text = state.server.metrics.to_prometheus(rooms).map_err(ErrorResponse::unencodable)?;
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// A JSON response with `Cache-Control: no-store`.
pub(crate) fn json_response<T: serde::Serialize>(
    status: StatusCode,
    value: &T,
) -> Result<Response, ErrorResponse> {
    let body = serde_json::to_vec(value).map_err(ErrorResponse::unencodable)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((status, headers, body).into_response())
}
