//! Calls of the past, as APIs take them back: under names and ids that they allow.

use std::borrow::Cow;
use std::collections::HashSet;

/// The longest name that every API takes.
const MAX_NAME_CHARS: usize = 64;

/// A name for a call that a model made up, or that another vendor allowed: letters, digits, `_` and `-`.
///
/// One such name in the history would have every later request refused.
pub(crate) fn valid_tool_name(name: &str) -> Cow<'_, str> {
    if toolwright_core::ToolName::is_valid(name) {
        return Cow::Borrowed(name);
    }
    let plain = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    let name: String = name.chars().map(plain).take(MAX_NAME_CHARS).collect();
    Cow::Owned(if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    })
}

/// The ids of calls in one request, none of which comes twice.
#[derive(Debug, Default)]
pub(crate) struct UniqueCallIds(HashSet<String>);

impl UniqueCallIds {
    /// The id that the next call goes by: its own, unless that is taken, empty or longer than `longest`.
    pub(crate) fn unique_id(&mut self, id: &str, longest: usize) -> String {
        let id = if id.is_empty() { "call" } else { id };
        // Room is left for a number, so that ids which begin alike still differ.
        let short = match id.len() > longest {
            true => id.get(..id.floor_char_boundary(longest.saturating_sub(8))),
            false => None,
        };
        let id = short.unwrap_or(id);
        let mut unique = id.to_owned();
        let mut number = 2_usize;
        while self.0.contains(&unique) {
            let end = format!("_{number}");
            let room = longest.saturating_sub(end.len());
            let kept = id.get(..id.floor_char_boundary(room)).unwrap_or_default();
            unique = format!("{kept}{end}");
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
    fn a_name_that_an_api_would_refuse_is_rewritten_and_another_stays() {
        assert_eq!(valid_tool_name("get_weather"), "get_weather");
        assert_eq!(
            valid_tool_name("functions.get weather:0"),
            "functions_get_weather_0"
        );
        assert_eq!(valid_tool_name("für"), "f_r");
        assert_eq!(valid_tool_name(""), "unknown");
        assert_eq!(valid_tool_name(&"é".repeat(80)), "_".repeat(64));
    }

    #[test]
    fn no_id_comes_twice_is_empty_or_is_too_long() {
        let mut ids = UniqueCallIds::default();
        let long = "é".repeat(50);
        let given = ["call_1", "call_1", "call_1_2", "", "", &long, &long];
        let told: Vec<String> = given.iter().map(|id| ids.unique_id(id, 64)).collect();
        assert_eq!(
            told[..5],
            ["call_1", "call_1_2", "call_1_2_2", "call", "call_2"]
        );
        assert_ne!(told[5], told[6]);
        assert!(told.iter().all(|id| id.len() <= 64), "{told:?}");
    }
}
