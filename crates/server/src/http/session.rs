//! A page brings the server's token once, and gets a pass for it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolwright_mcp::AccessDenied;

use super::{Context, body};
use crate::app::App;
use crate::guest::{Credential, Guest};
use crate::problem::Problem;

/// The longest body: a token and a little JSON around it.
const MOST: usize = 4 << 10;

#[derive(Deserialize)]
struct Brought {
    token: String,
}

pub(super) async fn begin(
    State(context): State<Context>,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let app: &Arc<App> = &context.app;
    let from = peer.map(|Extension(ConnectInfo(peer))| peer.ip());
    let brought: Brought = body::read_at_most(MOST, &app.limits, &headers, body).await?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", brought.token.trim()))
        .map_err(|_| Problem::invalid("a token is made of visible characters"))?;
    authorization.set_sensitive(true);
    app.guesses.add(from).map_err(|wait| {
        let message = "too many wrong tokens came from this address: wait a minute";
        Problem::busy(message).with_retry_after(wait)
    })?;
    let admitted = app.mcp.authenticate(Some(&authorization)).await;
    let wrong = |denied: &AccessDenied| denied.status() == StatusCode::UNAUTHORIZED;
    if !admitted.as_ref().is_err_and(wrong) {
        app.guesses.forgive(from);
    }
    let guest = Guest::new(admitted?, Credential::default());
    let cookie = app.passes.give(guest.owner(), authorization)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

pub(super) async fn end(State(context): State<Context>, headers: HeaderMap) -> Response {
    let cookie = context.app.passes.take(&headers);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
}
