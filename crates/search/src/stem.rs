//! Stems of words: Snowball's, by the script of the word.

use rust_stemmers::{Algorithm, Stemmer};

use crate::words::words;

/// Returns the Snowball stem of a word in lower case, without a possessive `'s`.
///
/// The algorithm follows from the script: English for Latin letters, Russian for Cyrillic, and those of Greek, Arabic and
/// Tamil. A word in another script is its own stem.
pub fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word).trim_end_matches('\'');
    let Some(algorithm) = word.chars().next().and_then(algorithm) else { return word.to_owned() };
    let stem = Stemmer::create(algorithm).stem(word);
    // A stemmer may remove all of a word that is nothing but an ending.
    if stem.is_empty() { word.to_owned() } else { stem.into_owned() }
}

/// Returns the stems of a text's words: `getUserName`, `get_user-name` and `Get user name` have the same.
pub fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

fn algorithm(letter: char) -> Option<Algorithm> {
    match letter {
        'a'..='z' | 'ß'..='ɏ' => Some(Algorithm::English),
        'Ͱ'..='Ͽ' => Some(Algorithm::Greek),
        'Ѐ'..='ӿ' => Some(Algorithm::Russian),
        '\u{600}'..='\u{6FF}' => Some(Algorithm::Arabic),
        '\u{B80}'..='\u{BFF}' => Some(Algorithm::Tamil),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (one, other) in [
            ("books", "booking"),
            ("reserve", "reservation"),
            ("cities", "city"),
            ("translation", "translate"),
            ("boxes", "box"),
            ("tokyo's", "tokyo"),
            ("refunding", "refunds"),
            ("stopping", "stop"),
            ("погоды", "погода"),
            ("погоду", "погода"),
        ] {
            assert_eq!(stem(one), stem(other), "{one}, {other}");
        }
        for word in ["status", "bus", "is", "the", "glass", "天気", "'"] {
            assert_eq!(stem(word), word.trim_end_matches('\''));
        }
    }
}
