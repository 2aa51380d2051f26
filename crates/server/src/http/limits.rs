//! How much a server takes on.

use std::time::Duration;

/// How much a server takes on; change what should differ with [`limits`](crate::Server::limits).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerLimits {
    /// The largest body of a request, in bytes.
    pub max_body_bytes: usize,
    /// The largest message over a WebSocket, in bytes.
    pub max_socket_message_bytes: usize,
    /// How long a request may take to arrive: its head, and then its body.
    pub read_timeout: Duration,
    /// How long a connection may stand still when something is to be sent.
    pub write_timeout: Duration,
    /// How many connections are open at once.
    pub max_connections: usize,
    /// How many conversations are under way at once.
    pub max_rooms: usize,
    /// How many turns run at once; while there are that many, no new message is accepted.
    pub max_turns: usize,
    /// How long a stream is silent before a sign of life is sent.
    pub heartbeat_interval: Duration,
    /// How long what is under way may go on when the server is to end.
    pub shutdown_grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_body_bytes: 4 << 20,
            max_socket_message_bytes: 1 << 20,
            read_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(60),
            max_connections: 16 << 10,
            max_rooms: 16 << 10,
            max_turns: 4 << 10,
            heartbeat_interval: Duration::from_secs(15),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}
