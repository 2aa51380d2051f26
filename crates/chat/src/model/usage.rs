//! The token usage of a step, and why the model stopped.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens, as the vendor counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Read by the model, those from a cache included.
    pub input: u64,
    /// Written by the model, its reasoning included.
    pub output: u64,
    /// Of the input: read from a cache.
    pub cached: u64,
    /// Of the input: written to a cache.
    pub cache_written: u64,
    /// Of the output: reasoning.
    pub reasoning: u64,
    /// True if the vendor reported no usage and these numbers are an estimate.
    pub estimated: bool,
}

impl Usage {
    /// Creates the usage of input and output tokens.
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output, ..Self::default() }
    }

    /// Returns the input and output tokens together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_written = self.cache_written.saturating_add(other.cache_written);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.estimated = self.estimated || other.estimated;
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The answer is complete.
    #[default]
    End,
    /// The model waits for the results of its calls.
    Calls,
    /// The token limit was reached: the answer is cut off.
    Length,
    /// A content filter of the vendor stopped the answer.
    Filtered,
    /// The model refuses to answer.
    Refused,
    /// The vendor paused a long answer; it continues when the request is sent again with the answer so far.
    Paused,
    /// Another reason, in the vendor's own word.
    Other(String),
}
