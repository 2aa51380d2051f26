//! `/api/connections`: connects the person to servers that everyone logs in to on their own.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use toolwright_core::__internal::random_hex;

use super::{ApiState, json_response as answer};
use crate::auth::request_context::RequestContext;
use crate::connections::{ConnectionError, PersonalConnections};
use crate::endpoint::server_state::ServerState;
use crate::http::cookie::{SameSite, SetCookie, append_cookies, cookie_named};
use crate::http::error_response::ErrorResponse;
use crate::http::extract::Path;
use crate::http::public_url::ClientLocation;

/// The path that browsers are redirected to.
pub(super) const CALLBACK_PATH: &str = "/api/connect/callback";

/// The path that they go on to, beside [`CALLBACK_PATH`].
pub(super) const FINISH_PATH: &str = "/api/connect/finish";

/// The cookie of the browser that has begun a login: no other browser can finish it.
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
    location: ClientLocation,
    Path(name): Path<String>,
) -> Result<Response, ErrorResponse> {
    let connections = connections(&state.server)?;
    if state.server.public_url.is_none() && state.server.auth.serves_other_hosts() {
        let message = "the server does not know its own address: set `url` of [server], such as https://chat.example";
        return Err(ErrorResponse::new(StatusCode::CONFLICT, "url", message));
    }
    let redirect = format!("{}{CALLBACK_PATH}", location.server_url(&state.server)?);
    let secret = random_hex(32).map_err(ErrorResponse::unencodable)?;
    let key = browser_key(&secret, &context);
    let link = connections.begin(context.subject(), &name, &redirect, &key).await?;
    let cookie = SetCookie {
        name: COOKIE_NAME,
        value: &secret,
        path: &location.base_path,
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

/// `GET /api/connect/callback`: sends the browser on to [`finish_connection`].
///
/// The browser comes from the page of another site, so it does not send the cookie of the session. It does so with the next request,
/// which this page makes.
pub(super) async fn return_to_server(RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let refresh = HeaderValue::try_from(format!("0; url=finish?{query}"));
    match refresh {
        Ok(refresh) => page(StatusCode::OK, "One moment …\n".to_owned(), Some(refresh)),
        Err(_) => page(StatusCode::BAD_REQUEST, "Not connected: no such login\n".to_owned(), None),
    }
}

/// `GET /api/connect/finish`: finishes a login, in the session that has begun it.
pub(super) async fn finish_connection(
    State(server): State<Arc<ServerState>>,
    Extension(context): Extension<RequestContext>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    match finish(&server, &context, &query, &headers).await {
        Ok(name) => {
            let text = format!("You are connected to {name}. Go back to the page before.\n");
            page(StatusCode::OK, text, None)
        }
        Err(ConnectionError::Unavailable(message)) => {
            page(StatusCode::SERVICE_UNAVAILABLE, format!("Not connected: {message}\n"), None)
        }
        Err(error) => page(StatusCode::BAD_REQUEST, format!("Not connected: {error}\n"), None),
    }
}

/// A page of plain text. Its address has a code that must not become the referrer of another request.
fn page(status: StatusCode, text: String, refresh: Option<HeaderValue>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let mut response = (status, headers, text).into_response();
    response.headers_mut().extend(refresh.map(|refresh| (header::REFRESH, refresh)));
    response
}

async fn finish(
    server: &ServerState,
    context: &RequestContext,
    query: &str,
    headers: &HeaderMap,
) -> Result<String, ConnectionError> {
    let unknown = || {
        let message =
            "this browser has no login that waits for it: begin it again, in the same browser";
        ConnectionError::NotFound(message.to_owned())
    };
    let connections = server.connections.as_ref().ok_or_else(unknown)?;
    let secret = cookie_named(headers, COOKIE_NAME).ok_or_else(unknown)?;
    let address = format!("http://localhost{CALLBACK_PATH}?{query}");
    connections.finish(&address, &browser_key(secret, context)).await
}

/// The key of a login: of the cookie and of the session, so that a cookie that was planted in the browser of another person connects
/// nobody's account.
fn browser_key(secret: &str, context: &RequestContext) -> String {
    let mut digest = Sha256::new_with_prefix(secret);
    for part in [context.subject(), context.session_id()] {
        digest.update(b"/");
        digest.update(HEXLOWER.encode(&Sha256::digest(part.unwrap_or_default())));
    }
    HEXLOWER.encode(&digest.finalize())
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
