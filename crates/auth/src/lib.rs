//! Authentication of HTTP requests: **the head of a request in, a [`Principal`] or [`AccessDenied`] out.**
//!
//! An [`Authenticator`] checks host and origin, then the credential: the login of the program, a session of a person who has
//! signed in at an OpenID Connect provider ([`SignIn`]), a configured token or a token of an OAuth authorization server. Without credentials it accepts requests of this machine only. The scopes of an [`Identity`]
//! decide which tools its principal may use ([`ScopedTools`]). Servers at one address share one authenticator.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP requests have scopes"))]

#[cfg(feature = "http")]
mod http;
mod principal;
mod scope_rules;
mod scoped_tools;

#[cfg(feature = "http")]
pub use http::{
    ADMIN_ROLE, AccessDenied, AuthBuildError, Authenticator, AuthenticatorBuilder,
    AuthorizationResponse, Claims, ForwardedClient, Identity, Jwks, OpenIdProvider, PendingSignIn,
    ProviderIdentity, ProviderTokens, RenewalOutcome, ResourceServer, Scopes, SessionIdentity,
    SignIn, SignInError, SignInOutcome, StaticTokens, TokenVerifier, VerifyError,
};
pub use principal::Principal;
pub use scope_rules::ScopeRule;
pub use scoped_tools::ScopedTools;
