//! Waits for servers to connect, with a status line on a terminal.

use std::io::{IsTerminal as _, stderr};
use std::time::Duration;

use tokio::time::Instant;

use super::connector::ServerConnector;
use crate::terminal::sanitize::to_single_line;
use crate::terminal::status_line::{REFRESH_INTERVAL, overwrite_line};

/// Waits until every server has been tried once, or until the timeout.
pub(super) async fn wait_until_connected(connector: &ServerConnector, timeout: Option<Duration>) {
    let mut changes = connector.subscribe();
    let started = Instant::now();
    let mut tick = tokio::time::interval_at(started + REFRESH_INTERVAL, REFRESH_INTERVAL);
    let mut is_shown = false;
    loop {
        let connecting = connector.connecting_names();
        let waited = started.elapsed();
        if connecting.is_empty() || timeout.is_some_and(|timeout| waited >= timeout) {
            break;
        }
        if waited >= REFRESH_INTERVAL && stderr().is_terminal() {
            is_shown = true;
            let line = format!("connecting to {} ({} s)", connecting.join(", "), waited.as_secs());
            overwrite_line(&to_single_line(&line, 100));
        }
        tokio::select! {
            _ = changes.changed() => {}
            _ = tick.tick() => {}
        }
    }
    if is_shown {
        overwrite_line("");
    }
}
