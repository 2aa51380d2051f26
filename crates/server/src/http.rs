//! The routes of a server.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::{FromRef, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolwright_auth::Authenticator;
use toolwright_schema::redact;

use crate::auth::middleware::{Access, Guard};
use crate::endpoint::EndpointRuntime;
use crate::endpoint::server_state::ServerState;
use crate::http::error_response::ErrorResponse;
use crate::http::mount::{PARTS, Part, PartRoutes};
use crate::http::mounted::Mounted;
use crate::http::routes::Routes;

mod approvals;
pub(crate) mod body;
pub(crate) mod branding;
mod connections;
pub(crate) mod console;
pub(crate) mod cookie;
pub(crate) mod error_response;
pub(crate) mod extract;
mod info;
pub(crate) mod limits;
pub(crate) mod metrics;
pub(crate) mod mount;
pub(crate) mod mounted;
mod openapi;
mod prompts;
pub(crate) mod public_url;
mod quota;
mod routes;
pub(crate) mod serve;
mod tools;
mod write_timeout;

/// The state of the routes that exist once per server.
#[derive(Clone)]
pub(crate) struct ApiState {
    pub(crate) server: Arc<ServerState>,
    /// The endpoint whose conversations these routes run; of `/api`, the one at `/api/conversations`.
    pub(crate) endpoint: Arc<EndpointRuntime>,
    /// The endpoints that have routes.
    pub(crate) endpoints: Arc<[Arc<EndpointRuntime>]>,
}

impl FromRef<ApiState> for Arc<ServerState> {
    fn from_ref(state: &ApiState) -> Self {
        Arc::clone(&state.server)
    }
}

/// Returns true if the server itself serves paths with this first segment, whether or not that part is mounted.
pub(crate) fn is_reserved(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    let first = first.unwrap_or_default();
    PARTS.iter().any(|row| row.segments.contains(&first)) || console::has_first_segment(first)
}

/// The routes of the endpoints and the mounted parts, and their paths.
pub(crate) fn router(server: &Arc<ServerState>, mounted: &Mounted) -> (Router, Vec<String>) {
    let (mut router, mut paths) = (Router::new(), Vec::new());
    let mut add = |routes: Vec<Routes>, auth: &Authenticator| {
        for routes in routes {
            let (protected, its_paths) = routes.protect(Guard::new(server, auth));
            router = std::mem::take(&mut router).merge(protected);
            paths.extend(its_paths);
        }
    };
    let has_ai_sdk = mounted.parts.iter().any(|(row, _)| row.part == Part::AiSdk);
    for endpoint in &mounted.endpoints {
        add(vec![mount::endpoint_routes(endpoint, has_ai_sdk)], &endpoint.auth);
    }
    for (row, endpoint) in &mounted.parts {
        match (&row.routes, endpoint) {
            (PartRoutes::Server(routes), _) => add(routes(server), server.auth_of(row.part)),
            (PartRoutes::Endpoint(routes), _) => {
                mounted.endpoints.iter().for_each(|it| add(routes(it), &it.auth));
            }
            (PartRoutes::Assistant(routes), Some(endpoint)) => {
                let state = ApiState {
                    server: Arc::clone(server),
                    endpoint: Arc::clone(endpoint),
                    endpoints: mounted.endpoints.as_slice().into(),
                };
                add(routes(&state), &endpoint.auth);
            }
            (PartRoutes::Assistant(_), None) => {}
        }
    }
    (router, paths)
}

/// The metadata of OAuth, which clients look for at the root of the host.
pub(crate) fn well_known_router(server: &Arc<ServerState>) -> Router {
    let Some(mcp) = &server.mcp else {
        return Router::new();
    };
    let routes = Routes::from_router(Access::Mcp, mcp.well_known_router(), Vec::new());
    routes.protect(Guard::new(server, mcp.authenticator())).0
}

/// The response to every path that has no route.
pub(crate) fn not_found_router(server: &Arc<ServerState>) -> Router {
    Routes::not_found().protect(Guard::new(server, &server.auth)).0
}

/// `/readyz`: whether a message would be accepted, so the store is readable and writable and the limit of running turns is
/// not reached. Without the bus, messages are accepted, and other nodes show them with a delay; without a provider that people
/// sign in with, those who are signed in go on. Both are noted, and another node would be no better.
///
/// 404 while the node drains, and 503 if it cannot accept messages: HAProxy lets requests end at a node that responds with 404
/// (`disable-on-404`), and closes its connections to one that fails. Other balancers send no requests to either.
async fn ready(State(server): State<Arc<ServerState>>) -> Result<String, ErrorResponse> {
    server.is_checked.store(true, Ordering::Relaxed);
    if server.draining.is_cancelled() {
        server.drain_noticed.notify_one();
        return Err(ErrorResponse::draining());
    }
    server.store.list(1).await?;
    server.check_capacity()?;
    server.store.check_writable().await?;
    let bus_error = server.bus.as_ref().and_then(|bus| bus.status().error);
    let bus_note =
        bus_error.map(|error| format!("the bus to other nodes is away: {}", redact(&error)));
    let notes: Vec<String> = bus_note.into_iter().chain(server.sign_in_warnings()).collect();
    Ok(match notes.is_empty() {
        true => "ready\n".to_owned(),
        false => format!("ready, but {}\n", notes.join("; ")),
    })
}

async fn show_metrics(State(server): State<Arc<ServerState>>) -> Result<Response, ErrorResponse> {
    let rooms = server.endpoints().map(|endpoint| endpoint.room_count()).sum();
    let bus = server.bus.as_ref().map(|bus| bus.status());
    let text = server.metrics.to_prometheus(rooms, bus.as_ref())?;
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
