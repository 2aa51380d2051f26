//! JSON-RPC responses and errors in, HTTP responses out.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use toolwright_auth::AccessDenied;

use crate::server::{RpcError, RpcResponse};

/// The HTTP response with the status of the JSON-RPC response.
pub(super) fn from_rpc(response: RpcResponse) -> Response {
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::OK);
    let retry_after = response.retry_after;
    let mut response = with_challenge(json(status, response.body), response.challenge);
    let retry_after = retry_after.or((status == StatusCode::SERVICE_UNAVAILABLE).then_some(1));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// The response to a request that is rejected before its method is known, or that has no id.
pub(super) fn rejection(error: &RpcError) -> Response {
    from_rpc(RpcResponse::error("null", error))
}

/// The response to a request that is not authenticated.
pub(super) fn access_denied(denied: &AccessDenied) -> Response {
    if denied.status() == StatusCode::SERVICE_UNAVAILABLE {
        return service_unavailable(denied.message());
    }
    let response = rpc_error(denied.status(), -32600, denied.message());
    with_challenge(response, denied.challenge())
}

fn with_challenge(mut response: Response, challenge: Option<HeaderValue>) -> Response {
    if let Some(challenge) = challenge {
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// The HTTP response in revisions where errors have status 200, except those with a challenge.
pub(super) fn from_rpc_with_ok_status(mut response: RpcResponse) -> Response {
    if response.challenge.is_none() {
        response.status = 200;
    }
    from_rpc(response)
}

pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A JSON-RPC error without an id.
pub(super) fn rpc_error(status: StatusCode, code: i32, message: impl Into<String>) -> Response {
    let error = RpcError::new(code, message);
    json(status, RpcResponse::error("null", &error).body)
}

pub(super) fn empty(status: StatusCode) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Body::empty()).into_response()
}

pub(super) fn accepted() -> Response {
    empty(StatusCode::ACCEPTED)
}

pub(super) fn method_not_allowed() -> Response {
    let message = "only POST is answered here; GET and DELETE need a session";
    let response = rpc_error(StatusCode::METHOD_NOT_ALLOWED, -32600, message);
    ([(header::ALLOW, "POST, GET, DELETE")], response).into_response()
}

/// Status 503 with `Retry-After`.
pub(super) fn service_unavailable(message: &str) -> Response {
    let response = rpc_error(StatusCode::SERVICE_UNAVAILABLE, -32603, message);
    ([(header::RETRY_AFTER, "1")], response).into_response()
}
