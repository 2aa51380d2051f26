//! A page brings the server's token once, and gets a pass for it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::{Context, body};
use crate::app::App;
use crate::problem::Problem;

#[derive(Deserialize)]
struct Brought {
    token: String,
}

pub(super) async fn begin(
    State(context): State<Context>,
    uri: Uri,
    mut headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let app: &Arc<App> = &context.app;
    let brought: Brought = body::read(&app.limits, &headers, body).await?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", brought.token.trim()))
        .map_err(|_| Problem::invalid("a token is made of visible characters"))?;
    authorization.set_sensitive(true);
    headers.insert(header::AUTHORIZATION, authorization.clone());
    if let Err(refusal) = app.mcp.admit(&headers, &uri).await {
        return Err(Problem::stranger(refusal.status(), None));
    }
    let cookie = app.passes.give(authorization)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

pub(super) async fn end(State(context): State<Context>, headers: HeaderMap) -> Response {
    let cookie = context.app.passes.take(&headers);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
}
