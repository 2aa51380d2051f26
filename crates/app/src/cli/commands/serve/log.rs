//! Writes tracing events to stderr, as text or as JSON lines.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

use serde_json::{Map, Value};
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::schema::redact;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::set_global_default;
use tracing::{Event, Level, Metadata, Subscriber, level_filters::LevelFilter};

use crate::cli::terminal::sanitize::sanitize_label;

/// The verbosity of the log.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing.
    Off,
    /// What went wrong.
    Error,
    /// What may go wrong.
    #[default]
    Warn,
    /// Each turn.
    Info,
    /// Each request.
    Debug,
}

/// The log of a program whose global subscriber is the exporter of spans, which is installed before the command is known.
#[cfg(feature = "otlp")]
static LOG_BESIDE_SPANS: std::sync::OnceLock<StderrSubscriber> = std::sync::OnceLock::new();

/// Writes events to the log, once there is one, for a subscriber that also exports spans.
#[cfg(feature = "otlp")]
pub(crate) struct LogLayer;

#[cfg(feature = "otlp")]
impl<S: Subscriber> tracing_subscriber::Layer<S> for LogLayer {
    fn on_event(&self, event: &Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        if let Some(log) = LOG_BESIDE_SPANS.get().filter(|log| log.enabled(event.metadata())) {
            log.event(event);
        }
    }
}

/// Installs the subscriber; beside the exporter of spans, if that is the global one.
pub(crate) fn init_logging(level: LogLevel, json: bool) {
    let max_level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    #[cfg(feature = "otlp")]
    let _ = LOG_BESIDE_SPANS.set(StderrSubscriber { max_level, json });
    // Fails if there is a global subscriber already: the exporter of spans, which has the layer above, or one of the program.
    let _ = set_global_default(StderrSubscriber { max_level, json });
}

/// Writes the events of this workspace's crates, and ignores spans.
struct StderrSubscriber {
    max_level: LevelFilter,
    json: bool,
}

impl Subscriber for StderrSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let ours = metadata.target().starts_with("toolwright");
        metadata.is_event() && ours && *metadata.level() <= self.max_level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.max_level)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = EventFields(Map::new());
        event.record(&mut fields);
        let line = match self.json {
            true => format_json(*event.metadata().level(), fields.0),
            false => format_text(*event.metadata().level(), fields.0),
        };
        // A closed stderr does not stop the server.
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The fields of an event, with secrets in text redacted.
struct EventFields(Map<String, Value>);

impl EventFields {
    fn insert(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for EventFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, redact(value).into_owned());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        self.insert(field, redact(&text).into_owned());
    }
}

fn format_json(level: Level, fields: Map<String, Value>) -> String {
    let mut line = Map::new();
    line.insert("at".to_owned(), unix_millis_now().into());
    line.insert("level".to_owned(), level.to_string().to_lowercase().into());
    line.extend(fields);
    format!("{}\n", Value::from(line))
}

fn format_text(level: Level, mut fields: Map<String, Value>) -> String {
    let message = fields.shift_remove("message");
    let message = message.as_ref().and_then(Value::as_str).unwrap_or_default();
    let mut line = format!("{}: {message}", level.to_string().to_lowercase());
    for (name, value) in fields {
        // Writing to a `String` cannot fail.
        let _ = write!(line, " {name}={value}");
    }
    // Escapes line ends, so that text from a client cannot imitate a log line.
    format!("{}\n", sanitize_label(&line))
}
