//! What the tests of several crates share: third-party software, servers that belong to a test, and clients.
//!
//! The crate is not published, and depends on no crate of this workspace, so that every crate can use it.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

pub mod aimock;
pub mod api_client;
pub mod browser;
#[cfg(all(unix, feature = "postgres"))]
pub mod cluster;
mod command_output;
pub mod http;
#[cfg(feature = "openid-provider")]
pub mod openid_provider;
pub mod programs;
pub mod real;
pub mod servers;

pub use command_output::CommandOutput;

/// How long a test waits before it has failed: no limit of what is tested, and more than a machine with much other work needs.
pub const HANG_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(300);
