//! A page brings the server's token once, and gets a pass for it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::{Context, body};
use crate::app::App;
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
    if let Some(wait) = app.guesses.wait(from) {
        let message = "too many wrong tokens came from this address: wait a minute";
        return Err(Problem::busy(message).with_retry_after(wait));
    }
    let brought: Brought = body::read_at_most(MOST, &app.limits, &headers, body).await?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", brought.token.trim()))
        .map_err(|_| Problem::invalid("a token is made of visible characters"))?;
    authorization.set_sensitive(true);
    if let Err(denied) = app.mcp.authenticate(Some(&authorization)).await {
        app.guesses.add(from);
        return Err(denied.into());
    }
    let cookie = app.passes.give(authorization)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

pub(super) async fn end(State(context): State<Context>, headers: HeaderMap) -> Response {
    let cookie = context.app.passes.take(&headers);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
}
