//! Takes the place of `oauth` without that feature: its types have no values, so that callers need no case for it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use toolwright_core::Config;

use crate::access_denied::AccessDenied;
use crate::error::AuthBuildError;
use crate::identity::Identity;
use crate::scope_rules::ScopeRules;

/// The protected resource that tokens are issued for; the feature `oauth` is needed to make one.
pub struct ResourceServer {
    pub(crate) rules: ScopeRules,
    never: Infallible,
}

impl ResourceServer {
    /// Returns `None`.
    ///
    /// # Errors
    ///
    /// When there is a section `[mcp.oauth]`: a server that ignored it would be less protected than its operator believes.
    pub fn from_config(config: &Config) -> Result<Option<Self>, AuthBuildError> {
        let section = config.section("mcp.oauth");
        let is_required_key_set =
            ["issuer", "resource"].iter().any(|key| section.origin(key).is_some());
        if section.keys_under("").is_empty() && !is_required_key_set {
            return Ok(None);
        }
        Err(AuthBuildError::OAuth {
            message: "for `[mcp.oauth]`, enable the feature `oauth` of toolwright".to_owned(),
        })
    }
}

impl std::fmt::Debug for ResourceServer {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.never {}
    }
}

pub(crate) struct OAuthAuthenticator {
    pub(crate) host: String,
    pub(crate) scheme: String,
    never: Infallible,
}

impl OAuthAuthenticator {
    pub(crate) fn new(server: ResourceServer, _: Arc<ScopeRules>) -> Result<Self, AuthBuildError> {
        match server.never {}
    }

    pub(crate) fn issuer(&self) -> Option<&str> {
        match self.never {}
    }

    pub(crate) async fn authenticate_request(
        &self,
        _: &HeaderMap,
        _: &Uri,
    ) -> Result<Identity, AccessDenied> {
        match self.never {}
    }

    pub(crate) fn lacks_required_scope(&self, _: &str) -> AccessDenied {
        match self.never {}
    }

    pub(crate) fn insufficient_scope_challenge(&self, _: &str) -> String {
        match self.never {}
    }

    pub(crate) fn metadata_at(&self, _: &str) -> Option<&[u8]> {
        match self.never {}
    }
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    #[test]
    fn a_section_that_would_have_no_effect_is_an_error() {
        let read = |key: &'static str| {
            let sources = ConfigSources::new().defaults([(key, "https://login.example")]);
            ResourceServer::from_config(&Config::load(sources).unwrap().config)
        };
        assert!(read("mcp.servers.a.url").unwrap().is_none());
        let message = read("mcp.oauth.issuer").unwrap_err().to_string();
        assert!(message.contains("feature `oauth`"), "{message}");
    }
}
