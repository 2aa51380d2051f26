//! Variables in, [`Settings`] out.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use tracing::Level;
use tracing_subscriber::filter::Targets;

use crate::error::Error;

/// What OpenTelemetry's specification gives to one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Long enough for a collector on the other side of the world, short enough for somebody at a terminal.
const WAIT: Duration = Duration::from_secs(3);

/// Where spans go, and which of them.
///
/// Headers and attributes that the `OTEL_…` variables name are added to those given here.
#[derive(Clone)]
pub struct Settings {
    pub(crate) endpoint: Option<String>,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) service: Option<String>,
    pub(crate) spans: Targets,
    pub(crate) timeout: Duration,
    pub(crate) wait: Duration,
}

impl Settings {
    /// Makes settings without a collector: nothing is sent.
    pub fn new() -> Self {
        Self {
            endpoint: None,
            headers: HashMap::new(),
            service: None,
            // A prefix: `toolwright_core`, `toolwright_chat` and all the others.
            spans: Targets::new().with_target("toolwright", Level::INFO),
            timeout: TIMEOUT,
            wait: WAIT,
        }
    }

    /// Reads the environment.
    ///
    /// # Errors
    ///
    /// If a variable asks for what is not possible here, such as gRPC.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads variables through `look_up`.
    ///
    /// # Errors
    ///
    /// If a variable asks for what is not possible here, such as gRPC.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright_telemetry::Settings;
    ///
    /// let variables = |name: &str| {
    ///     (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "http://localhost:4318".to_owned())
    /// };
    /// let settings = Settings::from_variables(variables)?;
    /// assert_eq!(settings.address(), Some("http://localhost:4318/v1/traces"));
    /// # Ok::<(), toolwright_telemetry::Error>(())
    /// ```
    pub fn from_variables(look_up: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        // The specification: an empty variable is one that is not set.
        let read = |name: &'static str| look_up(name).filter(|value| !value.trim().is_empty());
        let first = |names: [&'static str; 2]| {
            let found = names.into_iter().find_map(|name| Some((name, read(name)?)));
            found.map(|(name, value)| (name, value.trim().to_owned()))
        };

        let off = read("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        let exporter = read("OTEL_TRACES_EXPORTER").unwrap_or_else(|| "otlp".to_owned());
        let whole = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let base = || {
            let base = read("OTEL_EXPORTER_OTLP_ENDPOINT")?;
            Some(format!("{}/v1/traces", base.trim().trim_end_matches('/')))
        };
        let endpoint = whole.or_else(base);
        if off || exporter == "none" || endpoint.is_none() {
            return Ok(Self::new());
        }

        if exporter != "otlp" {
            return Err(Error::Variable {
                variable: "OTEL_TRACES_EXPORTER",
                value: exporter,
                possible: "`otlp` or `none`",
            });
        }
        let protocol = first([
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "OTEL_EXPORTER_OTLP_PROTOCOL",
        ]);
        if let Some((variable, value)) = protocol.filter(|(_, value)| value != "http/protobuf") {
            return Err(Error::Variable {
                variable,
                value,
                possible: "`http/protobuf`",
            });
        }
        let timeout = first([
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
            "OTEL_EXPORTER_OTLP_TIMEOUT",
        ]);
        let timeout = match timeout {
            None => TIMEOUT,
            Some((variable, value)) => match value.parse() {
                Ok(milliseconds) => Duration::from_millis(milliseconds),
                Err(_) => {
                    return Err(Error::Variable {
                        variable,
                        value,
                        possible: "a number of milliseconds",
                    });
                }
            },
        };
        Ok(Self {
            endpoint,
            service: read("OTEL_SERVICE_NAME"),
            timeout,
            ..Self::new()
        })
    }

    /// Where spans are sent, if anywhere.
    pub fn address(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }

    /// Sends spans to this address, e.g. `http://localhost:4318/v1/traces`.
    #[must_use]
    pub fn endpoint(mut self, address: impl Into<String>) -> Self {
        self.endpoint = Some(address.into());
        self
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Names the service that speaks, `toolwright` otherwise.
    #[must_use]
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = Some(name.into());
        self
    }

    /// Chooses the spans, those of Toolwright at INFO and above otherwise.
    #[must_use]
    pub fn spans(mut self, spans: Targets) -> Self {
        self.spans = spans;
        self
    }

    /// Gives one request this long, ten seconds otherwise.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Waits this long for the last spans to arrive, three seconds otherwise.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows neither the address nor the headers' values: keys are in both.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("headers", &self.headers.keys())
            .field("service", &self.service)
            .field("spans", &self.spans)
            .field("timeout", &self.timeout)
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}
