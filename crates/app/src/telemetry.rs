//! Exports Toolwright's spans of tools and models to an OpenTelemetry collector, over OTLP.
//!
//! ```no_run
//! fn main() -> Result<(), toolwright::telemetry::TelemetryError> {
//!     let telemetry = toolwright::telemetry::install()?;
//!     // … the work …
//!     telemetry.close()
//! }
//! ```
//!
//! [`install`] reads the standard environment variables of OpenTelemetry, and does nothing unless one of
//! them names a collector:
//!
//! | variable | meaning |
//! |---|---|
//! | `OTEL_EXPORTER_OTLP_ENDPOINT` | the collector; `/v1/traces` is added |
//! | `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` | the complete URL, used unchanged |
//! | `OTEL_EXPORTER_OTLP_HEADERS`, `…_TRACES_HEADERS` | `name=value,…`, sent with every request |
//! | `OTEL_EXPORTER_OTLP_TIMEOUT`, `…_TRACES_TIMEOUT` | the timeout of one request, in milliseconds |
//! | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | the name and attributes of the service; the default name is `toolwright` |
//! | `OTEL_TRACES_EXPORTER=none`, `OTEL_SDK_DISABLED=true` | disable the export |

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::{LookupSpan, Registry};

mod error;
mod export;
mod settings;

pub use error::TelemetryError;
pub use settings::TelemetrySettings;
pub use tracing_subscriber::filter::Targets;

use export::{Exporter, LostSpans};

/// The name of the instrumentation, and the default name of the service.
const INSTRUMENTATION_NAME: &str = "toolwright";

/// A layer for any subscriber that contains a registry.
type BoxedLayer<S> = Box<dyn Layer<S> + Send + Sync>;

/// Exports spans to the collector that the environment names, until the returned guard is dropped.
///
/// # Errors
///
/// If a variable has an unsupported value, or the program already has a global subscriber.
pub fn install() -> Result<TelemetryGuard, TelemetryError> {
    install_with(TelemetrySettings::from_env()?)
}

/// Exports spans according to `settings`, until the returned guard is dropped.
///
/// # Errors
///
/// If the collector's URL is invalid, or the program already has a global subscriber.
pub fn install_with(settings: TelemetrySettings) -> Result<TelemetryGuard, TelemetryError> {
    let (layer, telemetry) = layer(settings)?;
    // Without a collector no subscriber is installed, and a span costs nothing.
    if let Some(layer) = layer {
        tracing::subscriber::set_global_default(Registry::default().with(layer))
            .map_err(|_| TelemetryError::SubscriberExists)?;
    }
    Ok(telemetry)
}

/// Returns a layer for a program with its own subscriber; `None` if there is no collector.
///
/// # Errors
///
/// If the collector's URL is invalid.
///
/// # Examples
///
/// ```
/// use toolwright::telemetry::{TelemetrySettings, layer};
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let (spans, telemetry) = layer(TelemetrySettings::new())?;
/// let subscriber = tracing_subscriber::registry().with(spans);
/// # drop(subscriber);
/// telemetry.close()?;
/// # Ok::<(), toolwright::telemetry::TelemetryError>(())
/// ```
pub fn layer<S>(
    settings: TelemetrySettings,
) -> Result<(Option<BoxedLayer<S>>, TelemetryGuard), TelemetryError>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let Some(endpoint) = &settings.endpoint else {
        return Ok((None, TelemetryGuard(None)));
    };
    let exporter = Exporter::new(endpoint, &settings)?;
    let lost_spans = Arc::clone(&exporter.lost_spans);
    let provider = SdkTracerProvider::builder()
        .with_resource(resource(&settings))
        .with_batch_exporter(exporter)
        .build();
    // The source location and the thread of a span do not help to observe tools.
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(INSTRUMENTATION_NAME))
        .with_location(false)
        .with_target(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_filter(settings.spans);
    let pipeline = Pipeline { provider, lost_spans, close_timeout: settings.close_timeout };
    Ok((Some(Box::new(layer)), TelemetryGuard(Some(pipeline))))
}

/// Describes the service; a later source overrides an earlier one.
fn resource(settings: &TelemetrySettings) -> Resource {
    let version = settings.default_version.clone();
    let resource = Resource::builder_empty()
        .with_service_name(settings.default_service.clone())
        .with_attributes(version.map(|version| KeyValue::new("service.version", version)))
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match settings.service.clone() {
        Some(service) => resource.with_service_name(service).build(),
        None => resource.build(),
    }
}

/// A guard that exports spans until it is dropped, which sends the remaining ones.
///
/// A collector that does not respond never blocks the program, and delays its exit by at most
/// [`TelemetrySettings::close_timeout`].
#[derive(Debug)]
#[must_use = "no spans are exported once it is dropped"]
pub struct TelemetryGuard(Option<Pipeline>);

/// The parts that closing needs.
#[derive(Debug)]
struct Pipeline {
    provider: SdkTracerProvider,
    lost_spans: Arc<LostSpans>,
    close_timeout: Duration,
}

impl TelemetryGuard {
    /// Returns true if there is a collector to export to.
    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Sends the remaining spans, and returns an error if any were lost; dropping does the same but ignores errors.
    ///
    /// # Errors
    ///
    /// If spans were lost, now or earlier, or the collector does not respond in time.
    pub fn close(mut self) -> Result<(), TelemetryError> {
        self.0.take().map_or(Ok(()), Pipeline::close)
    }
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        // Drop cannot return an error; `close` does.
        let _ = self.0.take().map(Pipeline::close);
    }
}

impl Pipeline {
    fn close(self) -> Result<(), TelemetryError> {
        let Self { provider, lost_spans, close_timeout } = self;
        // The provider's own timeout is not sufficient: it joins a thread that may hang in a DNS lookup.
        let (closed, closing) = mpsc::channel();
        thread::Builder::new()
            .name("toolwright-telemetry".to_owned())
            .spawn(move || {
                let done = provider.shutdown_with_timeout(close_timeout);
                let _ = closed.send(done);
            })
            .map_err(TelemetryError::setup)?;
        match closing.recv_timeout(close_timeout) {
            Ok(Ok(())) => lost_spans.take_result(),
            Ok(Err(_)) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(TelemetryError::CloseTimeout { wait: close_timeout })
            }
        }
    }
}
