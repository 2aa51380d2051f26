//! Why spans are not exported.

use std::error::Error as StdError;
use std::time::Duration;

/// Why spans cannot be exported, or were lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// An environment variable has an unsupported value.
    #[error("`{variable}` is `{value}`; only {possible} is possible here")]
    Variable {
        /// The variable's name.
        variable: &'static str,
        /// The variable's value.
        value: String,
        /// The supported values.
        possible: &'static str,
    },
    /// The collector's URL is invalid; the message omits it, because it may contain a key.
    #[error("the collector's address is not an `http://` or `https://` URL")]
    Endpoint,
    /// The exporter cannot be set up.
    #[error("cannot set up the exporter of spans")]
    #[non_exhaustive]
    Setup {
        /// The cause.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The program already has a global subscriber; there can be only one.
    #[error("the program has a tracing subscriber already; give it what `layer` returns")]
    SubscriberExists,
    /// Some spans did not reach the collector.
    #[error("spans that did not reach the collector: {spans}")]
    #[non_exhaustive]
    Lost {
        /// The number of lost spans.
        spans: usize,
        /// The error of the last failed request.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The collector did not respond in time when the export was closed.
    #[error("the collector did not answer within {wait:?}; the last spans are lost")]
    CloseTimeout {
        /// How long closing waited.
        wait: Duration,
    },
}

impl TelemetryError {
    pub(crate) fn setup(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Setup { source: source.into() }
    }
}
