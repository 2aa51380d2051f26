//! Keys of shared state: those of a person, their limits, and ranges of them.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::SharedStateError;

/// The maximum length of a space and of a key: an index entry of PostgreSQL has room for both.
const MAX_KEY_BYTES: usize = 1024;

/// Returns the key of something that belongs to a person: `name`, under the [prefix](subject_key_prefix) of the subject.
pub fn subject_key(subject: Option<&str>, name: &str) -> String {
    format!("{}{name}", subject_key_prefix(subject))
}

/// Returns what the keys of a person begin with: a digest of the subject, which has the same length for all; `None` is the
/// operator.
///
/// With it, [`SharedState::remove_prefix`](super::SharedState::remove_prefix) removes what a person has in all spaces.
pub fn subject_key_prefix(subject: Option<&str>) -> String {
    match subject {
        None => "operator/".to_owned(),
        Some(subject) => format!("{}/", HEXLOWER.encode(&Sha256::digest(subject))),
    }
}

/// Returns an error if a space or a key is too long; implementations of [`SharedState`](super::SharedState) begin with it.
///
/// # Errors
///
/// When one of them has more than 1,024 bytes.
pub fn check_shared_key(space: &str, key: &str) -> Result<(), SharedStateError> {
    if space.len().max(key.len()) > MAX_KEY_BYTES {
        return Err(SharedStateError::new(format!(
            "a key of shared state has {} bytes, and {MAX_KEY_BYTES} are the maximum: use a digest of it",
            space.len().max(key.len())
        )));
    }
    Ok(())
}

/// Returns the first text after all that begin with `prefix`, by the order of code points; `None` if there is none.
pub fn prefix_end(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_after_every_text_that_begins_with_it() {
        for prefix in ["a", "az", "\u{d7ff}", "a\u{10ffff}", "é/"] {
            let end = prefix_end(prefix).unwrap();
            for rest in ["", "a", "\u{10ffff}\u{10ffff}"] {
                assert!(format!("{prefix}{rest}") < end, "{prefix:?} {rest:?} {end:?}");
            }
        }
        assert_eq!(prefix_end("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(prefix_end(""), None);
        assert_eq!(prefix_end("\u{10ffff}"), None);
    }

    #[test]
    fn keys_of_different_subjects_never_share_a_prefix() {
        let (ann, anna) = (subject_key(Some("ann"), "a/x"), subject_key(Some("ann"), ""));
        assert!(ann.starts_with(&anna));
        assert!(!ann.starts_with(&subject_key_prefix(Some("ann/a"))));
        assert!(!subject_key(Some("operator"), "x").starts_with(&subject_key_prefix(None)));
    }
}
