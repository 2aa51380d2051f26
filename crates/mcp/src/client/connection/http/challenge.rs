//! The authorization challenge of a server: the `WWW-Authenticate` header of a 401 or 403 response.

use reqwest::header::WWW_AUTHENTICATE;
use reqwest::{Response, StatusCode};
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};

use super::StreamableError;

/// A response with status 401, or 403 with a challenge.
#[derive(Clone, Debug)]
pub(crate) struct Challenge {
    /// The `WWW-Authenticate` header; empty where there is none.
    pub(crate) header: String,
    /// Whether the token is valid, but lacks a scope.
    pub(crate) is_insufficient_scope: bool,
}

impl Challenge {
    pub(super) fn from_response(response: &Response) -> Option<Self> {
        let header = response.headers().get(WWW_AUTHENTICATE);
        let header = header.and_then(|header| header.to_str().ok());
        match (response.status(), header) {
            (StatusCode::UNAUTHORIZED, header) => Some(Self {
                header: header.unwrap_or_default().to_owned(),
                is_insufficient_scope: false,
            }),
            (StatusCode::FORBIDDEN, Some(header)) => {
                Some(Self { header: header.to_owned(), is_insufficient_scope: true })
            }
            _ => None,
        }
    }

    /// The challenge of a failed handshake, of which rmcp has the header only.
    pub(crate) fn from_header(header: &str) -> Self {
        Self {
            header: header.to_owned(),
            is_insufficient_scope: header.contains("insufficient_scope"),
        }
    }

    pub(super) fn into_error(self) -> StreamableError {
        match self.is_insufficient_scope {
            false => StreamableError::AuthRequired(AuthRequiredError::new(self.header)),
            true => {
                let scope = self.scope();
                StreamableError::InsufficientScope(InsufficientScopeError::new(self.header, scope))
            }
        }
    }

    /// Returns the required scopes, separated by blanks.
    pub(crate) fn scope(&self) -> Option<String> {
        let (_, rest) = self.header.split_once("scope=")?;
        let scope = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?,
            None => rest.split([',', ' ']).next()?,
        };
        (!scope.is_empty()).then(|| scope.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_required_scopes_are_found() {
        let scope = |header: &str| Challenge::from_header(header).scope();
        let quoted = r#"Bearer error="insufficient_scope", scope="a:read b:write", x="y""#;
        assert_eq!(scope(quoted).as_deref(), Some("a:read b:write"));
        assert_eq!(scope("Bearer scope=a, error=x").as_deref(), Some("a"));
        assert_eq!(scope("Bearer"), None);
    }
}
