//! How much a server takes on.

use std::time::Duration;

/// How much a server takes on; change what should differ with [`limits`](crate::Server::limits).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The largest body of a request, in bytes.
    pub body: usize,
    /// The largest message over a WebSocket, in bytes.
    pub message: usize,
    /// How long a request may take to arrive: its head, and then its body.
    pub arrival: Duration,
    /// How long a connection may stand still when something is to be sent.
    pub stall: Duration,
    /// How many connections are open at once.
    pub connections: usize,
    /// How many conversations are under way at once.
    pub rooms: usize,
    /// How many turns run at once; while there are that many, no new message is accepted.
    pub turns: usize,
    /// How long a stream is silent before a sign of life is sent.
    pub silence: Duration,
    /// How long what is under way may go on when the server is to end.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            message: 1 << 20,
            arrival: Duration::from_secs(30),
            stall: Duration::from_secs(60),
            connections: 16 << 10,
            rooms: 16 << 10,
            turns: 4 << 10,
            silence: Duration::from_secs(15),
            grace: Duration::from_secs(5),
        }
    }
}
