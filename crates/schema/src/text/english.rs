//! English phrases about types, counts and lists, for descriptions and error messages.

use serde_json::Number;

/// `an array`, `a string`, `null`.
pub(crate) fn with_article(json_type: &str) -> String {
    match json_type {
        "null" => json_type.to_owned(),
        "array" | "integer" | "object" => format!("an {json_type}"),
        _ => format!("a {json_type}"),
    }
}

/// `1 item`, `2 items`, `2 properties`.
pub(crate) fn count_noun(number: &Number, noun: &str) -> String {
    match noun {
        _ if number.as_f64() == Some(1.0) => format!("1 {noun}"),
        "property" => format!("{number} properties"),
        _ => format!("{number} {noun}s"),
    }
}

/// `a`, `a and b`, `a, b and c`, with `and` as the last word between.
pub(crate) fn join_words(words: &[String], last_word: &str) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => {
            format!("{} {last_word} {last}", first.join(", "))
        }
        _ => words.concat(),
    }
}

/// The beginning of a text, at most `max` characters and an ellipsis.
pub(crate) fn truncated(text: impl Into<String>, max: usize) -> String {
    let mut text = text.into();
    if let Some((end, _)) = text.char_indices().nth(max) {
        text.truncate(end);
        text.push('…');
    }
    text
}
