//! [`RateLimit`]: limits the calls of a tool per caller and period.

use std::time::Duration;

use futures::future::BoxFuture;

use super::{Invocation, Layer, LayerPosition, Next};
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;
use crate::shared_state::local_windows::{LocalWindows, SharedStateBreaker};
use crate::shared_state::{Count, SharedState, subject_key};

/// The space of the shared state; a key is the caller, the tool and the limit.
const SPACE: &str = "rate_limit";

/// Limits the calls of one tool by one caller in a fixed window; unused calls do not carry over.
///
/// A call over the limit is rejected at once with the time to wait, which the model reads.
///
/// Where the invoker has [shared state](crate::InvokerBuilder::shared_state), the calls of all nodes count together. While that
/// cannot be reached, each node counts its own calls.
pub struct RateLimit {
    calls: u32,
    period: Duration,
    /// By tool and caller.
    windows: LocalWindows<(String, Option<String>)>,
    breaker: SharedStateBreaker,
}

impl RateLimit {
    /// Allows `calls` calls per `period`, for each tool and caller.
    pub fn new(calls: u32, period: Duration) -> Self {
        Self { calls, period, windows: LocalWindows::default(), breaker: Default::default() }
    }

    /// Counts a call with those of all nodes, or with those of this one while the shared state cannot be reached; `Err` is the
    /// time until the next window.
    async fn try_acquire_shared(
        &self,
        state: &dyn SharedState,
        call: &Invocation<'_>,
    ) -> Result<(), Duration> {
        // Other limits of the same tool have counters of their own.
        let limit = format!("{}/{}/{}", call.tool().name, self.calls, self.period.as_millis());
        let key = subject_key(call.caller().name(), &limit);
        let counted = state.count(SPACE, &key, 1, u64::from(self.calls), self.period);
        let consequence = "this node limits its own calls for a while";
        match self.breaker.run(counted, consequence).await {
            Ok(count) => check(count),
            Err(_) => self.try_acquire(call),
        }
    }

    /// Rejects a call that is over the limit.
    fn reject(call: &Invocation<'_>, wait: Duration) -> ToolResult {
        let message = format!(
            "`{}` was called too often: try again in {} s",
            call.tool().name,
            wait.as_millis().div_ceil(1000)
        );
        ToolResult::from_outcome(Outcome::Denied, ErrorKind::Retry, message)
    }

    /// Counts a call of this process; `Err` is the time until the next window.
    fn try_acquire(&self, call: &Invocation<'_>) -> Result<(), Duration> {
        let key = (call.tool().name.to_string(), call.caller().name().map(str::to_owned));
        check(self.windows.count(key, 1, u64::from(self.calls), self.period))
    }
}

fn check(count: Count) -> Result<(), Duration> {
    match count.is_admitted {
        true => Ok(()),
        false => Err(count.resets_in),
    }
}

impl Layer for RateLimit {
    fn position(&self) -> LayerPosition {
        LayerPosition::RateLimit
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        if let Some(state) = call.shared_state() {
            return Box::pin(async move {
                match self.try_acquire_shared(state, &call).await {
                    Ok(()) => next.run().await,
                    Err(wait) => Self::reject(&call, wait),
                }
            });
        }
        match self.try_acquire(&call) {
            Ok(()) => next.run(),
            Err(wait) => Box::pin(std::future::ready(Self::reject(&call, wait))),
        }
    }
}
