//! What the server has to say to whoever runs it, on stderr: a line for people, or JSON for machines.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use toolwright_core::schema::redact;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::set_global_default;
use tracing::{Event, Level, Metadata, Subscriber, level_filters::LevelFilter};

use crate::terminal::sanitize::sanitize_label;

/// How much is told.
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

/// Begins to tell; nothing is told here where spans go to a collector, which has the place already.
pub(crate) fn init_logging(amount: LogLevel, json: bool) {
    let most = match amount {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let _ = set_global_default(StderrSubscriber {
        max_level: most,
        json,
    });
}

/// Writes events, and knows no spans.
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
        // Whoever reads stderr may have gone; the server serves all the same.
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What an event brings, each text without secrets.
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
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let at = since.map_or(0, |since| since.as_millis());
    let mut line = Map::new();
    line.insert(
        "at".to_owned(),
        u64::try_from(at).unwrap_or(u64::MAX).into(),
    );
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
    // What a client sent must not pass for a line of our own.
    format!("{}\n", sanitize_label(&line))
}
