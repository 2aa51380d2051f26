//! Takes the place of `provider` without the feature `oauth`: the type has no values, so that callers need no case for it.

use std::convert::Infallible;

use toolwright_core::{Config, Secret};

use super::{
    AuthorizationResponse, PendingSignIn, RenewalOutcome, SignIn, SignInError, SignInOutcome,
};
use crate::error::AuthBuildError;

/// An OpenID Connect provider; the feature `oauth` is needed to make one.
#[derive(Clone, Debug)]
pub struct OpenIdProvider(Infallible);

impl OpenIdProvider {
    /// Returns the name of the provider in addresses and subjects.
    pub fn name(&self) -> &str {
        match self.0 {}
    }

    /// Returns the name that people see.
    pub fn display_label(&self) -> &str {
        match self.0 {}
    }

    /// Returns the address of the issuer.
    pub fn issuer(&self) -> &str {
        match self.0 {}
    }

    /// Starts a sign-in.
    ///
    /// # Errors
    ///
    /// Never, because there is no provider.
    pub async fn authorization_request(
        &self,
        _: &str,
    ) -> Result<(String, PendingSignIn), SignInError> {
        match self.0 {}
    }

    /// Completes a sign-in.
    ///
    /// # Errors
    ///
    /// Never, because there is no provider.
    pub async fn complete(
        &self,
        _: &PendingSignIn,
        _: &AuthorizationResponse,
    ) -> Result<SignInOutcome, SignInError> {
        match self.0 {}
    }

    /// Renews the tokens of a person.
    ///
    /// # Errors
    ///
    /// Never, because there is no provider.
    pub async fn renew(&self, _: &Secret, _: &str) -> Result<RenewalOutcome, SignInError> {
        match self.0 {}
    }

    /// Revokes a refresh token.
    pub async fn revoke(&self, _: &Secret) {
        match self.0 {}
    }

    /// Returns the address where the person signs out of the provider.
    pub async fn sign_out_url(&self, _: Option<&Secret>, _: &str) -> Option<String> {
        match self.0 {}
    }
}

impl SignIn {
    /// Returns `None`.
    ///
    /// # Errors
    ///
    /// When there is a section `[login]`: a server that ignored it would be less protected than its operator believes.
    pub fn from_config(config: &Config) -> Result<Option<Self>, AuthBuildError> {
        if config.keys_under("login").is_empty() {
            return Ok(None);
        }
        let message = "for `[login]`, enable the feature `oauth` of toolwright".to_owned();
        Err(AuthBuildError::SignIn { message })
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
            SignIn::from_config(&Config::load(sources).unwrap().config)
        };
        assert!(read("mcp.servers.a.url").unwrap().is_none());
        let message = read("login.corp.issuer").unwrap_err().to_string();
        assert!(message.contains("feature `oauth`"), "{message}");
    }
}
