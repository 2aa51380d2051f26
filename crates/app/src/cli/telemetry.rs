//! Sends spans to a collector while a command runs; its errors are warnings on stderr.

use std::error::Error as _;

use toolwright_core::schema::redact;
use tracing::Level;
use tracing::subscriber::set_global_default;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::registry::Registry;

use crate::AppInfo;
use crate::cli::commands::serve::log::LogLayer;
use crate::telemetry::{Targets, TelemetryError, TelemetryGuard, TelemetrySettings};

/// Flushes the remaining spans when it is dropped.
pub(crate) struct FlushGuard(Option<TelemetryGuard>);

/// Starts the exporter if an environment variable names a collector; the service has the program's name and version unless
/// `OTEL_…` variables have others.
pub(crate) fn install(info: &AppInfo) -> FlushGuard {
    let settings = TelemetrySettings::from_env()
        .map(|it| it.default_service(&*info.name).default_version(&*info.version));
    let installed = settings.and_then(install_with_log);
    FlushGuard(installed.map_err(print_warning).ok())
}

/// As [`crate::telemetry::install_with`], for a program that also writes a log.
fn install_with_log(settings: TelemetrySettings) -> Result<TelemetryGuard, TelemetryError> {
    let (spans, guard) = crate::telemetry::layer(settings)?;
    if let Some(spans) = spans {
        let ours = Targets::new().with_target("toolwright", Level::DEBUG);
        let subscriber = Registry::default().with(spans).with(LogLayer.with_filter(ours));
        set_global_default(subscriber).map_err(|_| TelemetryError::SubscriberExists)?;
    }
    Ok(guard)
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
