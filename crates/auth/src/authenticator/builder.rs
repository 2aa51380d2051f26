//! Tokens, OAuth, hosts and origins in, an authenticator out.

use std::sync::Arc;

use toolwright_core::{Invoker, Secret};

use super::configured_tokens::ConfiguredTokens;
use super::{Authenticator, Inner};
use crate::error::AuthBuildError;
use crate::oauth::{OAuthAuthenticator, ResourceServer};
use crate::scoped_tools::ScopedTools;

/// Builds an [`Authenticator`]; [`build`](AuthenticatorBuilder::build) reports invalid settings.
#[must_use = "nothing is authenticated before `.build()`"]
pub struct AuthenticatorBuilder {
    invoker: Invoker,
    /// Each with the name of its caller; without a name, several people share it.
    tokens: Vec<(Option<String>, Secret)>,
    oauth: Option<ResourceServer>,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
}

impl AuthenticatorBuilder {
    pub(super) fn new(invoker: Invoker) -> Self {
        Self {
            invoker,
            tokens: Vec::new(),
            oauth: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
        }
    }

    /// Accepts this token. Several people may share it: all of them are the caller named `token`.
    pub fn token(mut self, token: Secret) -> Self {
        self.tokens.push((None, token));
        self
    }

    /// Accepts this token as the caller of this name; can be repeated for other callers.
    pub fn token_for(mut self, caller: impl Into<String>, token: Secret) -> Self {
        self.tokens.push((Some(caller.into()), token));
        self
    }

    /// Accepts tokens of an authorization server, each as the caller that it names, for the tools that its scopes grant.
    ///
    /// Scopes filter the view that the invoker was built from: an invoker that was `adjusted` afterwards is rejected, and one
    /// that was `pinned` follows the registry again.
    pub fn oauth(mut self, oauth: ResourceServer) -> Self {
        self.oauth = Some(oauth);
        self
    }

    /// Names hosts that the server is reached by beside this machine's: `tools.example.com`, no port.
    pub fn allowed_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.allowed_hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Names other origins whose pages may call the server: `https://app.example.com`.
    pub fn allowed_origins<O: Into<String>>(
        mut self,
        origins: impl IntoIterator<Item = O>,
    ) -> Self {
        self.allowed_origins.extend(origins.into_iter().map(Into::into));
        self
    }

    /// Builds the authenticator.
    ///
    /// # Errors
    ///
    /// When a token is blank, or the settings of OAuth are invalid.
    pub fn build(self) -> Result<Authenticator, AuthBuildError> {
        let mut tokens = ConfiguredTokens::default();
        for (caller, token) in &self.tokens {
            tokens.add(caller.as_deref(), token)?;
        }
        if self.oauth.is_some() && !tokens.is_empty() {
            return Err(AuthBuildError::OAuth {
                message:
                    "there are tokens as well: name them in a `StaticTokens`, or leave them out"
                        .to_owned(),
            });
        }
        let oauth = self.oauth.map(|oauth| OAuthAuthenticator::new(oauth, &self.invoker));
        Ok(Authenticator(Arc::new(Inner {
            oauth: oauth.transpose()?,
            all_tools: Arc::new(ScopedTools::unrestricted(self.invoker)),
            tokens,
            allowed_hosts: self.allowed_hosts,
            allowed_origins: self.allowed_origins,
        })))
    }
}

impl std::fmt::Debug for AuthenticatorBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthenticatorBuilder").finish_non_exhaustive()
    }
}
