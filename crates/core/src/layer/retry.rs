//! [`Retry`]: runs a failed call again.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::sleep;

use super::{Invocation, Layer, LayerPosition, Next};
use crate::backoff::Backoff;
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;

/// The longest backoff between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// Runs a tool again when it failed or timed out, with exponential backoff.
///
/// Only tools declared read-only or idempotent are repeated. Errors that the model has to correct
/// (`ToolError::retry`) or that end the turn (`ToolError::fatal`) are not repeated.
#[derive(Clone, Debug)]
pub struct Retry {
    retries: u32,
    backoff: Duration,
}

impl Retry {
    /// Repeats a failed call up to `retries` times, the first time after 200 ms.
    pub fn new(retries: u32) -> Self {
        Self { retries, backoff: Duration::from_millis(200) }
    }

    /// Sets the first backoff; each further backoff is twice as long, up to 30 s.
    #[must_use]
    pub fn backoff(mut self, first: Duration) -> Self {
        self.backoff = first;
        self
    }
}

impl Layer for Retry {
    fn position(&self) -> LayerPosition {
        LayerPosition::Retry
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        if !call.tool().hints.is_repeatable() {
            return next.run();
        }
        Box::pin(async move {
            for (retries, delay) in (0..self.retries).zip(Backoff::new(self.backoff, MAX_BACKOFF)) {
                let result = next.run().await;
                let is_transient = match result.outcome {
                    Outcome::TimedOut => true,
                    Outcome::Failed => result.error == Some(ErrorKind::Failed),
                    _ => false,
                };
                if !is_transient {
                    return with_retry_note(result, retries);
                }
                sleep(delay).await;
            }
            with_retry_note(next.run().await, self.retries)
        })
    }
}

fn with_retry_note(mut result: ToolResult, retries: u32) -> ToolResult {
    if retries > 0 {
        result.notes.push(format!("tried {} times", retries + 1));
    }
    result
}
