//! Reuses the memory of the previous tape.
//!
//! A tape of ordinary arguments is just too large for the allocator's fast path, and every call creates one.

use std::cell::Cell;

use super::Item;

thread_local! {
    static SPARE: Cell<Vec<Item<'static>>> = const { Cell::new(Vec::new()) };
}

/// Larger buffers are rare and not kept.
const MAX_POOLED_ITEMS: usize = 4096;

/// Returns an empty buffer, with the memory of this thread's previous tape if there is one.
pub(super) fn acquire<'t>() -> Vec<Item<'t>> {
    SPARE.take()
}

/// Keeps the memory of a dropped tape for the next.
pub(super) fn release(mut items: Vec<Item<'_>>) {
    if items.capacity() > MAX_POOLED_ITEMS {
        return;
    }
    items.clear();
    // Collecting in place converts an empty list to another lifetime and keeps its allocation.
    let spare = items.into_iter().map(|_| Item::Null).collect();
    // Fails only while the thread is shutting down.
    let _ = SPARE.try_with(|kept| kept.set(spare));
}
