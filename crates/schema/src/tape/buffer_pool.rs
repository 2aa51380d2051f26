//! One tape's memory, kept for the next.
//!
//! A tape of ordinary arguments is just too long for the allocator's quick lists, and every call makes one.

use std::cell::Cell;

use super::Item;

thread_local! {
    static SPARE: Cell<Vec<Item<'static>>> = const { Cell::new(Vec::new()) };
}

/// A longer tape than this was an exception, and its memory is not kept.
const MAX_POOLED_ITEMS: usize = 4096;

/// Returns an empty list, with the memory of the last tape of this thread.
pub(super) fn acquire<'t>() -> Vec<Item<'t>> {
    SPARE.take()
}

/// Keeps the memory of a tape that is done with.
pub(super) fn release(mut items: Vec<Item<'_>>) {
    if items.capacity() > MAX_POOLED_ITEMS {
        return;
    }
    items.clear();
    // Collecting in place turns an empty list of one lifetime into one of another, memory and all.
    let spare = items.into_iter().map(|_| Item::Null).collect();
    // A thread that is ending has nothing to keep it in.
    let _ = SPARE.try_with(|kept| kept.set(spare));
}
