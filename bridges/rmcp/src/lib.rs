//! Toolwright's tools in an MCP server that is built on rmcp.
