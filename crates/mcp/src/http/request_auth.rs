//! A request's headers in, its caller out, or a refusal: before anything else is read.
//!
//! A page on some website can make a browser call this machine. Its `Origin` gives it away; after DNS
//! rebinding, its `Host` does. So both are checked always, not only when somebody thought of it.

use std::net::SocketAddr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;

use super::bearer_auth::{self, add_challenge};
use super::headers;
use super::responses::{self, rpc_error};
use crate::auth::Principal;
use crate::server::McpServer;

/// Headers that a proxy adds, beside those that begin with [`FORWARDED`]: a request with one of them may come from another
/// machine, whatever its address says.
const PROXY_HEADERS: &[&str] = &[
    "cf-connecting-ip",
    "forwarded",
    "true-client-ip",
    "via",
    "x-client-ip",
    "x-original-forwarded-for",
    "x-real-ip",
];
const FORWARDED_PREFIX: &str = "x-forwarded-";

/// Why a request is not let in, and what would help.
#[derive(Clone, Debug)]
pub struct AccessDenied {
    status: StatusCode,
    message: String,
    challenge: Option<String>,
}

impl AccessDenied {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            challenge: None,
        }
    }

    pub(super) fn with_challenge(mut self, challenge: impl Into<String>) -> Self {
        self.challenge = Some(challenge.into());
        self
    }

    /// Returns the status of the response: 400, 401, 403 or 503.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns what is wrong and what to do about it.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the `WWW-Authenticate` header that says which credential is needed.
    pub fn challenge(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(self.challenge.as_deref()?).ok()
    }

    /// Makes the response of the MCP server.
    pub(super) fn into_rpc_response(self) -> Response {
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            return responses::service_unavailable(&self.message);
        }
        let response = rpc_error(self.status, -32600, self.message);
        match self.challenge {
            Some(challenge) => add_challenge(response, &challenge),
            None => response,
        }
    }
}

/// Checks where a request comes from, and on whose behalf.
pub(super) async fn authenticate_request(
    server: &McpServer,
    headers: &HeaderMap,
    uri: &Uri,
    peer: Option<SocketAddr>,
) -> Result<Principal, AccessDenied> {
    check_host_and_origin(server, headers, uri)?;
    if server.allows_anonymous() {
        check_loopback(headers, peer)?;
    }
    authenticate(server, headers, uri).await
}

