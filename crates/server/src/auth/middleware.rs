//! Middleware that authenticates a request before its body is read, and adds its [`RequestContext`].
//!
//! One [`Authenticator`](toolwright_auth::Authenticator) decides for every path.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use toolwright_auth::AccessDenied;

use super::cors;
use crate::auth::request_context::{Credential, RequestContext};
use crate::auth::session_cookie::CookieSession;
use crate::endpoint::server_state::ServerState;
use crate::http::console;
use crate::http::error_response::ErrorResponse;

/// Authenticates a request and runs it; adds security headers to the response.
pub(crate) async fn authenticate(
    State(app): State<Arc<ServerState>>,
    mut request: Request,
    next: Next,
) -> Response {
    // MCP clients send tokens; accepting cookies would expose `/mcp` to requests of pages.
    let session = match is_path_under(request.uri().path(), "/mcp") {
        true => None,
        false => app.cookie_sessions.insert_authorization(request.headers_mut()),
    };
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let origin = cors::allowed_origin(&app.allowed_origins, request.headers());
    let mut response = authenticate_and_run(&app, request, session, origin.is_some(), next).await;
    let status = response.status().as_u16();
    app.metrics.record_response(status);
    tracing::debug!(%method, path, status, "a request is answered");
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Some(origin) = origin {
        cors::add_cors_headers(origin, headers);
    }
    response
}

/// Runs an authenticated request; `may_read` if its origin is allowed to read responses.
async fn authenticate_and_run(
    app: &ServerState,
    request: Request,
    session: Option<CookieSession>,
    may_read: bool,
    next: Next,
) -> Response {
    let (mut head, body) = request.into_parts();
    let admitted = app.auth.authenticate_request(&mut head).await;
    let mut request = Request::from_parts(head, body);
    let (method, path) = (request.method(), request.uri().path());
    let denied_status = admitted.as_ref().err().map(AccessDenied::status);
    if is_cross_origin(method, request.headers()) {
        let message = "a page of another origin has sent this request";
        return ErrorResponse::new(StatusCode::FORBIDDEN, "forbidden", message).into_response();
    }
    if may_read
        && denied_status != Some(StatusCode::FORBIDDEN)
        && let Some(answer) = cors::preflight_response(method, request.headers())
    {
        return answer;
    }
    if is_path_under(path, "/mcp") || is_path_under(path, "/.well-known") {
        // The MCP server rejects in its own format; it has the same authenticator, which does not verify a token twice.
        return next.run(request).await;
    }
    match admitted {
        Ok(principal) => {
            // Handlers see a principal, not its token; long-lived connections verify the credential again by themselves.
            let authorization = request.headers_mut().remove(header::AUTHORIZATION);
            let credential = Credential { authorization, cookie_session: session };
            request.extensions_mut().insert(RequestContext::new(principal, credential));
            next.run(request).await
        }
        // Public paths need no credential, among them the page that asks for the token.
        Err(_) if denied_status == Some(StatusCode::UNAUTHORIZED) && is_public(path) => {
            next.run(request).await
        }
        Err(denied) => ErrorResponse::from(denied).into_response(),
    }
}

fn is_path_under(path: &str, prefix: &str) -> bool {
    let rest = path.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_public(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/api/session") || console::is_console_path(path)
}

/// Returns true if a page of another origin has sent the request without an `Origin` header; another port of the same host
/// is another origin, too, and shares the cookies.
fn is_cross_origin(method: &Method, headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|it| it == value);
    let navigates = *method == Method::GET && is("sec-fetch-mode", "navigate");
    let elsewhere = is("sec-fetch-site", "cross-site") || is("sec-fetch-site", "same-site");
    elsewhere && !navigates && !headers.contains_key(header::ORIGIN)
}
