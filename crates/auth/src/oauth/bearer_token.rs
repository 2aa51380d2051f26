//! An `Authorization` header in, its principal out, or a challenge that leads clients to the authorization server.

use axum::http::{HeaderMap, StatusCode, Uri, header};
use toolwright_core::Secret;

use super::oauth_authenticator::{AuthError, OAuthAuthenticator};
use crate::access_denied::AccessDenied;
use crate::principal::Principal;

/// Longer tokens are rejected without being verified.
const MAX_TOKEN_BYTES: usize = 16 << 10;

enum AuthorizationHeader<'h> {
    Token(&'h str),
    /// There is no header, or one of another scheme than `Bearer`.
    Missing,
    Malformed(&'static str),
}

/// Authenticates a request by its bearer token.
pub(crate) async fn authenticate(
    oauth: &OAuthAuthenticator,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<Principal, AccessDenied> {
    // Addresses end up in logs and histories: a token there is an error even if it is valid.
    let authorization = match has_token_in_query(uri) {
        true => {
            AuthorizationHeader::Malformed("send the token in the header, never in the address")
        }
        false => parse_authorization(headers),
    };
    let token = match authorization {
        AuthorizationHeader::Token(token) => Secret::new(token),
        AuthorizationHeader::Missing => {
            let challenge = oauth.challenge(None, &oauth.required_scopes());
            let message =
                "bring a token: `Authorization: Bearer …`; `resource_metadata` says who makes them";
            return Err(
                AccessDenied::new(StatusCode::UNAUTHORIZED, message).with_challenge(&challenge)
            );
        }
        AuthorizationHeader::Malformed(reason) => {
            let challenge = oauth.challenge(Some(("invalid_request", reason)), "");
            return Err(
                AccessDenied::new(StatusCode::BAD_REQUEST, reason).with_challenge(&challenge)
            );
        }
    };
    let principal = oauth.authenticate(&token).await;
    principal.map_err(|error| access_denied(oauth, error))
}

/// Adds the status and the challenge to an error of the token.
pub(crate) fn access_denied(oauth: &OAuthAuthenticator, error: AuthError) -> AccessDenied {
    match error {
        AuthError::InvalidToken(reason) => {
            let challenge =
                oauth.challenge(Some(("invalid_token", &reason)), &oauth.required_scopes());
            AccessDenied::new(StatusCode::UNAUTHORIZED, reason).with_challenge(&challenge)
        }
        AuthError::InsufficientScope(scopes) => {
            let reason = "the token lacks a scope that every request needs";
            let challenge = oauth.challenge(Some(("insufficient_scope", reason)), &scopes);
            AccessDenied::new(StatusCode::FORBIDDEN, reason).with_challenge(&challenge)
        }
        AuthError::Unavailable => AccessDenied::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "tokens cannot be verified now: try again",
        ),
    }
}

fn parse_authorization(headers: &HeaderMap) -> AuthorizationHeader<'_> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = values.next() else {
        return AuthorizationHeader::Missing;
    };
    if values.next().is_some() {
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
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    match token.len() {
        1..=MAX_TOKEN_BYTES if token.bytes().all(is_token_byte) => {
            AuthorizationHeader::Token(token)
        }
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
