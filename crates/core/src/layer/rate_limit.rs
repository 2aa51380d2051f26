//! How often a caller may call a tool.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{Invocation, Layer, Next, Place};
use crate::error::ErrorKind;
use crate::result::{Outcome, ToolResult};

/// How many callers' counts are kept; those that have rested longest are forgotten first.
const REMEMBERED: usize = 10_000;

/// Lets each caller make a number of calls of one tool per period; unused ones do not add up.
///
/// A call too many is refused at once, and the model is told when to try again.
pub struct RateLimit {
    calls: u32,
    period: Duration,
    seen: Mutex<Seen>,
}

/// Windows by tool and caller.
type Seen = HashMap<(String, Option<String>), Window>;

/// What one caller has used of the current period.
struct Window {
    since: Instant,
    used: u32,
}

impl RateLimit {
    /// Allows `calls` calls per `period`, for each tool and caller.
    pub fn new(calls: u32, period: Duration) -> Self {
        Self {
            calls,
            period,
            seen: Mutex::default(),
        }
    }

    /// Counts a call; `Err` says how long to wait.
    fn take(&self, call: &Invocation<'_>) -> Result<(), Duration> {
        let key = (
            call.tool().name.to_string(),
            call.caller().name().map(str::to_owned),
        );
        let now = Instant::now();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REMEMBERED && !seen.contains_key(&key) {
            seen.retain(|_, window| now.duration_since(window.since) < self.period);
            forget_oldest(&mut seen);
        }
        let window = seen.entry(key).or_insert(Window {
            since: now,
            used: 0,
        });
        if now.duration_since(window.since) >= self.period {
            *window = Window {
                since: now,
                used: 0,
            };
        }
        if window.used >= self.calls {
            return Err(self.period.saturating_sub(now.duration_since(window.since)));
        }
        window.used += 1;
        Ok(())
    }
}

/// Makes room, a tenth at a time, where more callers are seen in one period than are remembered.
fn forget_oldest(seen: &mut Seen) {
    if seen.len() < REMEMBERED {
        return;
    }
    let mut ages: Vec<Instant> = seen.values().map(|window| window.since).collect();
    let (_, oldest, _) = ages.select_nth_unstable(REMEMBERED / 10);
    let oldest = *oldest;
    seen.retain(|_, window| window.since > oldest);
}

impl Layer for RateLimit {
    fn place(&self) -> Place {
        Place::RateLimit
    }

    fn around<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        let wait = match self.take(&call) {
            Ok(()) => return next.run(),
            Err(wait) => wait,
        };
        let message = format!(
            "`{}` was called too often: try again in {} s",
            call.tool().name,
            wait.as_millis().div_ceil(1000)
        );
        let refused = ToolResult::refused(Outcome::Denied, ErrorKind::Retry, message);
        Box::pin(std::future::ready(refused))
    }
}
