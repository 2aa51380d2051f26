//! Why spans do not go out.

use std::error::Error as StdError;
use std::time::Duration;

/// Why spans cannot be sent, or did not arrive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A variable asks for what is not possible here.
    #[error("`{variable}` is `{value}`; only {possible} is possible here")]
    Variable {
        /// The variable's name.
        variable: &'static str,
        /// What it says.
        value: String,
        /// What it may say.
        possible: &'static str,
    },
    /// The collector's address is none; it is not shown, because it may carry a key.
    #[error("the collector's address is not an `http://` or `https://` URL")]
    Endpoint,
    /// The way to the collector could not be prepared.
    #[error("cannot prepare the way to the collector")]
    #[non_exhaustive]
    Setup {
        /// What is behind it.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The program has a subscriber, and there can be only one.
    #[error("the program has a tracing subscriber already; give it what `layer` returns")]
    Occupied,
    /// Some spans did not arrive.
    #[error("spans that did not reach the collector: {spans}")]
    #[non_exhaustive]
    Lost {
        /// How many.
        spans: usize,
        /// What happened to the last of them.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The collector did not answer in time, and the program did not wait longer.
    #[error("the collector did not answer within {wait:?}; the last spans are lost")]
    Late {
        /// How long the program waited.
        wait: Duration,
    },
}

impl Error {
    pub(crate) fn setup(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Setup {
            source: source.into(),
        }
    }
}
