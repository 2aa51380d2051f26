//! Times as milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the milliseconds from 1970 to a time; `None` if it is earlier.
pub fn unix_millis_of(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH).ok().map(whole_millis)
}

/// Returns the current time in milliseconds since 1970; 0 if the clock is before 1970.
pub fn unix_millis_now() -> u64 {
    unix_millis_of(SystemTime::now()).unwrap_or_default()
}

/// Returns the time to compare an expiry with: the current time; [`u64::MAX`] if the clock is before 1970, so that nothing
/// is valid.
pub fn expiry_millis_now() -> u64 {
    unix_millis_of(SystemTime::now()).unwrap_or(u64::MAX)
}

/// Returns a duration in milliseconds, at most [`u64::MAX`].
pub fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
