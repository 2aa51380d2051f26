//! What stands around every run, in one fixed order: trace, (parse … approve), timeout, concurrency.
//!
//! Each file has one `around`, which takes the rest of the way as a future.

pub(super) mod concurrency;
pub(super) mod timeout;
pub(super) mod trace;
