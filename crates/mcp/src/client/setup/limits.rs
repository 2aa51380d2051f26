//! The limits of an attached server.

use std::time::Duration;

/// The limits of an attached server; exceeding one is an error.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AttachLimits {
    /// Tools, and prompts, that it may list; 2000 of each by default.
    pub max_definitions: usize,
    /// Pages of each list; 200 by default.
    pub max_pages: usize,
    /// Bytes of all lists together; 16 MiB by default.
    pub max_list_bytes: usize,
    /// Bytes of one message; 16 MiB by default.
    pub max_message_bytes: usize,
    /// The time to connect and to list everything; 30 seconds by default.
    pub connect_timeout: Duration,
}

impl Default for AttachLimits {
    fn default() -> Self {
        Self {
            max_definitions: 2_000,
            max_pages: 200,
            max_list_bytes: 16 << 20,
            max_message_bytes: 16 << 20,
            connect_timeout: Duration::from_secs(30),
        }
    }
}
