//! `/api/login`: sign-in with a provider, in the browser.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_auth::{AuthorizationResponse, Identity, OpenIdProvider, SignInError};
use toolwright_core::SharedStateError;

use super::pending_sign_in::{self, BegunSignIn};
use crate::endpoint::server_state::ServerState;
use crate::http::cookie::append_cookies;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::{Path, Query};
use crate::http::json_response;
use crate::http::public_url::ClientLocation;

/// Longer paths to return to are rejected.
const MAX_RETURN_BYTES: usize = 1024;

#[derive(Deserialize)]
pub(crate) struct BeginQuery {
    /// The local path where the person wants to go on.
    #[serde(rename = "return")]
    return_to: Option<String>,
}

/// The parameters of an authorization response; others are ignored, the same one twice is an error.
#[derive(Deserialize)]
pub(crate) struct CallbackQuery {
    state: String,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// Why a person is not signed in: the kind that the console explains, and the response for other clients.
struct Failure {
    kind: &'static str,
    response: ErrorResponse,
}

/// `GET /api/login`: how a person can sign in.
pub(crate) async fn list_providers(
    State(app): State<Arc<ServerState>>,
) -> Result<Response, ErrorResponse> {
    let shown = |it: &OpenIdProvider| match it.is_unavailable() {
        false => json!({ "name": it.name(), "label": it.display_label() }),
        true => json!({ "name": it.name(), "label": it.display_label(), "unavailable": true }),
    };
    let providers: Vec<Value> = app.sign_in.providers().iter().map(shown).collect();
    // Where there is nothing else, a token is what is wanted.
    let takes_token = providers.is_empty() || app.auth.accepts_configured_tokens();
    json_response(StatusCode::OK, &json!({ "providers": providers, "token": takes_token }))
}

/// `GET /api/login/NAME?return=PATH`: sends the browser to the provider.
pub(crate) async fn begin(
    State(app): State<Arc<ServerState>>,
    Path(name): Path<String>,
    Query(query): Query<BeginQuery>,
    location: ClientLocation,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    let provider = find_provider(&app, &name)?;
    let base = &location.base_path;
    let return_to = match query.return_to {
        Some(path) => local_path(path)?,
        None => base.clone(),
    };
    let redirect_uri = format!("{}/api/login/{name}/callback", location.server_url(&app)?);
    let begun = provider.authorization_request(&redirect_uri).await;
    let (url, pending) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            let failure = Failure::new(provider, error);
            return failure.into_response(&app, &headers, base, Vec::new());
        }
    };
    let begun = BegunSignIn { provider: name, pending, return_to };
    let cookie_path = cookie_path(base, provider.name());
    redirect(&url, [begun.to_cookie(&cookie_path, app.has_secure_cookies())?])
}

/// `GET /api/login/NAME/callback`: completes a sign-in, and begins a session.
pub(crate) async fn complete(
    State(app): State<Arc<ServerState>>,
    Path(name): Path<String>,
    Query(query): Query<CallbackQuery>,
    location: ClientLocation,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    let provider = find_provider(&app, &name)?;
    let base = &location.base_path;
    let cookie_path = cookie_path(base, &name);
    let clear = BegunSignIn::clear_cookie(&query.state, &cookie_path, app.has_secure_cookies())?;
    match sign_in(&app, provider, query, &headers, base).await {
        Ok((set_cookie, return_to)) => redirect(&return_to, [set_cookie, clear]),
        Err(failure) => failure.into_response(&app, &headers, base, vec![clear]),
    }
}

