//! The token usage of a step, and why the model stopped.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens, as the vendor counts them, or an estimate where it does not.
///
/// A model that reports no usage finishes with the default, all zeros: the chat then estimates what is missing, in the steps,
/// events and sums of the turn.
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
    /// True if the vendor reported no usage, or not all of it, and these numbers are an estimate.
    pub estimated: bool,
}

impl Usage {
    /// Creates the usage of input and output tokens.
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output, ..Self::default() }
    }

    /// Estimates what the vendor did not report: no request has an input of 0 tokens, and no answer an output of 0.
    #[must_use]
    pub(crate) fn or_estimate(mut self, input: impl FnOnce() -> u64, output: u64) -> Self {
        if self.input == 0 {
            self.input = input();
            self.estimated = true;
        }
        if self.output == 0 && output > 0 {
            self.output = output;
            self.estimated = true;
        }
        self
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
    /// The answer did not end: it was cancelled, took too long, or failed in the middle. The step has its text so far.
    Interrupted,
    /// Another reason, in the vendor's own word.
    Other(String),
}
