//! Names and ids of earlier calls, changed to what APIs accept in the history.

use std::collections::HashSet;

/// The maximum length of a name that every API accepts.
const MAX_NAME_CHARS: usize = 64;

/// Replaces the characters of a tool name that are not ASCII letters, digits, `_` or `-`.
///
/// A model may have invented a name, or another vendor allowed it; in the history it would make every later request fail.
pub(crate) fn valid_tool_name(name: &str) -> String {
    valid_name(name, "unknown")
}

/// A name of at most [`MAX_NAME_CHARS`] valid characters; `fallback` if the name is empty.
pub(crate) fn valid_name(name: &str, fallback: &str) -> String {
    let mut valid = valid_chars(if name.is_empty() { fallback } else { name });
    valid.truncate(MAX_NAME_CHARS);
    valid
}

/// Replaces all characters but ASCII letters, digits, `_` and `-`, each by `_`.
pub(crate) fn valid_chars(text: &str) -> String {
    let is_valid = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let chars = text.chars();
    chars.map(|char| Some(char).filter(is_valid).unwrap_or('_')).collect()
}

/// The ids of the calls in one request, kept unique.
#[derive(Debug, Default)]
pub(crate) struct UniqueCallIds(HashSet<String>);

impl UniqueCallIds {
    /// Returns the id to send for the next call: its own, unless that is taken, empty or longer than `max_bytes`.
    pub(crate) fn unique_id(&mut self, id: &str, max_bytes: usize) -> String {
        let id = if id.is_empty() { "call" } else { id };
        // Leaves room for a number, so that ids with the same prefix still differ.
        let shortened = match id.len() > max_bytes {
            true => id.get(..id.floor_char_boundary(max_bytes.saturating_sub(8))),
            false => None,
        };
        let id = shortened.unwrap_or(id);
        let mut unique = id.to_owned();
        let mut number = 2_usize;
        while self.0.contains(&unique) {
            let suffix = format!("_{number}");
            let room = max_bytes.saturating_sub(suffix.len());
            let prefix = id.get(..id.floor_char_boundary(room)).unwrap_or_default();
            unique = format!("{prefix}{suffix}");
            number = number.saturating_add(1);
        }
        self.0.insert(unique.clone());
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::{UniqueCallIds, valid_tool_name};

    #[test]
    fn a_name_that_an_api_would_reject_is_rewritten_and_another_stays() {
        assert_eq!(valid_tool_name("get_weather"), "get_weather");
        assert_eq!(valid_tool_name("functions.get weather:0"), "functions_get_weather_0");
        assert_eq!(valid_tool_name("für"), "f_r");
        assert_eq!(valid_tool_name(""), "unknown");
        assert_eq!(valid_tool_name(&"é".repeat(80)), "_".repeat(64));
    }

    #[test]
    fn no_id_comes_twice_is_empty_or_is_too_long() {
        let mut ids = UniqueCallIds::default();
        let long = "é".repeat(50);
        let given = ["call_1", "call_1", "call_1_2", "", "", &long, &long];
        let unique: Vec<String> = given.iter().map(|id| ids.unique_id(id, 64)).collect();
        assert_eq!(unique[..5], ["call_1", "call_1_2", "call_1_2_2", "call", "call_2"]);
        assert_ne!(unique[5], unique[6]);
        assert!(unique.iter().all(|id| id.len() <= 64), "{unique:?}");
    }
}