/// Finds out on whose behalf a request is made.
pub(super) async fn authenticate(
    server: &McpServer,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<Principal, AccessDenied> {
    match &server.0.oauth {
        Some(door) => bearer_auth::authenticate_bearer(server, door, headers, uri).await,
        None => authenticate_configured_token(server, headers),
    }
}

/// Checks that the host is ours, and that no page of another origin has sent the request.
pub(super) fn check_host_and_origin(
    server: &McpServer,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<(), AccessDenied> {
    let host = single_header(headers, &header::HOST)?;
    let host = host.or_else(|| uri.authority().map(|it| it.as_str().as_bytes()));
    let host = host.and_then(|host| std::str::from_utf8(host).ok());
    let Some(host) = host.filter(|host| is_allowed_host(server, host)) else {
        let message = "this server does not answer for that host: name it with `allowed_hosts`";
        return Err(AccessDenied::new(StatusCode::FORBIDDEN, message));
    };
    if let Some(origin) = single_header(headers, &header::ORIGIN)?
        && !is_allowed_origin(server, headers, origin, host)
    {
        let message = "pages of that origin may not call this server: name it with `--origin`, or `allowed_origins`";
        return Err(AccessDenied::new(StatusCode::FORBIDDEN, message));
    }
    Ok(())
}

/// Checks that a request without credentials was made on this machine.
fn check_loopback(headers: &HeaderMap, peer: Option<SocketAddr>) -> Result<(), AccessDenied> {
    let Some(peer) = peer else {
        let message = "without credentials only this machine is let in, and the server does not know where the request comes \
                       from: set a token, or serve the router with `into_make_service_with_connect_info::<SocketAddr>()`";
        return Err(AccessDenied::new(StatusCode::FORBIDDEN, message));
    };
    let forwarded = |name: &HeaderName| {
        PROXY_HEADERS.contains(&name.as_str()) || name.as_str().starts_with(FORWARDED_PREFIX)
    };
    let forwarded = headers.keys().any(forwarded);
    if forwarded || !peer.ip().to_canonical().is_loopback() {
        let message = "without credentials only this machine is let in, and no proxy: set a token";
        return Err(AccessDenied::new(StatusCode::FORBIDDEN, message));
    }
    Ok(())
}

/// Returns a header that may come once only, or a 400.
fn single_header<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h [u8]>, AccessDenied> {
    let twice = |_| {
        let message = format!("send one `{name}` header");
        AccessDenied::new(StatusCode::BAD_REQUEST, message)
    };
    headers::single_header(headers, name.as_str()).map_err(twice)
}

/// Finds whose token a request brings.
fn authenticate_configured_token(
    server: &McpServer,
    headers: &HeaderMap,
) -> Result<Principal, AccessDenied> {
    let sent = headers.get(header::AUTHORIZATION);
    let caller = server
        .0
        .tokens
        .authenticate(sent.map(HeaderValue::as_bytes));
    let (caller, identified) = caller.ok_or_else(|| {
        let message = "bring the server's token: `Authorization: Bearer …`";
        let denied = AccessDenied::new(StatusCode::UNAUTHORIZED, message);
        denied.with_challenge(match sent {
            Some(_) => r#"Bearer error="invalid_token""#,
            None => "Bearer",
        })
    })?;
    Ok(Principal::unrestricted(
        caller,
        identified,
        &server.0.all_tools,
    ))
}

fn is_allowed_host(server: &McpServer, host: &str) -> bool {
    let name = split_port(host).0;
    // The host that tokens name is this server's own.
    let named = server.0.oauth.as_ref().map(|door| &door.host);
    let mut hosts = server.0.hosts.iter().chain(named);
    is_loopback_name(name) || hosts.any(|it| it.eq_ignore_ascii_case(name))
}

/// Returns true if the origin was named, or is the one that the request was sent to: the same scheme, host and port.
fn is_allowed_origin(server: &McpServer, headers: &HeaderMap, origin: &[u8], host: &str) -> bool {
    let Ok(origin) = std::str::from_utf8(origin) else {
        return false;
    };
    let listed = &server.0.origins;
    if listed.iter().any(|it| it.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    let ((own, own_port), (theirs, their_port)) = (split_port(host), split_port(authority));
    server_scheme(server, headers, own).is_none_or(|own| own.eq_ignore_ascii_case(scheme))
        && own.eq_ignore_ascii_case(theirs)
        && own_port.unwrap_or(default) == their_port.unwrap_or(default)
}

/// The scheme by which clients reach this server: the first proxy in front says so, or the address that tokens are for; on this
/// machine there is no proxy that hides TLS. `None` if the scheme is unknown.
fn server_scheme<'s>(server: &'s McpServer, headers: &'s HeaderMap, host: &str) -> Option<&'s str> {
    let forwarded = headers.get("x-forwarded-proto");
    let forwarded = forwarded.and_then(|value| value.to_str().ok()?.split(',').next());
    let door = server.0.oauth.as_ref();
    let door = door.filter(|door| door.host.eq_ignore_ascii_case(host));
    let named = forwarded.map(str::trim);
    let named = named.or(door.map(|door| door.scheme.as_str()));
    named.or(is_loopback_name(host).then_some("http"))
}

fn is_loopback_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "[::1]"
}

/// Takes `:8080` away, but leaves `[::1]` whole.
fn split_port(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => {
            (name, port.parse().ok())
        }
        _ => (host, None),
    }
}
