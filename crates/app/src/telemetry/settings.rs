//! The settings of the export, from code or environment variables.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use tracing::Level;
use tracing_subscriber::filter::Targets;

use crate::telemetry::INSTRUMENTATION_NAME;
use crate::telemetry::error::TelemetryError;

/// The default timeout of one request, from OpenTelemetry's specification.
const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How long closing waits by default: enough for a distant collector, and acceptable for a user at a terminal.
const DEFAULT_CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// The collector, and the spans that are exported to it.
///
/// Headers and attributes of the `OTEL_…` variables are added to those that are set here.
#[derive(Clone)]
#[must_use = "nothing is exported before it is given to `layer` or `install_with`"]
pub struct TelemetrySettings {
    pub(crate) endpoint: Option<String>,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) service: Option<String>,
    pub(crate) default_service: String,
    pub(crate) default_version: Option<String>,
    pub(crate) spans: Targets,
    pub(crate) request_timeout: Duration,
    pub(crate) close_timeout: Duration,
}

impl TelemetrySettings {
    /// Creates settings without a collector: nothing is exported.
    pub fn new() -> Self {
        Self {
            endpoint: None,
            headers: HashMap::new(),
            service: None,
            default_service: INSTRUMENTATION_NAME.to_owned(),
            default_version: None,
            // A prefix, which matches `toolwright_core`, `toolwright_chat` and the other crates.
            spans: Targets::new().with_target("toolwright", Level::INFO),
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
            close_timeout: DEFAULT_CLOSE_TIMEOUT,
        }
    }

    /// Reads the environment variables of the process.
    ///
    /// # Errors
    ///
    /// If a variable has an unsupported value, such as gRPC.
    pub fn from_env() -> Result<Self, TelemetryError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads variables through `look_up`.
    ///
    /// # Errors
    ///
    /// If a variable has an unsupported value, such as gRPC.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::telemetry::TelemetrySettings;
    ///
    /// let variables = |name: &str| {
    ///     (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "http://localhost:4318".to_owned())
    /// };
    /// let settings = TelemetrySettings::from_variables(variables)?;
    /// assert_eq!(settings.endpoint_url(), Some("http://localhost:4318/v1/traces"));
    /// # Ok::<(), toolwright::telemetry::TelemetryError>(())
    /// ```
    pub fn from_variables(
        look_up: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, TelemetryError> {
        // The specification treats an empty variable as unset.
        let read = |name: &'static str| look_up(name).filter(|value| !value.trim().is_empty());
        let first = |names: [&'static str; 2]| {
            let found = names.into_iter().find_map(|name| Some((name, read(name)?)));
            found.map(|(name, value)| (name, value.trim().to_owned()))
        };

        let disabled = read("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        let exporter = read("OTEL_TRACES_EXPORTER").unwrap_or_else(|| "otlp".to_owned());
        let traces_url = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let base_url = || {
            let base = read("OTEL_EXPORTER_OTLP_ENDPOINT")?;
            Some(format!("{}/v1/traces", base.trim().trim_end_matches('/')))
        };
        let endpoint = traces_url.or_else(base_url);
        if disabled || exporter == "none" || endpoint.is_none() {
            return Ok(Self::new());
        }

        if exporter != "otlp" {
            return Err(TelemetryError::Variable {
                variable: "OTEL_TRACES_EXPORTER",
                value: exporter,
                possible: "`otlp` or `none`",
            });
        }
        let protocol = first(["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]);
        if let Some((variable, value)) = protocol.filter(|(_, value)| value != "http/protobuf") {
            return Err(TelemetryError::Variable { variable, value, possible: "`http/protobuf`" });
        }
        let timeout = first(["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]);
        let mut settings = Self { endpoint, service: read("OTEL_SERVICE_NAME"), ..Self::new() };
        if let Some((variable, value)) = timeout {
            let possible = "a number of milliseconds";
            let milliseconds = value.parse();
            let milliseconds =
                milliseconds.map_err(|_| TelemetryError::Variable { variable, value, possible })?;
            settings.request_timeout = Duration::from_millis(milliseconds);
        }
        Ok(settings)
    }

    /// Returns the URL that spans are sent to, if any.
    pub fn endpoint_url(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }

    /// Sets the URL that spans are sent to, e.g. `http://localhost:4318/v1/traces`.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Adds a header to every request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets the name of the service, unless the environment has named it.
    pub fn default_service(mut self, name: impl Into<String>) -> Self {
        self.default_service = name.into();
        self
    }

    /// Sets the version of the service, unless `OTEL_RESOURCE_ATTRIBUTES` has one.
    pub fn default_version(mut self, version: impl Into<String>) -> Self {
        self.default_version = Some(version.into());
        self
    }

    /// Sets the name of the service; `toolwright` by default.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = Some(name.into());
        self
    }

    /// Selects the spans to export; by default those of Toolwright at INFO and above.
    pub fn spans(mut self, spans: Targets) -> Self {
        self.spans = spans;
        self
    }

    /// Sets the timeout of one request; ten seconds by default.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// Sets how long closing waits for the last spans to be sent; three seconds by default.
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = timeout;
        self
    }
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self::new()
    }
}

/// Omits the URL and the values of headers: both may contain keys.
impl fmt::Debug for TelemetrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetrySettings")
            .field("headers", &self.headers.keys())
            .field("service", &self.service)
            .field("spans", &self.spans)
            .field("request_timeout", &self.request_timeout)
            .field("close_timeout", &self.close_timeout)
            .finish_non_exhaustive()
    }
}
