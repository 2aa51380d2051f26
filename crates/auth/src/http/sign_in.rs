//! Sign-in of people at OpenID Connect providers: **an authorization response in, an identity and tokens out.**
//!
//! An [`OpenIdProvider`] runs the authorization code flow with PKCE ([OpenID Connect Core], [RFC 7636], [RFC 9700]). It keeps no
//! state of a sign-in: what has to be remembered between request and response is a [`PendingSignIn`], which the server stores
//! once and gives back once.
//!
//! [OpenID Connect Core]: https://openid.net/specs/openid-connect-core-1_0.html
//! [RFC 7636]: https://www.rfc-editor.org/rfc/rfc7636
//! [RFC 9700]: https://www.rfc-editor.org/rfc/rfc9700

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use toolwright_core::Secret;

use crate::http::identity::Identity;

mod config;
mod id_token;
mod identity_claims;
mod metadata;
mod provider;
mod token_endpoint;

pub(crate) use identity_claims::select_claims;
pub use provider::OpenIdProvider;

/// The providers that people can sign in with.
///
/// # Examples
///
/// ```
/// use toolwright::{Config, ConfigSources};
/// use toolwright::auth::SignIn;
///
/// let sources = ConfigSources::new().defaults([("login.corp.issuer", "https://login.example.com")]);
/// let missing = SignIn::from_config(&Config::load(sources)?.config).unwrap_err();
/// assert!(missing.to_string().contains("login.corp"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SignIn {
    providers: Vec<OpenIdProvider>,
}

impl SignIn {
    /// Sign-in without a provider.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a provider, in place of an earlier one of the same name.
    #[must_use]
    pub fn provider(mut self, provider: OpenIdProvider) -> Self {
        self.providers.retain(|other| other.name() != provider.name());
        self.providers.push(provider);
        self
    }

    /// Keeps these claims about people, by their names or paths; without it, nothing is kept but subject, name, scopes and roles.
    #[must_use]
    pub fn keep_claims(self, claims: &BTreeSet<String>) -> Self {
        let providers = self.providers.into_iter().map(|provider| provider.keep_claims(claims));
        Self { providers: providers.collect() }
    }

    /// Returns the providers, in the order in which they were added.
    pub fn providers(&self) -> &[OpenIdProvider] {
        &self.providers
    }

    /// Returns the provider of this name.
    pub fn find(&self, name: &str) -> Option<&OpenIdProvider> {
        self.providers.iter().find(|provider| provider.name() == name)
    }
}

/// What has to be remembered between an authorization request and its response: secret, and good for one response.
#[derive(Clone)]
pub struct PendingSignIn {
    /// Identifies the response.
    pub state: String,
    /// The nonce that the ID token must contain.
    pub nonce: String,
    /// The PKCE code verifier.
    pub code_verifier: String,
    /// The address that the response is sent to.
    pub redirect_uri: String,
}

impl std::fmt::Debug for PendingSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingSignIn").finish_non_exhaustive()
    }
}

/// The parameters of an authorization response, except its state.
#[derive(Clone, Default)]
pub struct AuthorizationResponse {
    /// The authorization code.
    pub code: Option<String>,
    /// The issuer that has sent the response (RFC 9207).
    pub iss: Option<String>,
    /// The code of an error, such as `access_denied`.
    pub error: Option<String>,
}

impl std::fmt::Debug for AuthorizationResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { iss, error, .. } = self;
        f.debug_struct("AuthorizationResponse")
            .field("iss", iss)
            .field("error", error)
            .finish_non_exhaustive()
    }
}

/// A person as a provider describes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderIdentity {
    /// The name of the provider and the provider's subject: `corp:24400320`.
    pub subject: String,
    /// The name that other people see.
    pub display_name: Option<String>,
    /// The scopes that the groups of the person grant.
    pub scopes: BTreeSet<String>,
    /// The roles that the groups of the person have.
    pub roles: BTreeSet<String>,
    /// The values of the claims that are kept.
    pub claims: BTreeMap<String, BTreeSet<String>>,
}

impl From<ProviderIdentity> for Identity {
    fn from(person: ProviderIdentity) -> Self {
        let mut identity = Self::new(person.subject).scopes(person.scopes).roles(person.roles);
        identity.claims = person.claims;
        match person.display_name {
            Some(name) => identity.display_name(name),
            None => identity,
        }
    }
}

/// The tokens of a person that the server keeps.
#[derive(Clone, Debug)]
pub struct ProviderTokens {
    /// Renews the tokens; `None` if the provider does not issue one.
    pub refresh_token: Option<Secret>,
    /// Identifies the person to the provider when they sign out.
    pub id_token: Option<Secret>,
    /// How long the provider vouches for the person before the tokens have to be renewed.
    pub expires_in: Duration,
}

/// A person who has signed in.
#[derive(Clone, Debug)]
pub struct SignInOutcome {
    /// The person.
    pub identity: ProviderIdentity,
    /// Their tokens.
    pub tokens: ProviderTokens,
}

/// Renewed tokens.
#[derive(Clone, Debug)]
pub struct RenewalOutcome {
    /// The person with their current groups; `None` if the provider does not describe them again.
    pub identity: Option<ProviderIdentity>,
    /// Their tokens, which take the place of the earlier ones.
    pub tokens: ProviderTokens,
}

/// Why a person is not signed in, or their tokens are not renewed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// The provider or the person has declined.
    #[error("the sign-in was declined ({code})")]
    Declined {
        /// The error code of the provider: visible ASCII characters.
        code: String,
    },
    /// The response of the provider, or a token in it, is invalid.
    #[error("{reason}")]
    Invalid {
        /// What is wrong; contains no part of a token.
        reason: String,
    },
    /// The refresh token is no longer valid: the person has to sign in again.
    #[error("the provider has ended the session")]
    Ended,
    /// The provider cannot be reached, or does not accept this server as a client.
    #[error("the sign-in provider cannot be used now")]
    Unavailable {
        /// Logged, not sent to the client.
        reason: String,
    },
}

impl SignInError {
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }

    pub(crate) fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into() }
    }
}

impl From<crate::http::verify_error::VerifyError> for SignInError {
    fn from(error: crate::http::verify_error::VerifyError) -> Self {
        use crate::http::verify_error::VerifyError;

        match error {
            VerifyError::InvalidToken { reason } => Self::Invalid { reason },
            VerifyError::Unavailable { reason } => Self::Unavailable { reason },
        }
    }
}
