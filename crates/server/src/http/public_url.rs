//! The address by which clients reach the server, and the address of each.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts, OriginalUri};
use axum::http::Uri;
use axum::http::request::Parts;
use toolwright_auth::Authenticator;

use crate::endpoint::server_state::ServerState;
use crate::http::error_response::ErrorResponse;

/// The configured address: scheme, host, port, and the path that the server is below.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PublicUrl {
    scheme: String,
    authority: String,
    host: String,
    /// Empty, or a path without a slash at its end.
    path: String,
}

impl PublicUrl {
    /// Parses an address with `https`; `http` is for this machine only.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let malformed = || format!("`{text}`: write an address as `https://tools.example.com`");
        let uri: Uri = text.parse().map_err(|_| malformed())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(malformed());
        };
        let host = authority.host();
        let is_loopback = ["localhost", "127.0.0.1", "[::1]"].contains(&host);
        if scheme != "https" && !(scheme == "http" && is_loopback) {
            return Err(format!("`{text}`: write `https://…`; `http` is for this machine only"));
        }
        let path = uri.path().trim_end_matches('/');
        if authority.as_str().contains('@')
            || uri.query().is_some()
            || text.contains('#')
            || !path.chars().all(is_plain)
        {
            return Err(format!("`{text}`: leave out names, passwords, `?` and `#`"));
        }
        Ok(Self {
            scheme: scheme.to_owned(),
            authority: authority.as_str().to_owned(),
            host: host.to_owned(),
            path: path.to_owned(),
        })
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn is_https(&self) -> bool {
        self.scheme == "https"
    }
}

/// Where the client of a request is, and where it reaches the server.
pub(crate) struct ClientLocation {
    /// The address that limits count it by; `None` if the server was not told any.
    pub(crate) client: Option<IpAddr>,
    /// The path below which it reaches the server: `/`, or without a slash at its end.
    pub(crate) base_path: String,
    /// The host of the request, which was checked.
    host: Option<String>,
}

impl ClientLocation {
    fn new(server: &ServerState, request: &Parts) -> Result<Self, ErrorResponse> {
        let client = server.auth.client_of(request);
        let path = match &server.public_url {
            Some(url) => url.path.clone(),
            None => {
                let original = request.extensions.get().map_or(&request.uri, |OriginalUri(it)| it);
                let nested = original.path().strip_suffix(request.uri.path()).unwrap_or_default();
                format!("{}{nested}", removed_prefix(client.prefix)?)
            }
        };
        Ok(Self {
            client: client.address,
            base_path: if path.is_empty() { "/".to_owned() } else { path },
            host: Authenticator::host_of(request).map(str::to_owned),
        })
    }

    /// The address by which the client reaches the server, without a slash at its end: the configured one; else the host of the
    /// request, which is this machine.
    pub(crate) fn server_url(&self, server: &ServerState) -> Result<String, ErrorResponse> {
        if let Some(PublicUrl { scheme, authority, path, .. }) = &server.public_url {
            return Ok(format!("{scheme}://{authority}{path}"));
        }
        let is_host = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
        let host = self.host.as_deref().filter(|host| host.chars().all(is_host));
        let host = host.ok_or_else(|| ErrorResponse::bad_request("send a `Host` header"))?;
        Ok(format!("http://{host}{}", self.base_path.trim_end_matches('/')))
    }
}

impl<S: Sync> FromRequestParts<S> for ClientLocation
where
    Arc<ServerState>: FromRef<S>,
{
    type Rejection = ErrorResponse;

    async fn from_request_parts(request: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        Self::new(&Arc::<ServerState>::from_ref(state), request)
    }
}

/// Checks the path that a proxy has removed; returns it without a slash at its end. It becomes a part of a `Set-Cookie` header and of
/// addresses that browsers are sent to, where `//host` is another host.
fn removed_prefix(prefix: Option<&str>) -> Result<&str, ErrorResponse> {
    let prefix = prefix.unwrap_or_default().trim_end_matches('/');
    let is_path = prefix.starts_with('/') && !prefix.starts_with("//");
    if prefix.is_empty() || (is_path && prefix.chars().all(is_plain)) {
        return Ok(prefix);
    }
    let message = "the proxy sends a `X-Forwarded-Prefix` that is no path: it has to be like `/ai`";
    Err(ErrorResponse::bad_request(message))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/-._~%".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_path() {
        for (prefix, expected) in [(None, ""), (Some("/"), ""), (Some("/ai/"), "/ai")] {
            assert_eq!(removed_prefix(prefix).ok(), Some(expected), "{prefix:?}");
        }
        for bad in ["//evil.example", "///evil", "/\\evil", "ai", "https://evil", "/a;b", "/a b"] {
            assert!(removed_prefix(Some(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_https_or_loopback_addresses_without_extras_are_accepted() {
        for good in [
            "https://tools.example.com",
            "https://tools.example.com:8443/ai/",
            "http://localhost:8787",
            "http://[::1]:9/x",
        ] {
            assert!(PublicUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "tools.example.com",
            "/ai",
            "http://tools.example.com",
            "ftp://localhost",
            "https://ada:pw@tools.example.com",
            "https://tools.example.com/?a=b",
            "https://tools.example.com/#x",
            "https://tools.example.com/a;b",
            "",
        ] {
            assert!(PublicUrl::parse(bad).is_err(), "{bad}");
        }
    }
}
