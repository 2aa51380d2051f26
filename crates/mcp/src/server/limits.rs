//! How much a server takes on.

use std::time::Duration;

/// How much a server takes on; change what should differ with [`limits`](crate::McpServerBuilder::limits).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The largest message, in bytes.
    pub message: usize,
    /// How long the whole of a request may take to arrive.
    pub arrival: Duration,
    /// How many requests are answered at once.
    pub requests: usize,
    /// How many streams of changes are open at once.
    pub streams: usize,
    /// How many connections are open at once.
    pub connections: usize,
    /// How many sessions there are at once.
    pub sessions: usize,
    /// How long a session is kept without a word from its client.
    pub idle: Duration,
    /// How many tasks there are at once, those that are done and kept included.
    pub tasks: usize,
    /// How long a task is kept.
    pub task_life: Duration,
    /// How many messages one batch may have.
    pub batch: usize,
    /// How many entries one page of a list has.
    pub page: usize,
    /// How long clients may keep a list before they ask again.
    pub fresh: Duration,
    /// How long a stream is silent before a sign of life is sent.
    pub silence: Duration,
    /// How long what is under way may go on when the server is to end.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 4 << 20,
            arrival: Duration::from_secs(30),
            requests: 256,
            streams: 256,
            connections: 1024,
            sessions: 1024,
            idle: Duration::from_secs(30 * 60),
            tasks: 1024,
            task_life: Duration::from_secs(60 * 60),
            batch: 32,
            page: 1000,
            fresh: Duration::from_secs(60),
            silence: Duration::from_secs(15),
            grace: Duration::from_secs(5),
        }
    }
}
