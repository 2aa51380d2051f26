//! Toolwright's tools in an MCP server that is built on rmcp.
//!
//! For a server of one's own, made with rmcp's macros or without: [`tools`] puts an invoker's tools into its router, next to
//! the server's own. Toolwright's own server is `toolwright::mcp`.

mod approve;
mod result;
mod tools;

pub use tools::tools;
