//! A page brings the server's token once, and gets a pass for it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolwright_auth::AccessDenied;

use super::{ApiState, body};
use crate::error_response::ErrorResponse;
use crate::request_context::{Credential, RequestContext};
use crate::server_state::ServerState;

/// The longest body: a token and a little JSON around it.
const MAX_BODY_BYTES: usize = 4 << 10;

#[derive(Deserialize)]
struct LoginRequest {
    token: String,
}

pub(super) async fn log_in(
    State(context): State<ApiState>,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let app: &Arc<ServerState> = &context.server;
    let from = peer.map(|Extension(ConnectInfo(peer))| peer.ip());
    let brought: LoginRequest =
        body::read_json_up_to(MAX_BODY_BYTES, &app.limits, &headers, body).await?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", brought.token.trim()))
        .map_err(|_| ErrorResponse::bad_request("a token is made of visible characters"))?;
    authorization.set_sensitive(true);
    app.login_attempts.record_attempt(from).map_err(|wait| {
        let message = "too many wrong tokens came from this address: wait a minute";
        ErrorResponse::too_many_requests(message).with_retry_after(wait)
    })?;
    let admitted = app.auth.authenticate(Some(&authorization)).await;
    let wrong = |denied: &AccessDenied| denied.status() == StatusCode::UNAUTHORIZED;
    if !admitted.as_ref().is_err_and(wrong) {
        app.login_attempts.undo_attempt(from);
    }
    let guest = RequestContext::new(admitted?, Credential::default());
    let cookie = app.cookie_sessions.issue(guest.owner(), authorization)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

pub(super) async fn log_out(State(context): State<ApiState>, headers: HeaderMap) -> Response {
    let cookie = context.server.cookie_sessions.revoke(&headers);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
}
