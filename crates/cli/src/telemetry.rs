//! Spans to a collector while a command runs; trouble with it is told, and ends nothing.

use std::error::Error as _;

use toolwright_core::schema::redact;
use toolwright_telemetry::{TelemetryError, TelemetryGuard};

/// Sends what is left when it is dropped.
pub(crate) struct Guard(Option<TelemetryGuard>);

/// Begins to send spans, if a variable names a collector.
pub(crate) fn install() -> Guard {
    Guard(toolwright_telemetry::install().map_err(tell).ok())
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(telemetry) = self.0.take() {
            let _ = telemetry.close().map_err(tell);
        }
    }
}

fn tell(error: TelemetryError) {
    let cause = error.source().map(|cause| format!(": {cause}"));
    let message = format!("{error}{}", cause.unwrap_or_default());
    eprintln!("warning: telemetry: {}", redact(&message));
}
