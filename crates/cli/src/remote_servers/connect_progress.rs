//! Servers that take their time: a terminal says who is waited for.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::Duration;

use tokio::time::Instant;

use super::connector::ServerConnector;
use crate::terminal::sanitize::to_single_line;

/// How often the line is written; the first time, nobody has become impatient yet.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Waits until every server has been tried, or for as long as we have patience.
pub(super) async fn wait_until_connected(desk: &ServerConnector, patience: Option<Duration>) {
    let mut changes = desk.subscribe();
    let began = Instant::now();
    let mut tick = tokio::time::interval_at(began + REFRESH_INTERVAL, REFRESH_INTERVAL);
    let mut is_shown = false;
    loop {
        let connecting = desk.connecting_names();
        let waited = began.elapsed();
        if connecting.is_empty() || patience.is_some_and(|patience| waited >= patience) {
            break;
        }
        if waited >= REFRESH_INTERVAL && stderr().is_terminal() {
            is_shown = true;
            let line = format!(
                "connecting to {} ({} s)",
                connecting.join(", "),
                waited.as_secs()
            );
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

/// Writes over the line that was there.
fn overwrite_line(line: &str) {
    let mut out = stderr().lock();
    // A terminal that is gone misses nothing.
    let _ = write!(out, "\r\x1b[K{line}").and_then(|()| out.flush());
}
