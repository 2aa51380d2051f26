//! Authentication of HTTP requests: **the head of a request in, a [`Principal`] or [`AccessDenied`] out.**
//!
//! An [`Authenticator`] checks host and origin, then the credential: a configured token or a token of an OAuth authorization
//! server. Without credentials it accepts requests of this machine only. The scopes of an OAuth token decide which tools its
//! principal may use ([`ScopedTools`]). Servers at one address share one authenticator.

mod access_denied;
mod authenticator;
mod error;
mod oauth;
mod principal;
mod scope_rules;
mod scoped_tools;
mod verify;

pub use access_denied::AccessDenied;
pub use authenticator::{Authenticator, AuthenticatorBuilder};
pub use error::AuthBuildError;
pub use oauth::ResourceServer;
pub use principal::Principal;
pub use scope_rules::ScopeRule;
pub use scoped_tools::ScopedTools;
pub use verify::{Claims, Jwks, StaticTokens, TokenVerifier, VerifyError};
