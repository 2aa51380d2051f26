//! Tests of conversations through the public API: requests, answers, events and journals.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod approvals;
mod branches;
mod cancelling;
mod child_calls;
mod costs;
mod decisions;
mod extracting;
mod failures;
mod hosted;
mod importing;
mod inline;
mod journal_format;
mod journals;
mod limits;
mod manual;
mod nodes;
mod orphans;
mod parallel;
mod policies;
mod prompts;
mod queues;
mod repair;
mod selection;
mod simulation;
mod stores;
mod streaming;
mod support;
mod telemetry;
mod tool_search;
mod turns;
mod windows;
