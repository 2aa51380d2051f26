//! An `Authorization` header in, the visitor who brings it out, or the challenge that tells how to get a token.

use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use toolwright_core::Secret;

use super::answer::{self, refuse};
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
) -> Result<Visitor, Response> {
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
            return Err(refused(StatusCode::UNAUTHORIZED, message, &challenge));
        }
        Brought::Garbled(why) => {
            let challenge = door.challenge(Some(("invalid_request", why)), "");
            return Err(refused(StatusCode::BAD_REQUEST, why, &challenge));
        }
    };
    let admitted = door.admit(&server.0.whole.invoker, &token).await;
    admitted.map_err(|refusal| match refusal {
        Refusal::Token(why) => {
            let challenge = door.challenge(Some(("invalid_token", &why)), &door.first_scopes());
            refused(StatusCode::UNAUTHORIZED, &why, &challenge)
        }
        Refusal::Scopes(scopes) => {
            let why = "the token lacks a scope that every request needs";
            let challenge = door.challenge(Some(("insufficient_scope", why)), &scopes);
            refused(StatusCode::FORBIDDEN, why, &challenge)
        }
        Refusal::Unavailable => answer::busy("tokens cannot be verified now: try again"),
    })
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

/// Refuses a request, and says how to get what it lacks.
fn refused(status: StatusCode, message: &str, challenge: &str) -> Response {
    challenged(refuse(status, -32600, message), challenge)
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
