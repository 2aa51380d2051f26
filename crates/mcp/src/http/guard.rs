//! A request's headers in, its caller out, or a refusal: before anything else is read.
//!
//! A page on some website can make a browser call this machine. Its `Origin` gives it away; after DNS
//! rebinding, its `Host` does. So both are checked always, not only when somebody thought of it.

use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;

use super::answer::refuse;
use super::bearer;
use crate::access::Visitor;
use crate::server::McpServer;

/// Checks where a request comes from, and on whose behalf.
pub(super) async fn admit(
    server: &McpServer,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<Visitor, Response> {
    place(server, headers, uri)?;
    match &server.0.door {
        Some(door) => bearer::admit(server, door, headers, uri).await,
        None => by_token(server, headers),
    }
}

/// Checks where a request comes from.
pub(super) fn place(server: &McpServer, headers: &HeaderMap, uri: &Uri) -> Result<(), Response> {
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    let host = host.or_else(|| uri.authority().map(|it| it.as_str().as_bytes()));
    if !host.is_some_and(|host| is_ours(server, host)) {
        let message = "this server does not answer for that host: name it with `allowed_hosts`";
        return Err(refuse(StatusCode::FORBIDDEN, -32600, message));
    }
    if let Some(origin) = headers.get(header::ORIGIN)
        && !may_call(server, origin.as_bytes())
    {
        let message =
            "pages of that origin may not call this server: name it with `allowed_origins`";
        return Err(refuse(StatusCode::FORBIDDEN, -32600, message));
    }
    Ok(())
}

/// Finds whose token a request brings.
fn by_token(server: &McpServer, headers: &HeaderMap) -> Result<Visitor, Response> {
    let sent = headers.get(header::AUTHORIZATION);
    let caller = server.0.tokens.caller(sent.map(HeaderValue::as_bytes));
    let caller = caller.ok_or_else(|| {
        let message = "bring the server's token: `Authorization: Bearer …`";
        let mut refusal = refuse(StatusCode::UNAUTHORIZED, -32600, message);
        let challenge = match sent {
            Some(_) => r#"Bearer error="invalid_token""#,
            None => "Bearer",
        };
        let challenge = HeaderValue::from_static(challenge);
        refusal
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
        refusal
    })?;
    Ok(Visitor::anywhere(caller, &server.0.whole))
}

fn is_ours(server: &McpServer, host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else {
        return false;
    };
    let name = without_port(host);
    // The host that tokens name is this server's own.
    let named = server.0.door.as_ref().map(|door| &door.host);
    let mut hosts = server.0.hosts.iter().chain(named);
    is_this_machine(name) || hosts.any(|it| it.eq_ignore_ascii_case(name))
}

fn may_call(server: &McpServer, origin: &[u8]) -> bool {
    let Ok(origin) = std::str::from_utf8(origin) else {
        return false;
    };
    let listed = server
        .0
        .origins
        .iter()
        .any(|it| it.eq_ignore_ascii_case(origin));
    let host = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    listed || host.is_some_and(|host| is_this_machine(without_port(host)))
}

fn is_this_machine(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "[::1]"
}

/// Takes `:8080` away, but leaves `[::1]` whole.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    }
}
