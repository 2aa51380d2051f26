//! Selects the migration steps that the tables of a store still need.

use toolwright_chat::StoreError;

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
/// A version is the number of steps that were applied. `store` names the store in the error of a version that is too new.
pub(crate) fn pending_migrations<'a>(
    store: &str,
    version: i64,
    steps: &'a [&'static str],
) -> Result<impl Iterator<Item = (i64, &'static str)> + use<'a>, StoreError> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let applied = usize::try_from(version).unwrap_or(usize::MAX);
    if applied > steps.len() {
        return Err(StoreError::new(format!(
            "{store} has tables of version {version}, and this Toolwright knows those up to version {known}: use a newer Toolwright, or another store"
        )));
    }
    Ok((1..).zip(steps.iter().copied()).skip(applied))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[&str] = &["one", "two"];

    #[test]
    fn only_the_steps_that_were_not_applied_are_pending() {
        let pending =
            |version| -> Vec<_> { pending_migrations("it", version, STEPS).unwrap().collect() };
        assert_eq!(pending(0), [(1, "one"), (2, "two")]);
        assert_eq!(pending(1), [(2, "two")]);
        assert_eq!(pending(2), []);
    }

    #[test]
    fn the_error_for_newer_tables_names_both_versions() {
        for version in [3, i64::MAX, -1] {
            let error = pending_migrations("it", version, STEPS).err().unwrap().to_string();
            assert!(error.contains(&format!("version {version},")), "{error}");
            assert!(error.contains("up to version 2:"), "{error}");
        }
    }
}
