//! Checks of the host, the origin and the peer address, before any credential is looked at.
//!
//! A page on some website can make a browser call this machine. Its `Origin` reveals that; after DNS rebinding, its `Host` does.
//! So both are checked for every request.

use std::net::SocketAddr;

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};

use super::{Authenticator, Credentials};
use crate::http::access_denied::AccessDenied;

/// Headers that a proxy adds, beside those that begin with [`FORWARDED_PREFIX`]: a request with one of them may come from
/// another machine, whatever its peer address is.
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

impl Authenticator {
    /// Checks that the host is one of this server, and that no page of another origin has sent the request.
    ///
    /// # Errors
    ///
    /// 403 for another host or origin, 400 where one of these headers comes twice.
    pub fn check_host_and_origin(&self, request: &Parts) -> Result<(), AccessDenied> {
        let headers = &request.headers;
        single_header(headers, &header::HOST)?;
        let host = Self::host_of(request);
        let Some(host) = host.filter(|host| is_allowed_host(&self.0.credentials, host)) else {
            let message = "this server does not answer for that host: name it with `--host`, or `allowed_hosts`";
            return Err(AccessDenied::new(StatusCode::FORBIDDEN, message));
        };
        if let Some(origin) = single_header(headers, &header::ORIGIN)?
            && !is_allowed_origin(&self.0.credentials, request, origin, host)
        {
            let message = "pages of that origin may not call this server: name it with `--origin`, or `allowed_origins`";
            return Err(AccessDenied::new(StatusCode::FORBIDDEN, message));
        }
        Ok(())
    }

    /// Returns the host that a request is for, with its port: of an absolute address in the request line, else of the `Host` header.
    pub fn host_of(request: &Parts) -> Option<&str> {
        let header = request.headers.get(header::HOST);
        let header = header.and_then(|host| std::str::from_utf8(host.as_bytes()).ok());
        // The header does not count beside an address (RFC 9112, section 3.2.2).
        request.uri.authority().map(Authority::as_str).or(header.map(str::trim_ascii))
    }
}

/// Checks that a request without credentials was made on this machine.
pub(super) fn check_loopback(
    headers: &HeaderMap,
    peer: Option<SocketAddr>,
) -> Result<(), AccessDenied> {
    let Some(peer) = peer else {
        let message = "without credentials only this machine is let in, and the server does not know where the request comes \
                       from: set a token, or serve the router with `into_make_service_with_connect_info::<SocketAddr>()`";
        return Err(AccessDenied::new(StatusCode::FORBIDDEN, message));
    };
    let is_proxy_header = |name: &HeaderName| {
        PROXY_HEADERS.contains(&name.as_str()) || name.as_str().starts_with(FORWARDED_PREFIX)
    };
    if headers.keys().any(is_proxy_header) || !peer.ip().to_canonical().is_loopback() {
        let message = "without credentials only this machine is let in, and no proxy: set a token";
        return Err(AccessDenied::new(StatusCode::FORBIDDEN, message));
    }
    Ok(())
}

/// Returns the value of a header, or a 400 if it comes more than once.
fn single_header<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h [u8]>, AccessDenied> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        let message = format!("send one `{name}` header");
        return Err(AccessDenied::new(StatusCode::BAD_REQUEST, message));
    }
    Ok(first.map(|value| value.as_bytes().trim_ascii()))
}

fn is_allowed_host(auth: &Credentials, host: &str) -> bool {
    let name = split_port(host).0;
    // The host of the resource that tokens are issued for is allowed without being named.
    let resource_host = auth.oauth.as_ref().map(|oauth| &oauth.host);
    let mut hosts = auth.allowed_hosts.iter().chain(resource_host);
    is_loopback_name(name) || hosts.any(|host| host.eq_ignore_ascii_case(name))
}

/// Returns true if requests for a host that is not this machine are accepted.
pub(super) fn has_other_hosts(auth: &Credentials) -> bool {
    let resource_host = auth.oauth.as_ref().map(|oauth| &oauth.host);
    let mut hosts = auth.allowed_hosts.iter().chain(resource_host);
    hosts.any(|host| !is_loopback_name(host))
}

/// Returns true if the origin is configured, or is the one that the request was sent to: the same scheme, host and port.
fn is_allowed_origin(auth: &Credentials, request: &Parts, origin: &[u8], host: &str) -> bool {
    let Ok(origin) = std::str::from_utf8(origin) else {
        return false;
    };
    let mut allowed = auth.allowed_origins.iter();
    if allowed.any(|allowed| allowed.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let default_port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    let ((own, own_port), (other, other_port)) = (split_port(host), split_port(authority));
    server_scheme(auth, request, own).is_none_or(|own| own.eq_ignore_ascii_case(scheme))
        && own.eq_ignore_ascii_case(other)
        && own_port.unwrap_or(default_port) == other_port.unwrap_or(default_port)
}

/// The scheme by which clients reach this server: what a trusted proxy says, or that of the resource that tokens are issued for; on
/// this machine there is no proxy that terminates TLS. `None` if the scheme is unknown.
fn server_scheme<'s>(auth: &'s Credentials, request: &'s Parts, host: &str) -> Option<&'s str> {
    let client = auth.trusted_proxies.client_of(&request.headers, &request.extensions);
    let oauth = auth.oauth.as_ref();
    let oauth = oauth.filter(|oauth| oauth.host.eq_ignore_ascii_case(host));
    let scheme = client.scheme.or(oauth.map(|oauth| oauth.scheme.as_str()));
    scheme.or(is_loopback_name(host).then_some("http"))
}

fn is_loopback_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "[::1]"
}

/// Splits off `:8080`, but not a part of `[::1]`.
fn split_port(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, port.parse().ok())
        }
        _ => (host, None),
    }
}
