//! How much of a server is listened to.

use std::time::Duration;

/// How much a server may send and how long it may take; what exceeds a limit is an error, never a hang.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// How many tools it may list, and how many prompts.
    pub definitions: usize,
    /// How many pages its lists may have.
    pub pages: usize,
    /// How many bytes its lists may have together.
    pub list_bytes: usize,
    /// How many bytes one message may have.
    pub message_bytes: usize,
    /// How long it may take to connect and to list everything.
    pub connect: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            definitions: 2_000,
            pages: 200,
            list_bytes: 16 << 20,
            message_bytes: 16 << 20,
            connect: Duration::from_secs(30),
        }
    }
}
