//! Sends spans to a collector while a command runs; its errors are warnings on stderr.

use std::error::Error as _;

use toolwright_core::schema::redact;
use toolwright_telemetry::{TelemetryError, TelemetryGuard};

/// Flushes the remaining spans when it is dropped.
pub(crate) struct FlushGuard(Option<TelemetryGuard>);

/// Starts the exporter if an environment variable names a collector.
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
