//! Limits of a server.

use std::time::Duration;

/// Limits of a server, changed with [`ServerBuilder::limits`](crate::ServerBuilder::limits).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerLimits {
    /// The largest request body, in bytes; default: 4 MiB.
    pub max_body_bytes: usize,
    /// The largest WebSocket message, in bytes; default: 1 MiB.
    pub max_socket_message_bytes: usize,
    /// How long reading the head of a request may take, and then its body; default: 30 s.
    pub read_timeout: Duration,
    /// How long a write may make no progress before the connection is closed; default: 60 s.
    pub write_timeout: Duration,
    /// Connections that are open at once; further ones wait in the listener's backlog. Default: 16,384.
    pub max_connections: usize,
    /// Conversations that are in memory at once, per endpoint; default: 16,384.
    pub max_rooms: usize,
    /// Turns that run at once; further ones wait. Default: 4,096.
    pub max_turns: usize,
    /// Turns that wait for one of [`max_turns`](Self::max_turns), in a fair order between people; then new messages are rejected
    /// with 503. A person may have as many waiting turns as there is room left, so that one does not fill the queue. Default: 1,024.
    pub max_waiting_turns: usize,
    /// The interval of keep-alive messages on an idle stream; default: 15 s.
    pub heartbeat_interval: Duration,
    /// How long running turns may continue after shutdown began, and then how long connections may stay open; default: 5 s.
    pub shutdown_grace: Duration,
    /// How long a conversation belongs to a node that does not renew its lease: then another node may take it over; default:
    /// 30 s.
    pub lease_duration: Duration,
    /// How often unattended conversations are looked for, about; default: 15 s.
    pub sweep_interval: Duration,
    /// How long a cookie session counts as valid after it was read from the shared state: another node may end it meanwhile.
    /// Default: 5 s.
    pub session_check_interval: Duration,
    /// How old the value of a session's cookie gets before it is replaced; default: an hour.
    pub session_rotation_interval: Duration,
    /// How long the value before stays valid after the new one is used, for requests that are under way; default: a minute. Later it
    /// betrays a copy, and ends the session.
    pub session_rotation_grace: Duration,
    /// The age of the last entry after which a conversation is deleted, unless its turn is open; default: `None`, never.
    pub max_conversation_age: Option<Duration>,
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
            max_waiting_turns: 1 << 10,
            heartbeat_interval: Duration::from_secs(15),
            shutdown_grace: Duration::from_secs(5),
            lease_duration: Duration::from_secs(30),
            sweep_interval: Duration::from_secs(15),
            session_check_interval: Duration::from_secs(5),
            session_rotation_interval: Duration::from_secs(60 * 60),
            session_rotation_grace: Duration::from_secs(60),
            max_conversation_age: None,
        }
    }
}
