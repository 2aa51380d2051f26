//! The stems of a question.

use std::collections::HashSet;

use crate::english::is_stop_word;
use crate::stem::stem;
use crate::words::words;

/// How much is read at the beginning and at the end of a question, in bytes.
const MAX_HALF: usize = 4_096;

/// How many different stems a question may have.
const MAX_STEMS: usize = 512;

/// The longest word, in bytes.
const MAX_WORD: usize = 64;

/// Returns the different stems of a question in their order, without stop words and numbers; a word that consists of several,
/// as `get_weather`, is there as a whole too.
pub(crate) fn question_stems(question: &str) -> Vec<String> {
    let (begin, end) = excerpts(question);
    let mut seen: HashSet<String> = HashSet::new();
    let mut stems = Vec::new();
    for token in begin.split_whitespace().chain(end.split_whitespace()) {
        let parts = words(token);
        let is_name = parts.len() > 1 && token.is_ascii();
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let parts = parts.iter().filter(|part| !is_stop_word(part) && !is_number(part));
        let name = token.trim_matches(|mark: char| !mark.is_alphanumeric()).to_lowercase();
        let found = parts.map(|part| stem(part)).chain(is_name.then_some(name));
        for stem in found.filter(|stem| stem.len() <= MAX_WORD) {
            if stems.len() < MAX_STEMS && seen.insert(stem.clone()) {
                stems.push(stem);
            }
        }
    }
    stems
}

fn excerpts(question: &str) -> (&str, &str) {
    let begin = question.floor_char_boundary(MAX_HALF);
    let end = question.ceil_char_boundary(question.len().saturating_sub(MAX_HALF)).max(begin);
    (question.get(..begin).unwrap_or_default(), question.get(end..).unwrap_or_default())
}