/// Returns the `Set-Cookie` header of a new session, and where the person wants to go on.
async fn sign_in(
    app: &ServerState,
    provider: &OpenIdProvider,
    query: CallbackQuery,
    headers: &HeaderMap,
    base: &str,
) -> Result<(HeaderValue, String), Failure> {
    let CallbackQuery { state, code, iss, error } = query;
    let unavailable =
        |error: SharedStateError| Failure { kind: "unavailable", response: error.into() };
    let expired = || {
        let message = "this sign-in was not begun in this browser, has expired or was completed already: sign in again";
        Failure { kind: "expired", response: ErrorResponse::bad_request(message) }
    };
    let begun = BegunSignIn::from_cookie(headers, &state);
    let begun = begun.filter(|begun| begun.provider == provider.name()).ok_or_else(expired)?;
    let return_to = local_path(begun.return_to).map_err(|_| expired())?;
    let pending = begun.pending;
    if pending_sign_in::is_completed(&app.shared_state, &state).await.map_err(unavailable)? {
        return Err(expired());
    }
    let response = AuthorizationResponse { code, iss, error };
    let signed_in = provider.complete(&pending, &response).await;
    let signed_in = signed_in.map_err(|error| Failure::new(provider, error))?;
    let identity = Identity::from(signed_in.identity.clone());
    // A session that every request would be rejected with is not begun.
    app.auth
        .authenticate_session(identity)
        .map_err(|denied| Failure { kind: "not-allowed", response: denied.into() })?;
    let subject = signed_in.identity.subject.clone();
    if !pending_sign_in::complete(&app.shared_state, &state).await.map_err(unavailable)? {
        return Err(expired());
    }
    // A new value, whatever cookie the browser had: a planted one becomes no session.
    let set_cookie = app.cookie_sessions.issue_signed_in(provider.name(), signed_in, base).await;
    let set_cookie = set_cookie.map_err(|response| Failure { kind: "unavailable", response })?;
    tracing::info!(subject, provider = provider.name(), "a person has signed in");
    Ok((set_cookie, return_to))
}

impl Failure {
    fn new(provider: &OpenIdProvider, error: SignInError) -> Self {
        let message = error.to_string();
        match error {
            SignInError::Declined { .. } => Self {
                kind: "declined",
                response: ErrorResponse::new(StatusCode::FORBIDDEN, "forbidden", message),
            },
            SignInError::Unavailable { reason } => {
                tracing::warn!(provider = provider.name(), reason, "people cannot sign in");
                let status = StatusCode::SERVICE_UNAVAILABLE;
                let response = ErrorResponse::new(status, "unavailable", message);
                Self { kind: "unavailable", response }
            }
            _ => {
                tracing::warn!(provider = provider.name(), message, "a sign-in is rejected");
                Self { kind: "failed", response: ErrorResponse::unauthorized(message) }
            }
        }
    }

    /// Redirects to the console, which explains the kind, if a page is loaded and there is a console.
    fn into_response(
        self,
        app: &ServerState,
        headers: &HeaderMap,
        base: &str,
        cookies: Vec<HeaderValue>,
    ) -> Result<Response, ErrorResponse> {
        let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let loads_page = accepted.is_some_and(|accepted| accepted.contains("text/html"));
        if loads_page && app.paths().iter().any(|path| path == "/") {
            let console = format!("{base}#sign-in={}", self.kind);
            return redirect(&console, cookies);
        }
        let mut response = self.response.into_response();
        append_cookies(&mut response, cookies);
        Ok(response)
    }
}

fn find_provider<'a>(
    app: &'a ServerState,
    name: &str,
) -> Result<&'a OpenIdProvider, ErrorResponse> {
    let found = app.sign_in.find(name);
    found.ok_or_else(|| ErrorResponse::not_found("there is no sign-in provider of this name"))
}

/// The path of the cookies of a sign-in: they are sent to its callback only.
fn cookie_path(base: &str, provider: &str) -> String {
    format!("{}/api/login/{provider}", base.trim_end_matches('/'))
}

/// Accepts a path of this host, and nothing that a browser takes for the address of another one.
fn local_path(path: String) -> Result<String, ErrorResponse> {
    // `//host` and `/\host` are addresses; browsers ignore tabs and line breaks in them.
    let is_visible = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let is_local = path.starts_with('/') && !path.starts_with("//");
    if path.len() > MAX_RETURN_BYTES || !is_local || !path.bytes().all(is_visible) {
        return Err(ErrorResponse::bad_request("`return` is a path of this server: `/…`"));
    }
    Ok(path)
}

fn redirect(
    url: &str,
    cookies: impl IntoIterator<Item = HeaderValue>,
) -> Result<Response, ErrorResponse> {
    let location = HeaderValue::try_from(url).map_err(ErrorResponse::unencodable)?;
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let mut response = (StatusCode::SEE_OTHER, headers).into_response();
    append_cookies(&mut response, cookies);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_host_are_returned_to() {
        for good in ["/", "/ai/#/c/1", "/a?b=//c", "/a//b", "/%2F%2Fevil.example"] {
            assert!(local_path(good.to_owned()).is_ok(), "{good}");
        }
        for bad in [
            "",
            "https://evil.example/",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "\t//evil.example",
            " /x",
            "javascript:alert(1)",
            "evil.example",
            "/a\r\nset-cookie: x=y",
            "/ä",
            &format!("/{}", "a".repeat(MAX_RETURN_BYTES)),
        ] {
            assert!(local_path(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
