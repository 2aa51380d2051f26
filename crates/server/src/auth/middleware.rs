//! Middleware that authenticates a request before its body is read, and adds its [`RequestContext`].

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use toolwright_auth::{AccessDenied, Authenticator};

use super::cors;
use crate::auth::request_context::{Credential, RequestContext};
use crate::auth::session_cookie::CookieSession;
use crate::endpoint::server_state::ServerState;
use crate::http::cookie::append_cookies;
use crate::http::error_response::ErrorResponse;

static FETCH_SITE_HEADER: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What protects a group of routes.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) server: Arc<ServerState>,
    /// Its principals call the tools that these routes offer.
    pub(crate) auth: Authenticator,
    pub(crate) access: Access,
}

/// Who may use a group of routes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Access {
    /// Requests with a credential.
    Credential,
    /// As [`Credential`](Self::Credential); requests with a token may name any host, because monitoring programs address a node
    /// by its IP address.
    Monitoring,
    /// All requests.
    Public,
    /// All requests: the files of a page that asks for a token. If the program has a login page, those with a credential.
    Page,
    /// Requests with a credential other than a cookie: MCP clients send tokens, and pages must not reach these routes. The MCP
    /// server rejects in its own format; it has the same authenticator, which does not verify a token twice.
    Mcp,
}

impl Guard {
    pub(crate) fn new(server: &Arc<ServerState>, auth: &Authenticator) -> Self {
        Self { server: Arc::clone(server), auth: auth.clone(), access: Access::Credential }
    }
}

/// The middleware of a router: see [`protect`].
pub(crate) async fn authenticate(
    State(guard): State<Guard>,
    request: Request,
    next: Next,
) -> Response {
    protect(&guard, request, |request| next.run(request)).await
}

/// Authenticates a request and runs it; adds security headers to the response.
pub(crate) async fn protect<B, F>(
    guard: &Guard,
    mut request: Request<B>,
    run: impl FnOnce(Request<B>) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let server = &guard.server;
    let session = match guard.access {
        Access::Mcp => {
            request.headers_mut().remove(header::COOKIE);
            Ok(None)
        }
        Access::Credential | Access::Monitoring => {
            server.cookie_sessions.insert_authorization(&mut request, true).await
        }
        // People whose session is not accepted must be able to sign in again.
        Access::Public => Ok(None),
        // These routes are there without a credential, too; their responses may be cached.
        Access::Page => {
            let session = server.cookie_sessions.insert_authorization(&mut request, false).await;
            Ok(session.unwrap_or_default())
        }
    };
    let logged = tracing::enabled!(tracing::Level::DEBUG)
        .then(|| (request.method().clone(), request.uri().path().to_owned()));
    let origin = cors::allowed_origin(&server.allowed_origins, request.headers());
    let mut set_cookie = None;
    let mut response = match session {
        Ok(found) => {
            let session = found.map(|found| {
                set_cookie = found.set_cookie;
                found.session
            });
            authenticate_and_run(guard, request, session, origin.is_some(), run).await
        }
        Err(error) => ErrorResponse::from(error).into_response(),
    };
    let status = response.status().as_u16();
    server.metrics.record_response(status);
    if let Some((method, path)) = logged {
        tracing::debug!(%method, path, status, "a request is answered");
    }
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
    append_cookies(&mut response, set_cookie);
    response
}

/// Runs an authenticated request; `may_read` if its origin is allowed to read responses.
async fn authenticate_and_run<B, F>(
    guard: &Guard,
    request: Request<B>,
    session: Option<CookieSession>,
    may_read: bool,
    run: impl FnOnce(Request<B>) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let (mut head, body) = request.into_parts();
    let admitted = match guard.access == Access::Monitoring && session.is_none() {
        true => guard.auth.authenticate_program(&mut head).await,
        false => guard.auth.authenticate_request(&mut head).await,
    };
    let denied_status = admitted.as_ref().err().map(AccessDenied::status);
    let context = match guard.access {
        // The MCP server has contexts of its own.
        Access::Mcp => None,
        _ => Some(admitted.map(|principal| {
            RequestContext::new(principal, Credential::new(&guard.auth, &head, session))
        })),
    };
    let mut request = Request::from_parts(head, body);
    if is_cross_origin(request.method(), request.headers()) {
        let message = "a page of another origin has sent this request";
        return ErrorResponse::new(StatusCode::FORBIDDEN, "forbidden", message).into_response();
    }
    if may_read
        && denied_status != Some(StatusCode::FORBIDDEN)
        && let Some(answer) = cors::preflight_response(request.method(), request.headers())
    {
        return answer;
    }
    let is_unauthorized = denied_status == Some(StatusCode::UNAUTHORIZED);
    match context {
        None => run(request).await,
        Some(Ok(context)) => {
            // Handlers see a principal, not its token; long-lived connections verify the credential again by themselves.
            request.headers_mut().remove(header::AUTHORIZATION);
            request.extensions_mut().insert(context);
            run(request).await
        }
        Some(Err(_)) if is_unauthorized && guard.access == Access::Public => run(request).await,
        Some(Err(_)) if is_unauthorized && let Some(page) = login_page(guard, &request) => {
            let headers = [
                (header::LOCATION, page),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Some(Err(_)) if is_unauthorized && guard.access == Access::Page => run(request).await,
        Some(Err(denied)) => ErrorResponse::from(denied).into_response(),
    }
}

/// The page of the program's own login, if this request loads a page.
fn login_page<B>(guard: &Guard, request: &Request<B>) -> Option<HeaderValue> {
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let loads_page = *request.method() == Method::GET
        && accepted.is_some_and(|accepted| accepted.contains("text/html"));
    guard.server.login_page.clone().filter(|_| loads_page)
}

/// Returns true if a page of another origin has sent the request without an `Origin` header; another port of the same host
/// is another origin, too, and shares the cookies.
fn is_cross_origin(method: &Method, headers: &HeaderMap) -> bool {
    let Some(site) = headers.get(&FETCH_SITE_HEADER) else {
        return false;
    };
    let mode = headers.get("sec-fetch-mode");
    let navigates = *method == Method::GET && mode.is_some_and(|mode| mode == "navigate");
    let elsewhere = site == "cross-site" || site == "same-site";
    elsewhere && !navigates && !headers.contains_key(header::ORIGIN)
}
