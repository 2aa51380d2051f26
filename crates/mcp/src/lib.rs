//! MCP both ways: **any server's tools in a registry, any registry as a server.**
//!
//! As a server, one dispatcher handles every revision of the protocol over every transport: [`Revision`] has the differences
//! between revisions, a transport only carries messages. As a client, [`RemoteServer`] adds another server's tools and prompts to
//! a registry, pinned and bounded. Tools run through the invoker only.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "only HTTP has headers, statuses and resumed streams")
)]

mod elicit_response;
mod export;
#[cfg(feature = "http")]
mod http;
mod lock;
mod server;
mod stdio;

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod credential;
#[cfg(feature = "client")]
mod import;
#[cfg(feature = "client")]
mod pin;

#[cfg(feature = "client")]
pub use client::{
    AttachError, AttachLimits, AttachedServer, AttachmentStatus, ElicitHandler, ElicitInput,
    ElicitRequest, ISSUER_PIN, OAuthClient, PendingLogin, RedirectListener, RemoteItem,
    RemoteServer, Trust, UserAuthorizer,
};
#[cfg(feature = "client")]
pub use credential::{
    Credential, CredentialError, CredentialFuture, CredentialHolder, CredentialKey, CredentialKeys,
    CredentialStore, MemoryCredentials, SharedCredentials, StoredCredential,
};
pub use elicit_response::ElicitResponse;
#[cfg(feature = "http")]
pub use http::BoundMcpServer;
#[cfg(feature = "client")]
pub use pin::{
    FilePins, Fingerprint, MemoryPins, PinError, PinFuture, PinStatus, PinStore, SharedPins,
};
pub use server::{
    CallAttempt, CallRejection, ClientCapability, ClientPeer, LogLevel, McpBuildError, McpLimits,
    McpServeError, McpServer, McpServerBuilder, Revision, ServedResource,
};
#[cfg(feature = "http")]
pub use toolwright_auth::{
    AccessDenied, Authenticator, Claims, Identity, Jwks, ResourceServer, StaticTokens,
    TokenVerifier, VerifyError,
};
pub use toolwright_auth::{Principal, ScopeRule};

/// Items that the other crates of the workspace use; not covered by semantic versioning.
#[cfg(feature = "http")]
#[doc(hidden)]
pub mod __internal {
    pub use crate::http::connections::{accept_connections, serve_http1};
}
