//! Credentials for attached servers, against a FastMCP server with an OAuth provider of its own: login, call, expiry, refresh,
//! revocation, and a kill in the middle of each.

mod collector;
mod conformance;
mod life;
mod personal;
mod program;
mod secret_scan;
mod shop;
