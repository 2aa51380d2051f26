//! Selects the migration steps that the tables of a store still need.

use toolwright_chat::StoreError;

/// The version that the first step results in; every further step adds one.
///
/// Lower versions are those of development versions. Until 0.1 is published, an edit of the first step raises this number; then
/// both stay as they are.
pub(crate) const FIRST_VERSION: i64 = 6;

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

/// Returns the version that all of these steps result in.
pub(crate) fn newest_version(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX).saturating_add(FIRST_VERSION - 1)
}

/// Returns the steps that were not applied yet, each with the version it results in. There are no steps back.
///
/// `version` is that of the tables, 0 if there are none. Tables of a newer version than is known can be used if
/// `oldest_reader`, the oldest version that may use them, is known. `store` names the store in errors.
pub(crate) fn pending_migrations<'a>(
    store: &str,
    version: i64,
    oldest_reader: Option<i64>,
    steps: &'a [&'static str],
) -> Result<impl Iterator<Item = (i64, &'static str)> + use<'a>, StoreError> {
    if (1..FIRST_VERSION).contains(&version) {
        return Err(incompatible(format!(
            "{store} has tables of version {version}, which only development versions of Toolwright wrote: use another store; the version that wrote it exports what is to be kept, with `toolwright conversations export`"
        )));
    }
    let known = newest_version(steps);
    let is_newer = !(0..=known).contains(&version);
    if is_newer && oldest_reader.is_none_or(|oldest| oldest > known) {
        return Err(incompatible(format!(
            "{store} has tables of version {version}, and this Toolwright knows those up to version {known}: use a newer Toolwright, or another store"
        )));
    }
    let steps = (FIRST_VERSION..).zip(steps.iter().copied());
    Ok(steps.filter(move |(result, _)| *result > version))
}

fn incompatible(message: String) -> StoreError {
    StoreError::Incompatible { message }
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
        assert_eq!(pending(0), [(FIRST_VERSION, "one"), (FIRST_VERSION + 1, "two")]);
        assert_eq!(pending(FIRST_VERSION), [(FIRST_VERSION + 1, "two")]);
        assert_eq!(pending(FIRST_VERSION + 1), []);
    }

    #[test]
    fn the_error_for_newer_tables_names_both_versions() {
        let known = FIRST_VERSION + 1;
        for version in [known + 1, i64::MAX, -1] {
            let pending = pending_migrations("it", version, None, STEPS);
            let error = pending.err().unwrap().to_string();
            assert!(error.contains(&format!("version {version},")), "{error}");
            assert!(error.contains(&format!("up to version {known}:")), "{error}");
        }
    }

    #[test]
    fn newer_tables_can_be_used_if_the_oldest_version_that_may_use_them_is_known() {
        let pending = |oldest| {
            let oldest = Some(FIRST_VERSION + oldest);
            pending_migrations("it", 99, oldest, STEPS).map(Iterator::count).map_err(drop)
        };
        assert_eq!([0, 1, 2].map(pending), [Ok(0), Ok(0), Err(())]);
    }

    #[test]
    fn the_error_for_tables_of_a_development_version_says_how_to_keep_conversations() {
        for version in 1..FIRST_VERSION {
            let pending = pending_migrations("it", version, Some(1), STEPS);
            let error = pending.err().unwrap().to_string();
            assert!(error.starts_with(&format!("it has tables of version {version},")), "{error}");
            assert!(error.contains("use another store; "), "{error}");
            assert!(error.contains("`toolwright conversations export`"), "{error}");
        }
    }
}
