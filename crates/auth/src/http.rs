//! Authentication of HTTP requests: the head of a request in, an identity or a refusal out.

mod access_denied;
mod authenticator;
mod error;
mod forwarded;
mod http_client;
mod identity;
mod login;
mod oauth;
mod scope_config;
mod sign_in;
mod verify;
mod verify_error;

pub use access_denied::AccessDenied;
pub use authenticator::{Authenticator, AuthenticatorBuilder, SessionIdentity};
pub use error::AuthBuildError;
pub use forwarded::ForwardedClient;
pub use identity::{ADMIN_ROLE, Identity};
pub use oauth::ResourceServer;
pub use scope_config::Scopes;
pub use sign_in::{
    AuthorizationResponse, OpenIdProvider, PendingSignIn, ProviderIdentity, ProviderTokens,
    RenewalOutcome, SignIn, SignInError, SignInOutcome,
};
pub use verify::{Claims, Jwks, StaticTokens, TokenVerifier};
pub use verify_error::VerifyError;
