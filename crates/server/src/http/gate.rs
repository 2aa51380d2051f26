//! A request in, the same with its caller out, or a refusal: before anything of it is read.
//!
//! Who is let in is the MCP server's guard to say, for every path alike.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use toolwright_mcp::AccessDenied;

use super::{console, cors};
use crate::app::App;
use crate::guest::{Credential, Guest};
use crate::pass::CookieSession;
use crate::problem::Problem;

/// Lets a request in, or refuses it.
pub(crate) async fn admit(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    // Clients of MCP bring tokens; a cookie would let pages in that nobody thought of there.
    let session = match is_under(request.uri().path(), "/mcp") {
        true => None,
        false => app.passes.show(request.headers_mut()),
    };
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let origin = cors::named(&app.origins, request.headers());
    let mut response = answered(&app, request, session, origin.is_some(), next).await;
    let status = response.status().as_u16();
    app.metrics.answered(status);
    tracing::debug!(%method, path, status, "a request is answered");
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    if let Some(origin) = origin {
        cors::allow(origin, headers);
    }
    response
}

/// The answer to a request, of a page that may read it or of somebody else.
async fn answered(
    app: &App,
    request: Request,
    session: Option<CookieSession>,
    may_read: bool,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let admitted = app.mcp.admit(&head).await;
    let mut request = Request::from_parts(head, body);
    let (method, path) = (request.method(), request.uri().path());
    let refused = admitted.as_ref().err().map(AccessDenied::status);
    if is_foreign(method, request.headers()) {
        let message = "a page of another origin has sent this request";
        return Problem::new(StatusCode::FORBIDDEN, "forbidden", message).into_response();
    }
    if may_read
        && refused != Some(StatusCode::FORBIDDEN)
        && let Some(answer) = cors::preflight(method, request.headers())
    {
        return answer;
    }
    if is_under(path, "/mcp") || is_under(path, "/.well-known") {
        // The MCP server lets in whom it likes itself.
        return next.run(request).await;
    }
    match admitted {
        Ok(visitor) => {
            // Handlers see a principal and no token; a connection that stays open has it checked again by itself.
            let authorization = request.headers_mut().remove(header::AUTHORIZATION);
            let credential = Credential {
                authorization,
                session,
            };
            request
                .extensions_mut()
                .insert(Guest::new(visitor, credential));
            next.run(request).await
        }
        // What shows nothing of anybody is for everybody: the page that asks for the token, too.
        Err(_) if refused == Some(StatusCode::UNAUTHORIZED) && is_public(path) => {
            next.run(request).await
        }
        Err(refusal) => Problem::from(refusal).into_response(),
    }
}

fn is_under(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_public(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/api/session") || console::has(path)
}

/// Returns true if a page of another origin has sent the request and the browser names no `Origin`; a page on another port of
/// the same host is one, too, and comes with the same cookies.
fn is_foreign(method: &Method, headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|it| it == value);
    let navigates = *method == Method::GET && is("sec-fetch-mode", "navigate");
    let elsewhere = is("sec-fetch-site", "cross-site") || is("sec-fetch-site", "same-site");
    elsewhere && !navigates && !headers.contains_key(header::ORIGIN)
}
