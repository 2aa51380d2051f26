//! `/api/connections`: connects the person to servers that everyone logs in to on their own.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{OriginalUri, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use toolwright_core::__internal::random_hex;

use super::{ApiState, json_response as answer};
use crate::auth::request_context::RequestContext;
use crate::connections::{ConnectionError, PersonalConnections};
use crate::endpoint::server_state::ServerState;
use crate::http::cookie::{SameSite, SetCookie, append_cookies, cookie_named};
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Path;
use crate::http::public_url::{base_path, server_url};

/// The path that browsers are redirected to.
pub(super) const CALLBACK_PATH: &str = "/api/connect/callback";

/// The cookie of the browser that has begun a login: another browser cannot finish it, so that a link cannot connect one person's
/// account for another person.
const COOKIE_NAME: &str = "toolwright_connect";

/// How long a login may take.
const LOGIN_LIFETIME: Duration = Duration::from_secs(10 * 60);

fn connections(server: &ServerState) -> Result<&Arc<dyn PersonalConnections>, ErrorResponse> {
    server.connections.as_ref().ok_or_else(|| {
        ErrorResponse::not_found("there is no server that people connect to on their own")
    })
}

pub(super) async fn list_connections(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let listed = match &state.server.connections {
        Some(connections) => connections.list(context.subject()).await?,
        None => Vec::new(),
    };
    answer(StatusCode::OK, &listed)
}

pub(super) async fn begin_connection(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    OriginalUri(original): OriginalUri,
    uri: Uri,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    let connections = connections(&state.server)?;
    if state.server.public_url.is_none() && state.server.auth.serves_other_hosts() {
        let message = "the server does not know its own address: set `url` of [server], such as https://chat.example";
        return Err(ErrorResponse::new(StatusCode::CONFLICT, "url", message));
    }
    let path = base_path(&state.server, &headers, &original, &uri);
    let base = server_url(&state.server, &headers, &path)?;
    let browser_key = random_hex(32).map_err(ErrorResponse::unencodable)?;
    let redirect = format!("{base}{CALLBACK_PATH}");
    let link = connections.begin(context.subject(), &name, &redirect, &browser_key).await?;
    let cookie = SetCookie {
        name: COOKIE_NAME,
        value: &browser_key,
        path: &path,
        // The browser comes back from the page of another site.
        same_site: SameSite::Lax,
        lifetime: LOGIN_LIFETIME,
        is_secure: state.server.has_secure_cookies(),
    };
    let cookie = cookie.to_header()?;
    let mut response = answer(StatusCode::OK, &json!({ "link": link }))?;
    append_cookies(&mut response, [cookie]);
    Ok(response)
}

pub(super) async fn finish_connection(
    State(server): State<Arc<ServerState>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let (status, text) = match finish(&server, query.as_deref().unwrap_or_default(), &headers).await
    {
        Ok(name) => {
            (StatusCode::OK, format!("You are connected to {name}. Go back to the page before.\n"))
        }
        Err(ConnectionError::Unavailable(message)) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("Not connected: {message}\n"))
        }
        Err(error) => (StatusCode::BAD_REQUEST, format!("Not connected: {error}\n")),
    };
    // The address has a code that must not become the referrer of another request.
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, text).into_response()
}

async fn finish(
    server: &ServerState,
    query: &str,
    headers: &HeaderMap,
) -> Result<String, ConnectionError> {
    let unknown = || {
        let message =
            "this browser has no login that waits for it: begin it again, in the same browser";
        ConnectionError::NotFound(message.to_owned())
    };
    let connections = server.connections.as_ref().ok_or_else(unknown)?;
    let browser_key = cookie_named(headers, COOKIE_NAME).ok_or_else(unknown)?;
    connections.finish(&format!("http://localhost{CALLBACK_PATH}?{query}"), browser_key).await
}

pub(super) async fn remove_connection(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
    Path(name): Path<String>,
) -> Result<Response, ErrorResponse> {
    match connections(&state.server)?.disconnect(context.subject(), &name).await? {
        true => Ok(StatusCode::NO_CONTENT.into_response()),
        false => Err(ErrorResponse::not_found(format!("you are not connected to `{name}`"))),
    }
}

impl From<ConnectionError> for ErrorResponse {
    fn from(error: ConnectionError) -> Self {
        let (status, kind) = match error {
            ConnectionError::NotFound(_) => (StatusCode::NOT_FOUND, "not_found"),
            ConnectionError::Failed(_) => (StatusCode::BAD_GATEWAY, "connection"),
            ConnectionError::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        Self::new(status, kind, error.to_string())
    }
}
