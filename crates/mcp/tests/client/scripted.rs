//! The scripted server as a program.

use std::time::Duration;

use toolwright_mcp::{Attach, AttachLimits, Trust};

/// Attaches the scripted server in one of its modes; an empty one is the well-behaved one.
pub(crate) fn scripted(name: &str, mode: &str) -> Attach {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/scripted.py");
    Attach::command(name, "python3", [script, mode])
        .trust(Trust::Calls)
        .revision("2025-11-25")
}

/// AttachLimits of which only the time is soon reached.
pub(crate) fn hasty() -> AttachLimits {
    let mut limits = AttachLimits::default();
    limits.connect = Duration::from_secs(2);
    limits
}

/// AttachLimits that are soon reached, except the time.
pub(crate) fn narrow() -> AttachLimits {
    let mut limits = AttachLimits::default();
    limits.definitions = 50;
    limits.pages = 10;
    limits.list_bytes = 256 << 10;
    limits.message_bytes = 1 << 20;
    limits
}
