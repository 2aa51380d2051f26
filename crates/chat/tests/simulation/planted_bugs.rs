//! Bugs of the simulated processes and of their connections to the store: the checker has to find each of them.

use crate::{SEEDS, run_seed};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PlantedBug {
    /// A client is answered before its item is stored.
    AcknowledgesBeforeCommit,
    /// A lease of an earlier term still appends.
    StaleLeaseAppends,
    /// Events are numbered by the wall clock of the process.
    NumbersByWallClock,
    /// An item is removed from the inbox in a transaction before the one that appends its entry.
    TakesBeforeAppend,
    /// A call runs before its start is stored.
    RunsBeforeStartIsStored,
}

#[track_caller]
fn assert_found(bug: PlantedBug) {
    let found = (0..SEEDS).find_map(|seed| Some((seed, run_seed(seed, Some(bug), false).err()?)));
    let Some((seed, failure)) = found else {
        panic!("{bug:?} is not found in {SEEDS} seeds");
    };
    println!("{bug:?} is found by seed {seed}: {}", failure.lines().next().unwrap_or_default());
}

#[test]
fn an_acknowledgement_before_the_commit_is_found() {
    assert_found(PlantedBug::AcknowledgesBeforeCommit);
}

#[test]
fn an_append_with_a_stale_lease_is_found() {
    assert_found(PlantedBug::StaleLeaseAppends);
}

#[test]
fn numbers_by_the_wall_clock_are_found() {
    assert_found(PlantedBug::NumbersByWallClock);
}

#[test]
fn an_item_that_is_taken_before_its_entry_is_appended_is_found() {
    assert_found(PlantedBug::TakesBeforeAppend);
}

#[test]
fn a_call_that_runs_before_its_start_is_stored_is_found() {
    assert_found(PlantedBug::RunsBeforeStartIsStored);
}
