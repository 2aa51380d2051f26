//! The scripted server as a program.

use std::time::Duration;

use toolwright_mcp::{AttachLimits, RemoteServer, Trust};

/// Attaches the scripted server in one of its modes; an empty one is the well-behaved one.
pub(crate) fn scripted_server(name: &str, mode: &str) -> RemoteServer {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/main/client/scripted.py");
    RemoteServer::command(name, "python3", [script, mode])
        .trust(Trust::Calls)
        .revision("2025-11-25")
}

/// AttachLimits of which only the time is soon reached.
pub(crate) fn short_timeout_limits() -> AttachLimits {
    let mut limits = AttachLimits::default();
    limits.connect_timeout = Duration::from_secs(2);
    limits
}

/// AttachLimits that are soon reached, except the time.
pub(crate) fn small_limits() -> AttachLimits {
    let mut limits = AttachLimits::default();
    limits.max_definitions = 50;
    limits.max_pages = 10;
    limits.max_list_bytes = 256 << 10;
    limits.max_message_bytes = 1 << 20;
    limits
}
