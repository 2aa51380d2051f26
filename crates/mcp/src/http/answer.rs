//! Replies and refusals in, HTTP responses out.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use super::bearer::challenged;
use super::empty;
use crate::server::RpcError;
use crate::server::reply::Reply;

/// Makes the response of a request, with the status its reply says.
pub(super) fn reply(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    match reply.challenge {
        Some(challenge) => challenged(json(status, reply.body), &challenge),
        None => json(status, reply.body),
    }
}

/// Makes the response of a request in a revision where every reply is a success of HTTP, but for a challenge.
pub(super) fn reply_ok(mut reply: Reply) -> Response {
    if reply.challenge.is_none() {
        reply.status = 200;
    }
    self::reply(reply)
}

pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Refuses a request, in words that a client can show.
pub(super) fn refuse(status: StatusCode, code: i32, message: impl Into<String>) -> Response {
    json(
        status,
        Reply::error("null", &RpcError::new(code, message)).body,
    )
}

pub(super) fn accepted() -> Response {
    empty(StatusCode::ACCEPTED)
}

pub(super) fn not_allowed() -> Response {
    let mut response = refuse(
        StatusCode::METHOD_NOT_ALLOWED,
        -32600,
        "only POST is answered here; GET and DELETE need a session",
    );
    let allowed = HeaderValue::from_static("POST, GET, DELETE");
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

/// Asks to come back later.
pub(super) fn busy(message: &str) -> Response {
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, -32603, message);
    let later = HeaderValue::from_static("1");
    response.headers_mut().insert(header::RETRY_AFTER, later);
    response
}
