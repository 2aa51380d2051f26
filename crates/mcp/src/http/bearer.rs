//! An `Authorization` header in, the visitor who brings it out, or the challenge that tells how to get a token.

use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use toolwright_core::Secret;

use super::guard::AccessDenied;
use crate::access::{Door, Refusal, Visitor};
use crate::server::McpServer;

/// No token is longer.
const LONGEST: usize = 16 << 10;

/// What an `Authorization` header brings.
enum Brought<'h> {
    Token(&'h str),
    /// No token: none was sent, or something of another kind.
    Nothing,
    /// Something that is no header of this kind.
    Garbled(&'static str),
}

/// Lets in whoever brings a token that is good here.
pub(super) async fn admit(
    server: &McpServer,
    door: &Door,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<Visitor, AccessDenied> {
    // Addresses end up in logs and histories: who sends a token there is told at once.
    let brought = match in_query(uri) {
        true => Brought::Garbled("send the token in the header, never in the address"),
        false => brought(headers),
    };
    let token = match brought {
        Brought::Token(token) => Secret::new(token),
        Brought::Nothing => {
            let challenge = door.challenge(None, &door.first_scopes());
            let message =
                "bring a token: `Authorization: Bearer …`; `resource_metadata` says who makes them";
            return Err(
                AccessDenied::new(StatusCode::UNAUTHORIZED, message).with_challenge(challenge)
            );
        }
        Brought::Garbled(why) => {
            let challenge = door.challenge(Some(("invalid_request", why)), "");
            return Err(AccessDenied::new(StatusCode::BAD_REQUEST, why).with_challenge(challenge));
        }
    };
    let admitted = door.admit(&server.0.whole.invoker, &token).await;
    admitted.map_err(|refusal| denied(door, refusal))
}

/// Says why a credential is not good enough.
pub(super) fn denied(door: &Door, refusal: Refusal) -> AccessDenied {
    match refusal {
        Refusal::Token(why) => {
            let challenge = door.challenge(Some(("invalid_token", &why)), &door.first_scopes());
            AccessDenied::new(StatusCode::UNAUTHORIZED, why).with_challenge(challenge)
        }
        Refusal::Scopes(scopes) => {
            let why = "the token lacks a scope that every request needs";
            let challenge = door.challenge(Some(("insufficient_scope", why)), &scopes);
            AccessDenied::new(StatusCode::FORBIDDEN, why).with_challenge(challenge)
        }
        Refusal::Unavailable => AccessDenied::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "tokens cannot be verified now: try again",
        ),
    }
}

fn brought(headers: &HeaderMap) -> Brought<'_> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = sent.next() else {
        return Brought::Nothing;
    };
    if sent.next().is_some() {
        return Brought::Garbled("send one `Authorization` header");
    }
    let Ok(text) = first.to_str() else {
        return Brought::Garbled("the `Authorization` header is no text");
    };
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Brought::Nothing;
    }
    let token = token.trim_matches(' ');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    match token.len() {
        1..=LONGEST if token.bytes().all(plain) => Brought::Token(token),
        0..=LONGEST => Brought::Garbled("write `Authorization: Bearer` and the token, no more"),
        _ => Brought::Garbled("no token is that long"),
    }
}

fn in_query(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default().as_bytes();
    url::form_urlencoded::parse(query).any(|(name, _)| name == "access_token")
}

/// Adds a challenge to a refusal.
pub(super) fn challenged(mut response: Response, challenge: &str) -> Response {
    if let Ok(challenge) = HeaderValue::from_str(challenge) {
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
