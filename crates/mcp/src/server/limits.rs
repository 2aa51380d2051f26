//! How much a server takes on.

use std::time::Duration;

/// How much a server takes on; change what should differ with [`limits`](crate::McpServerBuilder::limits).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpLimits {
    /// The largest message, in bytes.
    pub max_message_bytes: usize,
    /// How long the whole of a request may take to arrive.
    pub read_timeout: Duration,
    /// How many requests are answered at once.
    pub max_requests: usize,
    /// How many streams of changes are open at once.
    pub max_streams: usize,
    /// How many connections are open at once.
    pub max_connections: usize,
    /// How many sessions there are at once.
    pub max_sessions: usize,
    /// How long a session is kept without a word from its client.
    pub session_idle_timeout: Duration,
    /// How many tasks there are at once, those that are done and kept included.
    pub max_tasks: usize,
    /// How long a task is kept.
    pub task_ttl: Duration,
    /// How many messages one batch may have.
    pub max_batch: usize,
    /// How many entries one page of a list has.
    pub page_size: usize,
    /// How long clients may keep a list before they ask again.
    pub list_ttl: Duration,
    /// How long a stream is silent before a sign of life is sent.
    pub keep_alive_interval: Duration,
    /// How long what is under way may go on when the server is to end.
    pub shutdown_grace: Duration,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            max_message_bytes: 4 << 20,
            read_timeout: Duration::from_secs(30),
            max_requests: 256,
            max_streams: 256,
            max_connections: 1024,
            max_sessions: 1024,
            session_idle_timeout: Duration::from_secs(30 * 60),
            max_tasks: 1024,
            task_ttl: Duration::from_secs(60 * 60),
            max_batch: 32,
            page_size: 1000,
            list_ttl: Duration::from_secs(60),
            keep_alive_interval: Duration::from_secs(15),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}
