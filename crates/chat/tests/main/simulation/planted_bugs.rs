//! Bugs of the simulated processes and of their connections to the store: the checker has to find each of them.

use super::{SEEDS, first_failing, run_seed};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PlantedBug {
    /// A client is answered before its item is stored.
    AcknowledgesBeforeCommit,
    /// A lease of an earlier term still appends.
    StaleLeaseAppends,
    /// The lease is released before the end of the turn is stored.
    ReleasesLeaseEarly,
    /// Events are numbered by the wall clock of the process.
    NumbersByWallClock,
    /// An item is removed from the inbox in a transaction before the one that appends its entry.
    TakesBeforeAppend,
    /// A call runs before its start is stored.
    RunsBeforeStartIsStored,
}

#[track_caller]
fn assert_found(bug: PlantedBug) {
    let Some(seed) = first_failing(0..SEEDS, Some(bug)) else {
        panic!("{bug:?} is not found in {SEEDS} seeds");
    };
    let failure = run_seed(seed, Some(bug), false).unwrap_err();
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
fn a_lease_that_is_released_before_the_turn_is_over_is_found() {
    assert_found(PlantedBug::ReleasesLeaseEarly);
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
