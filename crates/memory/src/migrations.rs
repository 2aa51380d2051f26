//! Which tables there are in, the steps to those there should be out.

use toolwright_chat::StoreError;

/// The steps that are left, each with the version it leads to; forward only.
///
/// A version is the number of steps that were taken.
pub(crate) fn left<'a>(
    place: &str,
    found: i64,
    steps: &'a [&'static str],
) -> Result<impl Iterator<Item = (i64, &'static str)> + use<'a>, StoreError> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let taken = usize::try_from(found).unwrap_or(usize::MAX);
    if taken > steps.len() {
        return Err(StoreError::new(format!(
            "{place} has tables of version {found}, and this Toolwright knows those up to version {known}: use a newer Toolwright, or another store"
        )));
    }
    Ok((1..).zip(steps.iter().copied()).skip(taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[&str] = &["one", "two"];

    #[test]
    fn only_the_steps_that_are_left_are_taken() {
        let left = |found| -> Vec<_> { left("it", found, STEPS).unwrap().collect() };
        assert_eq!(left(0), [(1, "one"), (2, "two")]);
        assert_eq!(left(1), [(2, "two")]);
        assert_eq!(left(2), []);
    }

    #[test]
    fn newer_tables_are_refused_by_both_versions() {
        for found in [3, i64::MAX, -1] {
            let error = left("it", found, STEPS).err().unwrap().to_string();
            assert!(error.contains(&format!("version {found},")), "{error}");
            assert!(error.contains("up to version 2:"), "{error}");
        }
    }
}
