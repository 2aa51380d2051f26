//! The address by which clients reach the server.

use axum::http::{HeaderMap, Uri, header};

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

/// The path below which the client of a request reaches the server: `/`, or without a slash at its end. That of the configured
/// address; else the prefix that a proxy has removed, and the one that the server is nested under.
pub(crate) fn base_path(
    server: &ServerState,
    headers: &HeaderMap,
    original: &Uri,
    uri: &Uri,
) -> String {
    let path = match &server.public_url {
        Some(url) => url.path.clone(),
        None => {
            let removed = headers.get("x-forwarded-prefix").and_then(|value| value.to_str().ok());
            let removed = removed.map_or("", |removed| removed.trim_end_matches('/'));
            // The value becomes a part of a header with other attributes.
            let removed =
                Some(removed).filter(|it| it.starts_with('/') && it.chars().all(is_plain));
            let nested = original.path().strip_suffix(uri.path()).unwrap_or_default();
            format!("{}{nested}", removed.unwrap_or_default())
        }
    };
    if path.is_empty() { "/".to_owned() } else { path }
}

/// The address by which the client of a request reaches the server, without a slash at its end: the configured one; else the host
/// of the request, which was checked, and is this machine.
pub(crate) fn server_url(
    server: &ServerState,
    headers: &HeaderMap,
    base_path: &str,
) -> Result<String, ErrorResponse> {
    if let Some(PublicUrl { scheme, authority, path, .. }) = &server.public_url {
        return Ok(format!("{scheme}://{authority}{path}"));
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_host = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    let host = host.filter(|host| host.chars().all(is_host));
    let host = host.ok_or_else(|| ErrorResponse::bad_request("send a `Host` header"))?;
    Ok(format!("http://{host}{}", base_path.trim_end_matches('/')))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/-._~%".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

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
