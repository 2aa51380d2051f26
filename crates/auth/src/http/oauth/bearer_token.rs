//! An `Authorization` header in, its identity out, or a challenge that leads clients to the authorization server.

use axum::http::{HeaderMap, StatusCode, Uri, header};
use toolwright_core::Secret;

use super::OAuthAuthenticator;
use crate::http::access_denied::AccessDenied;
use crate::http::identity::Identity;

/// Longer tokens are rejected without being verified.
const MAX_TOKEN_BYTES: usize = 16 << 10;

impl OAuthAuthenticator {
    /// Authenticates a request by its bearer token.
    pub(crate) async fn authenticate_request(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Identity, AccessDenied> {
        // Addresses end up in logs and histories: a token there is an error even if it is valid.
        let token = match has_token_in_query(uri) {
            true => Err("send the token in the header, never in the address"),
            false => parse_authorization(headers),
        };
        match token {
            Ok(Some(token)) => self.authenticate(&Secret::new(token)).await,
            Ok(None) => {
                let message = "bring a token: `Authorization: Bearer …`; `resource_metadata` says who makes them";
                let challenge = self.challenge(None, &self.required_scopes());
                Err(AccessDenied::new(StatusCode::UNAUTHORIZED, message).with_challenge(&challenge))
            }
            Err(reason) => Err(self.denied(StatusCode::BAD_REQUEST, "invalid_request", reason, "")),
        }
    }
}

/// Returns the token; `None` if there is no header, or one of another scheme than `Bearer`.
fn parse_authorization(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err("send one `Authorization` header");
    }
    let text = first.to_str().map_err(|_| "the `Authorization` header is no text")?;
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(None);
    }
    let token = token.trim_matches(' ');
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    match token.len() {
        1..=MAX_TOKEN_BYTES if token.bytes().all(is_token_byte) => Ok(Some(token)),
        0..=MAX_TOKEN_BYTES => Err("write `Authorization: Bearer` and the token, no more"),
        _ => Err("no token is that long"),
    }
}

fn has_token_in_query(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default().as_bytes();
    url::form_urlencoded::parse(query).any(|(name, _)| name == "access_token")
}
