//! Spans to a collector while a command runs; trouble with it is told, and ends nothing.

use std::error::Error as _;

use toolwright_core::schema::redact;
use toolwright_telemetry::{TelemetryError, TelemetryGuard};

/// Sends what is left when it is dropped.
pub(crate) struct FlushGuard(Option<TelemetryGuard>);

/// Begins to send spans, if a variable names a collector.
pub(crate) fn install() -> FlushGuard {
    FlushGuard(toolwright_telemetry::install().map_err(print_warning).ok())
}

impl Drop for FlushGuard {
    fn drop(&mut self) {
        if let Some(telemetry) = self.0.take() {
            let _ = telemetry.close().map_err(print_warning);
        }
    }
}

fn print_warning(error: TelemetryError) {
    let cause = error.source().map(|cause| format!(": {cause}"));
    let message = format!("{error}{}", cause.unwrap_or_default());
    eprintln!("warning: telemetry: {}", redact(&message));
}
