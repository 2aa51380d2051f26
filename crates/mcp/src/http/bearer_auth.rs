//! An `Authorization` header in, the visitor who brings it out, or the challenge that tells how to get a token.

use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use toolwright_core::Secret;

use super::request_auth::AccessDenied;
use crate::auth::{AuthError, OAuthAuthenticator, Principal};
use crate::server::McpServer;

/// No token is longer.
const MAX_TOKEN_BYTES: usize = 16 << 10;

/// What an `Authorization` header brings.
enum AuthorizationHeader<'h> {
    Token(&'h str),
    /// No token: none was sent, or something of another kind.
    Missing,
    /// Something that is no header of this kind.
    Malformed(&'static str),
}

/// Lets in whoever brings a token that is good here.
pub(super) async fn authenticate_bearer(
    server: &McpServer,
    door: &OAuthAuthenticator,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<Principal, AccessDenied> {
    // Addresses end up in logs and histories: who sends a token there is told at once.
    let brought = match has_token_in_query(uri) {
        true => {
            AuthorizationHeader::Malformed("send the token in the header, never in the address")
        }
        false => parse_authorization(headers),
    };
    let token = match brought {
        AuthorizationHeader::Token(token) => Secret::new(token),
        AuthorizationHeader::Missing => {
            let challenge = door.challenge(None, &door.required_scopes());
            let message =
                "bring a token: `Authorization: Bearer …`; `resource_metadata` says who makes them";
            return Err(
                AccessDenied::new(StatusCode::UNAUTHORIZED, message).with_challenge(challenge)
            );
        }
        AuthorizationHeader::Malformed(why) => {
            let challenge = door.challenge(Some(("invalid_request", why)), "");
            return Err(AccessDenied::new(StatusCode::BAD_REQUEST, why).with_challenge(challenge));
        }
    };
    let admitted = door.authenticate(&server.0.all_tools.invoker, &token).await;
    admitted.map_err(|refusal| access_denied(door, refusal))
}

/// Says why a credential is not good enough.
pub(super) fn access_denied(door: &OAuthAuthenticator, refusal: AuthError) -> AccessDenied {
    match refusal {
        AuthError::InvalidToken(why) => {
            let challenge = door.challenge(Some(("invalid_token", &why)), &door.required_scopes());
            AccessDenied::new(StatusCode::UNAUTHORIZED, why).with_challenge(challenge)
        }
        AuthError::InsufficientScope(scopes) => {
            let why = "the token lacks a scope that every request needs";
            let challenge = door.challenge(Some(("insufficient_scope", why)), &scopes);
            AccessDenied::new(StatusCode::FORBIDDEN, why).with_challenge(challenge)
        }
        AuthError::Unavailable => AccessDenied::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "tokens cannot be verified now: try again",
        ),
    }
}

fn parse_authorization(headers: &HeaderMap) -> AuthorizationHeader<'_> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = sent.next() else {
        return AuthorizationHeader::Missing;
    };
    if sent.next().is_some() {
        return AuthorizationHeader::Malformed("send one `Authorization` header");
    }
    let Ok(text) = first.to_str() else {
        return AuthorizationHeader::Malformed("the `Authorization` header is no text");
    };
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return AuthorizationHeader::Missing;
    }
    let token = token.trim_matches(' ');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    match token.len() {
        1..=MAX_TOKEN_BYTES if token.bytes().all(plain) => AuthorizationHeader::Token(token),
        0..=MAX_TOKEN_BYTES => {
            AuthorizationHeader::Malformed("write `Authorization: Bearer` and the token, no more")
        }
        _ => AuthorizationHeader::Malformed("no token is that long"),
    }
}

fn has_token_in_query(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default().as_bytes();
    url::form_urlencoded::parse(query).any(|(name, _)| name == "access_token")
}

/// Adds a challenge to a refusal.
pub(super) fn add_challenge(mut response: Response, challenge: &str) -> Response {
    if let Ok(challenge) = HeaderValue::from_str(challenge) {
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
