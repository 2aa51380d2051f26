//! MCP both ways: **any server's tools in a registry, any registry as a server.**
//!
//! As a server, one dispatcher answers every revision over every transport: what differs between revisions is asked of
//! [`Revision`], what differs between transports is how messages arrive. As a client, [`Attach`] brings another server's tools
//! and prompts into a registry, pinned and bounded. Nothing here runs a tool by itself.

mod access;
mod export;
mod http;
mod server;
mod stdio;

mod client;
mod import;
mod pin;

pub use access::{Claims, Jwks, Opens, ResourceServer, TokenTable, Unverified, Verifier, Visitor};
pub use client::{
    Answer, Attach, AttachError, Attached, Authorize, Elicit, Limits as AttachLimits, Listed,
    OAuth, Question, Status, Trust, Wanted,
};
pub use http::{AccessDenied, Bound};
pub use pin::{FilePins, Fingerprint, MemoryPins, PinError, Pins, Verdict};
pub use server::{
    BuildError, Capability, Client, Elicited, Limits, LogLevel, McpServer, McpServerBuilder,
    Resource, Revision, ServeError,
};
