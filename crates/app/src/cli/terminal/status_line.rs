//! A status line on a terminal, while something takes long.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, interval_at};

/// How often the status line is updated; there is none before the first interval.
pub(crate) const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Runs work to its end; shows what it is, and for how long it runs.
pub(crate) async fn with_status_line<T>(label: &str, work: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let mut tick = interval_at(started + REFRESH_INTERVAL, REFRESH_INTERVAL);
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            output = &mut work => {
                if started.elapsed() >= REFRESH_INTERVAL && stderr().is_terminal() {
                    overwrite_line("");
                }
                return output;
            }
            _ = tick.tick() => if stderr().is_terminal() {
                overwrite_line(&format!("{label} ({} s)", started.elapsed().as_secs()));
            }
        }
    }
}

/// Replaces the current line of the terminal.
pub(crate) fn overwrite_line(line: &str) {
    let mut out = stderr().lock();
    // A closed terminal is not an error.
    let _ = write!(out, "\r\x1b[K{line}").and_then(|()| out.flush());
}
