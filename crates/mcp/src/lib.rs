//! A registry of tools as an MCP server: JSON-RPC in, JSON-RPC out, the invoker in between.
//!
//! One dispatcher answers every revision over every transport: what differs between revisions is asked of
//! [`Revision`], what differs between transports is how messages arrive. Nothing here runs a tool by itself.

mod export;
mod http;
mod server;
mod stdio;

pub use http::Bound;
pub use server::{
    BuildError, Capability, Client, Elicited, Limits, LogLevel, McpServer, McpServerBuilder,
    Resource, Revision, ServeError,
};
