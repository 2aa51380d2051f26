//! Authentication of HTTP requests: **the head of a request in, a [`Principal`] or [`AccessDenied`] out.**
//!
//! An [`Authenticator`] checks host and origin, then the credential: the login of the program, a session of a person who has
//! signed in at an OpenID Connect provider ([`SignIn`]), a configured token or a token of an OAuth authorization server. Without credentials it accepts requests of this machine only. The scopes of an [`Identity`]
//! decide which tools its principal may use ([`ScopedTools`]). Servers at one address share one authenticator.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP requests have scopes"))]

#[cfg(feature = "http")]
mod access_denied;
#[cfg(feature = "http")]
mod authenticator;
#[cfg(feature = "http")]
mod error;
#[cfg(feature = "oauth")]
mod http_client;
#[cfg(feature = "http")]
mod identity;
#[cfg(feature = "http")]
mod login;
#[cfg_attr(not(feature = "oauth"), path = "oauth_disabled.rs")]
#[cfg(feature = "http")]
mod oauth;
mod principal;
#[cfg(feature = "http")]
mod scope_config;
mod scope_rules;
mod scoped_tools;
#[cfg(feature = "http")]
mod sign_in;
#[cfg(feature = "oauth")]
mod verify;
#[cfg(feature = "http")]
mod verify_error;

#[cfg(feature = "http")]
pub use access_denied::AccessDenied;
#[cfg(feature = "http")]
pub use authenticator::{Authenticator, AuthenticatorBuilder, SessionIdentity};
#[cfg(feature = "http")]
pub use error::AuthBuildError;
#[cfg(feature = "http")]
pub use identity::{ADMIN_ROLE, Identity};
#[cfg(feature = "http")]
pub use oauth::ResourceServer;
pub use principal::Principal;
#[cfg(feature = "http")]
pub use scope_config::Scopes;
pub use scope_rules::ScopeRule;
pub use scoped_tools::ScopedTools;
#[cfg(feature = "http")]
pub use sign_in::{
    AuthorizationResponse, OpenIdProvider, PendingSignIn, ProviderIdentity, ProviderTokens,
    RenewalOutcome, SignIn, SignInError, SignInOutcome,
};
#[cfg(feature = "oauth")]
pub use verify::{Claims, Jwks, StaticTokens, TokenVerifier};
#[cfg(feature = "http")]
pub use verify_error::VerifyError;
