//! What an answer took, and why it ended.

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
    /// Whether nobody reported these and they are an estimate.
    pub estimated: bool,
}

impl Usage {
    /// Counts tokens in and out.
    pub fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            ..Self::default()
        }
    }

    /// All of them.
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

/// Why an answer ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// All is said.
    #[default]
    End,
    /// Tools are to run.
    Calls,
    /// The most tokens are reached: what was said is cut off.
    Length,
    /// A filter stepped in.
    Filtered,
    /// The model refuses.
    Refused,
    /// The vendor pauses a long answer, to be asked again with what there is.
    Paused,
    /// Something else, in the vendor's word.
    Other(String),
}
