//! MCP both ways: **any server's tools in a registry, any registry as a server.**
//!
//! As a server, one dispatcher handles every revision of the protocol over every transport: [`Revision`] has the differences
//! between revisions, a transport only carries messages. As a client, [`RemoteServer`] adds another server's tools and prompts to
//! a registry, pinned and bounded. Tools run through the invoker only.

mod elicit_response;
mod export;
mod http;
mod lock;
mod server;
mod stdio;

mod client;
mod import;
mod pin;

pub use client::{
    AttachError, AttachLimits, AttachedServer, AttachmentStatus, ElicitHandler, ElicitInput,
    ElicitRequest, OAuthClient, RemoteItem, RemoteServer, Trust, UserAuthorizer,
};
pub use elicit_response::ElicitResponse;
pub use http::BoundMcpServer;
pub use pin::{FilePins, Fingerprint, MemoryPins, PinError, PinStatus, PinStore};
pub use server::{
    ClientCapability, ClientPeer, LogLevel, McpBuildError, McpLimits, McpServeError, McpServer,
    McpServerBuilder, Revision, ServedResource,
};
pub use toolwright_auth::{
    AccessDenied, Authenticator, Claims, Jwks, Principal, ResourceServer, ScopeRule, StaticTokens,
    TokenVerifier, VerifyError,
};

/// Items that the other crates of the workspace use; not covered by semantic versioning.
#[doc(hidden)]
pub mod __internal {
    pub use crate::http::connections::{accept_connections, serve_http1};
}
