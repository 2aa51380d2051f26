//! `/api/session`: exchanges a token for a session cookie, and ends the session.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use toolwright_auth::AccessDenied;

use crate::auth::request_context::{Credential, RequestContext};
use crate::endpoint::server_state::ServerState;
use crate::http::error_response::ErrorResponse;
use crate::http::public_url::ClientLocation;
use crate::http::{body, json_response};

/// The largest body, in bytes: a token in a JSON object.
const MAX_BODY_BYTES: usize = 4 << 10;

#[derive(Deserialize)]
struct LoginRequest {
    token: String,
}

pub(crate) async fn log_in(
    State(app): State<Arc<ServerState>>,
    location: ClientLocation,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let request: LoginRequest =
        body::read_json_up_to(MAX_BODY_BYTES, &app.limits, &headers, body).await?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", request.token.trim()))
        .map_err(|_| ErrorResponse::bad_request("a token is made of visible characters"))?;
    authorization.set_sensitive(true);
    let head = Request::builder().header(header::AUTHORIZATION, authorization.clone()).body(());
    let (head, ()) = head.map_err(ErrorResponse::unencodable)?.into_parts();
    let admitted = app.auth.authenticate(&head).await;
    let is_unauthorized = |denied: &AccessDenied| denied.status() == StatusCode::UNAUTHORIZED;
    if admitted.as_ref().is_err_and(is_unauthorized) {
        app.failed_logins.record(location.client).await.map_err(|wait| {
            let message = "too many wrong tokens came from this address: wait a minute";
            ErrorResponse::too_many_requests(message).with_retry_after(wait)
        })?;
    }
    let context = RequestContext::new(admitted?, Credential::none(&app.auth));
    let path = &location.base_path;
    let cookie = app.cookie_sessions.issue(&context.owner(), authorization, path).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// Ends the session of the cookie; the response names the address where the person signs out of the provider, too.
pub(crate) async fn log_out(
    State(app): State<Arc<ServerState>>,
    location: ClientLocation,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    let path = &location.base_path;
    let ended = app.cookie_sessions.revoke(&headers, path).await?;
    let cookie = [(header::SET_COOKIE, ended.set_cookie)];
    let Some(person) = ended.signed_in else {
        return Ok((StatusCode::NO_CONTENT, cookie).into_response());
    };
    let Some(provider) = app.sign_in.find(&person.provider) else {
        return Ok((StatusCode::NO_CONTENT, cookie).into_response());
    };
    if let Some(token) = person.refresh_token() {
        provider.revoke(&token).await;
    }
    // Below a prefix the console has no slash at its end.
    let slash = if path == "/" { "/" } else { "" };
    let return_to = format!("{}{slash}", location.server_url(&app)?);
    match provider.sign_out_url(person.id_token().as_ref(), &return_to).await {
        Some(url) => {
            let response = json_response(StatusCode::OK, &json!({ "logout": url }))?;
            Ok((cookie, response).into_response())
        }
        None => Ok((StatusCode::NO_CONTENT, cookie).into_response()),
    }
}
