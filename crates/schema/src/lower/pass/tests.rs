//! Golden pairs: the output of one pass for a schema, and the losses it reports.

mod arrays;
mod budgets;
mod composition;
mod keywords;
mod properties;
mod refs;
mod root;
mod values;
mod whole_dialects;

use serde_json::Value;

use super::Pass;
use crate::{
    Dialect, Schema, Severity, Tape,
    lower::{LowerError, LoweringState},
};

/// Runs one pass; losses come as they are shown.
fn run_pass(pass: Pass, dialect: Dialect, before: Value) -> (Value, Vec<String>) {
    let mut state = LoweringState::new(&before, dialect).unwrap();
    pass(&mut state).unwrap();
    let (after, losses) = (state.schema, state.losses);
    (after, losses.iter().map(ToString::to_string).collect())
}

/// Compares both halves of a pair, and what was lost between them.
fn assert_pass(pass: Pass, dialect: Dialect, before: Value, after: Value, losses: &[&str]) {
    let (made, lost) = run_pass(pass, dialect, before);
    assert_eq!(made, after);
    assert_eq!(lost, losses);
}

/// Runs one pass on a schema in which another has left marks.
fn run_pass_with_marks(pass: Pass, dialect: Dialect, before: Value) -> (Value, Vec<String>) {
    let mut state = LoweringState::new(&Value::Bool(true), dialect).unwrap();
    state.schema = before;
    state.invalidate_keywords();
    pass(&mut state).unwrap();
    let (after, losses) = (state.schema, state.losses);
    (after, losses.iter().map(ToString::to_string).collect())
}

/// Runs one pass that has to refuse.
fn pass_error(pass: Pass, dialect: Dialect, before: Value) -> LowerError {
    let mut state = LoweringState::new(&before, dialect).unwrap();
    pass(&mut state).unwrap_err()
}

/// Checks that a pass reports what it does to the verdict on each of these values.
fn assert_losses_reported(pass: Pass, dialect: Dialect, schemas: &[Value], values: &[Value]) {
    for before in schemas {
        let mut state = LoweringState::new(before, dialect).unwrap();
        pass(&mut state).unwrap();
        let (after, losses) = (state.schema, state.losses);
        let reported = |severity| losses.iter().any(|loss| loss.severity == severity);
        let (canonical, lowered) =
            (Schema::check(before.clone()).unwrap(), Schema::check(after.clone()).unwrap());
        for value in values {
            let tape = Tape::from_value(value);
            let (was, is) = (canonical.is_valid(tape.root()), lowered.is_valid(tape.root()));
            let story = || format!("{value}\nin {before}\nwas {was}, in {after}\nis {is}");
            assert!(is || !was || reported(Severity::Narrower), "narrower: {}", story());
            assert!(was || !is || reported(Severity::Wider), "wider: {}", story());
        }
    }
}
