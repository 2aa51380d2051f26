//! Selects the migration steps that the tables of a store still need.

use toolwright_chat::{
    Entry, EntryBody, StoreError, Turn, TurnAction, TurnLimits, TurnStatus, is_turn_over,
};

/// The version whose step adds the column `turn`, which is then computed from the entries.
pub(crate) const TURN_VERSION: i64 = 3;

/// Why the tables of a store cannot be prepared.
pub(crate) enum PrepareError {
    Driver(sqlx::Error),
    /// The store is intact, but this version must not use it.
    Rejected(StoreError),
}

impl From<sqlx::Error> for PrepareError {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

/// Returns the steps that were not applied yet, each with the version it results in. There are no steps back.
///
/// A version is the number of steps that were applied. Tables with more steps than are known can be used if `oldest_reader`,
/// the oldest version that may use them, is known. `store` names the store in the error of a version that is too new.
pub(crate) fn pending_migrations<'a>(
    store: &str,
    version: i64,
    oldest_reader: Option<i64>,
    steps: &'a [&'static str],
) -> Result<impl Iterator<Item = (i64, &'static str)> + use<'a>, StoreError> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let applied = usize::try_from(version).unwrap_or(usize::MAX);
    if applied > steps.len() && oldest_reader.is_none_or(|oldest| oldest > known) {
        return Err(StoreError::new(format!(
            "{store} has tables of version {version}, and this Toolwright knows those up to version {known}: use a newer Toolwright, or another store"
        )));
    }
    Ok((1..).zip(steps.iter().copied()).skip(applied))
}

/// Returns true if an entry is the end of a turn.
pub(crate) fn is_turn_end(text: &str) -> bool {
    Entry::from_json(text).is_ok_and(|entry| is_turn_over(&[entry]))
}

/// Returns the status of the last turn of a journal that a version before [`TURN_VERSION`] wrote; `texts` are its entries.
pub(crate) fn last_turn_status(texts: &[String]) -> TurnStatus {
    // A damaged entry is an error when the conversation is opened, not here: the other conversations are intact.
    let entries: Vec<Entry> = texts.iter().filter_map(|text| Entry::from_json(text).ok()).collect();
    if is_turn_over(&entries) {
        return TurnStatus::Over;
    }
    let mut turn = Turn::new(TurnLimits::default());
    for entry in &entries {
        // The decisions of those versions are not signed, so a turn that resumes ignores them.
        if !matches!(entry.body, EntryBody::ApprovalDecided { .. }) {
            turn.apply(entry);
        }
    }
    let last_time = entries.last().map_or(0, |entry| entry.at);
    match turn.next_action(last_time) {
        _ if turn.is_over() => TurnStatus::Over,
        TurnAction::AwaitApproval(_) => TurnStatus::Paused,
        _ => TurnStatus::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[&str] = &["one", "two"];

    #[test]
    fn only_the_steps_that_were_not_applied_are_pending() {
        let pending = |version| -> Vec<_> {
            pending_migrations("it", version, None, STEPS).unwrap().collect()
        };
        assert_eq!(pending(0), [(1, "one"), (2, "two")]);
        assert_eq!(pending(1), [(2, "two")]);
        assert_eq!(pending(2), []);
    }

    #[test]
    fn the_error_for_newer_tables_names_both_versions() {
        for version in [3, i64::MAX, -1] {
            let pending = pending_migrations("it", version, None, STEPS);
            let error = pending.err().unwrap().to_string();
            assert!(error.contains(&format!("version {version},")), "{error}");
            assert!(error.contains("up to version 2:"), "{error}");
        }
    }

    #[test]
    fn newer_tables_can_be_used_if_the_oldest_version_that_may_use_them_is_known() {
        let pending = |oldest| {
            pending_migrations("it", 9, Some(oldest), STEPS).map(Iterator::count).map_err(drop)
        };
        assert_eq!([1, 2, 3].map(pending), [Ok(0), Ok(0), Err(())]);
    }
}
