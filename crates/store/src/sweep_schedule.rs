//! When expired values of shared state are removed.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of writes after which expired values are removed.
const WRITES_PER_SWEEP: u32 = 128;

/// The maximum number of values that are removed at a time: more than were written since, so that expired values do not
/// accumulate, and few enough that no caller waits long.
pub(crate) const MAX_SWEPT: i64 = 512;

/// Counts writes.
#[derive(Default)]
pub(crate) struct SweepSchedule(AtomicU32);

impl SweepSchedule {
    /// Counts a write; returns true if expired values should be removed after it.
    pub(crate) fn is_due(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) % WRITES_PER_SWEEP == WRITES_PER_SWEEP - 1
    }
}
