//! `/api/session`: exchanges a token for a session cookie, and ends the session.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolwright_auth::AccessDenied;

use crate::auth::request_context::{Credential, RequestContext};
use crate::endpoint::server_state::ServerState;
use crate::http::error_response::ErrorResponse;
use crate::http::{ApiState, body};

/// The largest body, in bytes: a token in a JSON object.
const MAX_BODY_BYTES: usize = 4 << 10;

#[derive(Deserialize)]
struct LoginRequest {
    token: String,
}

pub(crate) async fn log_in(
    State(state): State<ApiState>,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let app: &Arc<ServerState> = &state.server;
    let address = peer.map(|Extension(ConnectInfo(peer))| peer.ip());
    let request: LoginRequest =
        body::read_json_up_to(MAX_BODY_BYTES, &app.limits, &headers, body).await?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", request.token.trim()))
        .map_err(|_| ErrorResponse::bad_request("a token is made of visible characters"))?;
    authorization.set_sensitive(true);
    app.login_attempts.record_attempt(address).map_err(|wait| {
        let message = "too many wrong tokens came from this address: wait a minute";
        ErrorResponse::too_many_requests(message).with_retry_after(wait)
    })?;
    let admitted = app.auth.authenticate(Some(&authorization)).await;
    let is_unauthorized = |denied: &AccessDenied| denied.status() == StatusCode::UNAUTHORIZED;
    if !admitted.as_ref().is_err_and(is_unauthorized) {
        app.login_attempts.undo_attempt(address);
    }
    let context = RequestContext::new(admitted?, Credential::default());
    let cookie = app.cookie_sessions.issue(context.owner(), authorization)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

pub(crate) async fn log_out(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    let cookie = state.server.cookie_sessions.revoke(&headers);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
}
