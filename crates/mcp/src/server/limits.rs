//! The limits of a server.

use std::time::Duration;

/// The limits of a server; changed with [`McpServerBuilder::limits`](crate::McpServerBuilder::limits).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpLimits {
    /// The size of a message in bytes; 4 MiB by default.
    pub max_message_bytes: usize,
    /// The time until a request has arrived completely; 30 seconds by default.
    pub read_timeout: Duration,
    /// Requests that are handled at once; 256 by default.
    pub max_requests: usize,
    /// Open streams of notifications; 256 by default.
    pub max_streams: usize,
    /// Open connections; 1024 by default.
    pub max_connections: usize,
    /// Sessions; 1024 by default.
    pub max_sessions: usize,
    /// The time after which a session without requests ends; 30 minutes by default.
    pub session_idle_timeout: Duration,
    /// Tasks, finished ones that are kept included; 1024 by default.
    pub max_tasks: usize,
    /// The time after which a task is cancelled and deleted; an hour by default.
    pub task_ttl: Duration,
    /// Messages in one batch; 32 by default.
    pub max_batch: usize,
    /// Entries on one page of a list; 1000 by default.
    pub page_size: usize,
    /// The time that clients may cache a list for; a minute by default.
    pub list_ttl: Duration,
    /// The time after which an idle stream sends a comment to keep the connection open; 15 seconds by default.
    pub keep_alive_interval: Duration,
    /// The time that another node of a cluster, or the state that the nodes share, has to respond; 5 seconds by default.
    pub cluster_timeout: Duration,
    /// The time that requests in flight have to finish when the server shuts down; 5 seconds by default.
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
            cluster_timeout: Duration::from_secs(5),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}
