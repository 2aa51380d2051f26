//! How often a caller may call a tool.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{Invocation, Layer, LayerPosition, Next};
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;

/// How many callers' counts are kept; those that have rested longest are forgotten first.
const MAX_TRACKED_WINDOWS: usize = 10_000;

/// Lets each caller make a number of calls of one tool per period; unused ones do not add up.
///
/// A call too many is refused at once, and the model is told when to try again.
pub struct RateLimit {
    calls: u32,
    period: Duration,
    windows: Mutex<Windows>,
}

/// Windows by tool and caller.
type Windows = HashMap<(String, Option<String>), Window>;

/// What one caller has used of the current period.
struct Window {
    started_at: Instant,
    used: u32,
}

impl RateLimit {
    /// Allows `calls` calls per `period`, for each tool and caller.
    pub fn new(calls: u32, period: Duration) -> Self {
        Self {
            calls,
            period,
            windows: Mutex::default(),
        }
    }

    /// Counts a call; `Err` says how long to wait.
    fn try_acquire(&self, call: &Invocation<'_>) -> Result<(), Duration> {
        let key = (
            call.tool().name.to_string(),
            call.caller().name().map(str::to_owned),
        );
        let now = Instant::now();
        let mut seen = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MAX_TRACKED_WINDOWS && !seen.contains_key(&key) {
            seen.retain(|_, window| now.duration_since(window.started_at) < self.period);
            evict_oldest(&mut seen);
        }
        let window = seen.entry(key).or_insert(Window {
            started_at: now,
            used: 0,
        });
        if now.duration_since(window.started_at) >= self.period {
            *window = Window {
                started_at: now,
                used: 0,
            };
        }
        if window.used >= self.calls {
            return Err(self
                .period
                .saturating_sub(now.duration_since(window.started_at)));
        }
        window.used += 1;
        Ok(())
    }
}

/// Makes room, a tenth at a time, where more callers are seen in one period than are remembered.
fn evict_oldest(seen: &mut Windows) {
    if seen.len() < MAX_TRACKED_WINDOWS {
        return;
    }
    let mut ages: Vec<Instant> = seen.values().map(|window| window.started_at).collect();
    let (_, oldest, _) = ages.select_nth_unstable(MAX_TRACKED_WINDOWS / 10);
    let oldest = *oldest;
    seen.retain(|_, window| window.started_at > oldest);
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
        let refused = ToolResult::from_outcome(Outcome::Denied, ErrorKind::Retry, message);
        Box::pin(std::future::ready(refused))
    }
}
