//! [`RateLimit`]: limits the calls of a tool per caller and period.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{Invocation, Layer, LayerPosition, Next};
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;

/// The maximum number of windows in memory; the oldest are evicted first.
const MAX_TRACKED_WINDOWS: usize = 10_000;

/// Limits the calls of one tool by one caller in a fixed window; unused calls do not carry over.
///
/// A call over the limit is rejected at once with the time to wait, which the model reads.
pub struct RateLimit {
    calls: u32,
    period: Duration,
    windows: Mutex<Windows>,
}

/// Windows by tool and caller.
type Windows = HashMap<(String, Option<String>), Window>;

/// The calls of one caller in the current period.
struct Window {
    started_at: Instant,
    used: u32,
}

impl RateLimit {
    /// Allows `calls` calls per `period`, for each tool and caller.
    pub fn new(calls: u32, period: Duration) -> Self {
        Self { calls, period, windows: Mutex::default() }
    }

    /// Counts a call; `Err` is the time until the next window.
    fn try_acquire(&self, call: &Invocation<'_>) -> Result<(), Duration> {
        let key = (call.tool().name.to_string(), call.caller().name().map(str::to_owned));
        let now = Instant::now();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_TRACKED_WINDOWS && !windows.contains_key(&key) {
            windows.retain(|_, window| now.duration_since(window.started_at) < self.period);
            evict_oldest(&mut windows);
        }
        let window = windows.entry(key).or_insert(Window { started_at: now, used: 0 });
        if now.duration_since(window.started_at) >= self.period {
            *window = Window { started_at: now, used: 0 };
        }
        if window.used >= self.calls {
            return Err(self.period.saturating_sub(now.duration_since(window.started_at)));
        }
        window.used += 1;
        Ok(())
    }
}

/// Evicts the oldest tenth if the windows of the current period alone reach the maximum.
fn evict_oldest(windows: &mut Windows) {
    if windows.len() < MAX_TRACKED_WINDOWS {
        return;
    }
    let mut ages: Vec<Instant> = windows.values().map(|window| window.started_at).collect();
    let (_, oldest, _) = ages.select_nth_unstable(MAX_TRACKED_WINDOWS / 10);
    let oldest = *oldest;
    windows.retain(|_, window| window.started_at > oldest);
}

impl Layer for RateLimit {
    fn position(&self) -> LayerPosition {
        LayerPosition::RateLimit
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        let wait = match self.try_acquire(&call) {
            Ok(()) => return next.run(),
            Err(wait) => wait,
        };
        let message = format!(
            "`{}` was called too often: try again in {} s",
            call.tool().name,
            wait.as_millis().div_ceil(1000)
        );
        let rejected = ToolResult::from_outcome(Outcome::Denied, ErrorKind::Retry, message);
        Box::pin(std::future::ready(rejected))
    }
}
