//! Spans in, OTLP out: what Toolwright records of tools and models goes to an OpenTelemetry collector.
//!
//! ```no_run
//! fn main() -> Result<(), toolwright_telemetry::Error> {
//!     let telemetry = toolwright_telemetry::install()?;
//!     // … the work …
//!     telemetry.close()
//! }
//! ```
//!
//! [`install`] reads the variables that every OpenTelemetry program reads, and does nothing unless one of
//! them names a collector:
//!
//! | variable | meaning |
//! |---|---|
//! | `OTEL_EXPORTER_OTLP_ENDPOINT` | the collector; `/v1/traces` is added |
//! | `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` | the whole address, taken as it is |
//! | `OTEL_EXPORTER_OTLP_HEADERS`, `…_TRACES_HEADERS` | `name=value,…`, sent with every request |
//! | `OTEL_EXPORTER_OTLP_TIMEOUT`, `…_TRACES_TIMEOUT` | milliseconds for one request |
//! | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | who is speaking; `toolwright` if nothing is said |
//! | `OTEL_TRACES_EXPORTER=none`, `OTEL_SDK_DISABLED=true` | switch it off |

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

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

pub use error::Error;
pub use settings::Settings;
pub use tracing_subscriber::filter::Targets;

use export::{Exporter, Tally};

/// The name of the service and of the instrumentation, where the user gives no other.
const NAME: &str = "toolwright";

/// A layer that may stand in any subscriber with a registry.
type Spans<S> = Box<dyn Layer<S> + Send + Sync>;

/// Sends spans where the environment says, from now until the returned guard is dropped.
///
/// # Errors
///
/// If a variable asks for what is not possible here, or the program has a subscriber already.
pub fn install() -> Result<Telemetry, Error> {
    install_with(Settings::from_env()?)
}

/// Sends spans as `settings` say, from now until the returned guard is dropped.
///
/// # Errors
///
/// If the collector's address is none, or the program has a subscriber already.
pub fn install_with(settings: Settings) -> Result<Telemetry, Error> {
    let (layer, telemetry) = layer(settings)?;
    // Without a collector the place stays free, and a span costs nothing.
    if let Some(layer) = layer {
        tracing::subscriber::set_global_default(Registry::default().with(layer))
            .map_err(|_| Error::Occupied)?;
    }
    Ok(telemetry)
}

/// Makes a layer for a program that has a subscriber of its own; no layer if there is no collector.
///
/// # Errors
///
/// If the collector's address is none.
///
/// # Examples
///
/// ```
/// use toolwright_telemetry::{Settings, layer};
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let (spans, telemetry) = layer(Settings::new())?;
/// let subscriber = tracing_subscriber::registry().with(spans);
/// # drop(subscriber);
/// telemetry.close()?;
/// # Ok::<(), toolwright_telemetry::Error>(())
/// ```
pub fn layer<S>(settings: Settings) -> Result<(Option<Spans<S>>, Telemetry), Error>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let Some(endpoint) = &settings.endpoint else {
        return Ok((None, Telemetry(None)));
    };
    let exporter = Exporter::new(endpoint, &settings)?;
    let tally = exporter.tally();
    let provider = SdkTracerProvider::builder()
        .with_resource(resource(settings.service))
        .with_batch_exporter(exporter)
        .build();
    // Where a span stands in the source and on which thread it ran is of no use to those who watch tools.
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(NAME))
        .with_location(false)
        .with_target(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_filter(settings.spans);
    let open = Open {
        provider,
        tally,
        wait: settings.wait,
    };
    Ok((Some(Box::new(layer)), Telemetry(Some(open))))
}

/// Who is speaking; what comes later wins.
fn resource(service: Option<String>) -> Resource {
    let resource = Resource::builder_empty()
        .with_service_name(NAME)
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match service {
        Some(service) => resource.with_service_name(service).build(),
        None => resource.build(),
    }
}

/// Keeps spans going out; sends what is left when it is dropped.
///
/// A collector that does not answer holds up neither the program nor, for longer than
/// [`Settings::wait`], its end.
#[derive(Debug)]
#[must_use = "dropped at once, it sends nothing"]
pub struct Telemetry(Option<Open>);

#[derive(Debug)]
struct Open {
    provider: SdkTracerProvider,
    tally: Arc<Tally>,
    wait: Duration,
}

impl Telemetry {
    /// Tells whether there is a collector to send to.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Sends what is left, and tells whether everything arrived; dropping does the same in silence.
    ///
    /// # Errors
    ///
    /// If spans were lost, now or earlier, or the collector takes too long.
    pub fn close(mut self) -> Result<(), Error> {
        self.0.take().map_or(Ok(()), Open::close)
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        // Nobody is there to be told: `close` is for those who want to know.
        let _ = self.0.take().map(Open::close);
    }
}

impl Open {
    fn close(self) -> Result<(), Error> {
        let Self {
            provider,
            tally,
            wait,
        } = self;
        // The provider's own limit does not cover everything: it joins a thread that may hang in a name server.
        let (closed, closing) = mpsc::channel();
        thread::Builder::new()
            .name("toolwright-telemetry".to_owned())
            .spawn(move || {
                let done = provider.shutdown_with_timeout(wait);
                let _ = closed.send(done);
            })
            .map_err(Error::setup)?;
        match closing.recv_timeout(wait) {
            Ok(Ok(())) => tally.verdict(),
            Ok(Err(_)) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(Error::Late { wait })
            }
        }
    }
}
