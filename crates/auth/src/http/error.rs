//! The errors of building an authenticator.

use toolwright_core::{ConfigError, InvokerError};

/// Why an [`Authenticator`](crate::Authenticator) or a [`ResourceServer`](crate::ResourceServer) cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthBuildError {
    /// A token can be guessed.
    #[error("a token is too short: give one of at least 16 letters, or none")]
    TokenTooShort,
    /// A caller has the name that all users of a shared token have.
    #[error(
        "`token` is the name of callers who share a token: give the caller of `token_for` another one"
    )]
    ReservedCallerName,
    /// A trusted proxy is neither an address nor a network.
    #[error(
        "`{text}` is no trusted proxy: write an address or a network, such as `127.0.0.1` or `10.0.0.0/8`"
    )]
    TrustedProxy {
        /// The text as given.
        text: String,
    },
    /// The settings of OAuth are invalid.
    #[error("OAuth: {message}")]
    OAuth {
        /// What is wrong and what to write instead.
        message: String,
    },
    /// The settings of sign-in are invalid.
    #[error("sign-in: {message}")]
    SignIn {
        /// What is wrong and what to write instead.
        message: String,
    },
    /// A scope is granted or implied that does not exist.
    #[error("scopes: {message}")]
    Scopes {
        /// Who is granted it, and what to write instead.
        message: String,
    },
    /// A setting is missing or cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The tools that the scopes grant cannot be determined.
    #[error(transparent)]
    Invoker(#[from] InvokerError),
}
