//! CORS headers for pages of the origins that the operator has allowed.
//!
//! Authentication also accepts requests of pages on this machine; those get no CORS headers and cannot read the response.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The request headers that a page may send.
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
);
/// The response headers that a page may read.
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("mcp-session-id, retry-after, www-authenticate");
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("DELETE, GET, POST");

/// The origin of a request, if it is allowed.
pub(super) fn allowed_origin(origins: &[String], headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let text = origin.to_str().ok()?;
    let known = origins.iter().any(|it| it.eq_ignore_ascii_case(text));
    known.then(|| origin.clone())
}

/// The response to a preflight request; `None` for other requests.
pub(super) fn preflight_response(method: &Method, headers: &HeaderMap) -> Option<Response> {
    let asks =
        *method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    asks.then(|| {
        let headers = [
            (header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
            (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
        ];
        (StatusCode::NO_CONTENT, headers).into_response()
    })
}

/// Adds the headers that let the page read the response.
pub(super) fn add_cors_headers(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
