//! MCP both ways: **any server's tools in a registry, any registry as a server.**
//!
//! As a server, one dispatcher answers every revision over every transport: what differs between revisions is asked of
//! [`Revision`], what differs between transports is how messages arrive. As a client, [`RemoteServer`] brings another server's tools
//! and prompts into a registry, pinned and bounded. Nothing here runs a tool by itself.

mod export;
mod http;
mod server;
mod stdio;

mod client;
mod import;
mod pin;

pub use client::{
    AttachError, AttachLimits, AttachedServer, AttachmentStatus, ElicitAnswer, ElicitHandler,
    ElicitInput, ElicitRequest, OAuthClient, RemoteItem, RemoteServer, Trust, UserAuthorizer,
};
pub use http::BoundMcpServer;
pub use pin::{FilePins, Fingerprint, MemoryPins, PinError, PinStatus, PinStore};
pub use server::{
    ClientCapability, ClientPeer, ElicitResponse, LogLevel, McpBuildError, McpLimits,
    McpServeError, McpServer, McpServerBuilder, Revision, ServedResource,
};
pub use toolwright_auth::{
    AccessDenied, Authenticator, Claims, Jwks, Principal, ResourceServer, ScopeRule, StaticTokens,
    TokenVerifier, VerifyError,
};
