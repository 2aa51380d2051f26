//! How much of a server is listened to.

use std::time::Duration;

/// How much a server may send and how long it may take; what exceeds a limit is an error, never a hang.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AttachLimits {
    /// How many tools it may list, and how many prompts.
    pub max_definitions: usize,
    /// How many pages its lists may have.
    pub max_pages: usize,
    /// How many bytes its lists may have together.
    pub max_list_bytes: usize,
    /// How many bytes one message may have.
    pub max_message_bytes: usize,
    /// How long it may take to connect and to list everything.
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
