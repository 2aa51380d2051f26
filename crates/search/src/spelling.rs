//! Misspelt words: similar stems, and where to look for them in an index.

use crate::tool_index::ToolIndex;

/// How many stems stand in for one that the index does not have.
const MAX_SIMILAR: usize = 16;

/// The longest word that is corrected.
const MAX_LETTERS: usize = 32;

impl ToolIndex {
    /// Returns the stems of the index that an unknown one may be a misspelling of, in order.
    ///
    /// Only stems with the same first letter are compared, and those whose first two letters are swapped. For a single
    /// character of a script without spaces, the pairs that begin with it are returned.
    pub(crate) fn similar_stems(&self, unknown: &str) -> Vec<&str> {
        let mut letters = unknown.chars();
        let Some(first) = letters.next() else { return Vec::new() };
        let same_initial = self.vocabulary.range::<str, _>((
            std::ops::Bound::Included(first.encode_utf8(&mut [0; 4]) as &str),
            std::ops::Bound::Unbounded,
        ));
        let same_initial = same_initial.map(|stem| &**stem);
        let same_initial = same_initial.take_while(|stem| stem.starts_with(first));
        if letters.as_str().is_empty() {
            let is_pair = |stem: &&str| !first.is_ascii() && stem.chars().count() == 2;
            return same_initial.filter(is_pair).take(MAX_SIMILAR).collect();
        }
        let swapped = letters.next().map(|second| {
            let swapped: String = [second, first].into_iter().chain(letters).collect();
            self.vocabulary.get(swapped.as_str()).map(|stem| &**stem)
        });
        let similar = same_initial.filter(|stem| is_similar(unknown, stem));
        similar.chain(swapped.flatten()).take(MAX_SIMILAR).collect()
    }
}

/// Returns true if two stems have the same root, or if one is a misspelling of the other.
pub fn is_similar(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return are_similar(one.as_bytes(), other.as_bytes());
    }
    let letters = |word: &str| word.chars().take(MAX_LETTERS + 1).collect::<Vec<char>>();
    are_similar(&letters(one), &letters(other))
}

fn are_similar<T: PartialEq>(one: &[T], other: &[T]) -> bool {
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    let begin = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    // A first letter is rarely wrong: "cold" is not "gold".
    if short < 4 || long > MAX_LETTERS || begin == 0 {
        return false;
    }
    let rest = long - begin;
    if begin >= 5 && (rest <= 2 || rest <= 4 && begin == short) {
        return true;
    }
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    // In a short word a replaced letter makes another word ("wrote" and "write"), swapped letters do not.
    match long - short {
        0 if begin + end + 1 == long => long > 5,
        0 if begin + end + 2 == long => {
            one.get(begin) == other.get(begin + 1) && one.get(begin + 1) == other.get(begin)
        }
        1 => begin + end >= short,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_and_words_of_one_root_are_similar() {
        for (one, other) in [
            ("weahter", "weather"),
            ("wether", "weather"),
            ("weatherr", "weather"),
            ("tempertur", "temperatur"),
            ("tiem", "time"),
            ("convers", "convert"),
            ("погода", "погоад"),
        ] {
            assert!(is_similar(one, other) && is_similar(other, one), "{one}, {other}");
        }
    }

    #[test]
    fn other_words_are_not_similar() {
        for (one, other) in [
            ("cold", "gold"),
            ("tim", "dim"),
            ("paris", "pair"),
            ("book", "look"),
            ("天気", "天使"),
            ("дом", "дым"),
        ] {
            assert!(!is_similar(one, other), "{one}, {other}");
        }
    }
}
