//! `/api/me` and `/api/sessions`: the account and the sessions of the principal of the request.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use toolwright_core::__internal::unix_millis_of;

use super::login_sessions::key_prefix;
use super::request_context::RequestContext;
use crate::endpoint::server_state::ServerState;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Path;
use crate::http::json_response;

/// The maximum number of sessions that are listed: more than an owner can have.
const MAX_LISTED: usize = 2048;

/// `GET /api/me`: who the server takes the client for.
pub(crate) async fn show_me(
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let principal = context.principal();
    let roles: Vec<&str> = principal.roles().collect();
    let scopes: Vec<&str> = principal.scopes().collect();
    let expires = principal.expires_at().and_then(unix_millis_of);
    let me = json!({
        "subject": principal.subject(),
        "name": principal.display_name(),
        "roles": roles,
        "scopes": scopes,
        "expires": expires,
        "session": context.session_id().is_some(),
    });
    json_response(StatusCode::OK, &me)
}

/// `GET /api/sessions`: the sessions of the owner, the latest first.
pub(crate) async fn list_sessions(
    State(app): State<Arc<ServerState>>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let owner = context.owner();
    let prefix = key_prefix(&owner);
    let mut sessions = app.cookie_sessions.stored().list(Some(&owner), MAX_LISTED).await?;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.began));
    let own = context.session_id();
    let sessions: Vec<Value> = sessions
        .iter()
        .map(|session| {
            json!({
                // What begins all ids of the owner is left out.
                "id": session.id.strip_prefix(&prefix),
                "provider": session.provider,
                "began": session.began,
                "expires": session.expires,
                "current": own == Some(&*session.id),
            })
        })
        .collect();
    json_response(StatusCode::OK, &sessions)
}

/// `DELETE /api/sessions/ID`: ends a session of the owner.
pub(crate) async fn end_session(
    State(app): State<Arc<ServerState>>,
    Extension(context): Extension<RequestContext>,
    Path(id): Path<String>,
) -> Result<StatusCode, ErrorResponse> {
    let id = format!("{}{id}", key_prefix(&context.owner()));
    match app.cookie_sessions.end(&id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ErrorResponse::not_found("there is no such session")),
    }
}
