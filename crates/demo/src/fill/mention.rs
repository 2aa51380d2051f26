//! Where a sentence names a parameter, and where its value then stands.

use std::ops::Range;

use super::Filler;
use crate::shape::Param;
use crate::words::Gap;

/// Words between a parameter's name and its value.
const FILLERS: [&str; 18] = [
    "is", "of", "to", "at", "as", "was", "number", "no", "nr", "id", "equals", "be", "should",
    "called", "named", "with", "the", "a",
];

/// Parts of names that say nothing alone.
const EMPTY: [&str; 8] = ["id", "nam", "number", "no", "cod", "valu", "to", "from"];

impl Filler<'_, '_> {
    /// Finds the parameter's name in the sentence: all of it, or a word that tells.
    pub(super) fn mention(&self, param: &Param) -> Option<Range<usize>> {
        let whole = self.sequence(&param.words);
        whole.or_else(|| {
            let telling = param
                .words
                .iter()
                .filter(|stem| !EMPTY.contains(&stem.as_str()));
            telling
                .filter(|stem| stem.len() > 1)
                .find_map(|stem| self.sequence(std::slice::from_ref(stem)))
        })
    }

    fn sequence(&self, stems: &[String]) -> Option<Range<usize>> {
        let words = self.words();
        let length = stems.len();
        if length == 0 {
            return None;
        }
        let at = words.windows(length).position(|window| {
            let same = |(word, stem): (&crate::words::Word<'_>, &String)| {
                word.stem == *stem && !word.quoted
            };
            window.iter().zip(stems).all(same)
        })?;
        Some(at..at + length)
    }

    /// Returns where the value stands that follows a parameter's name.
    pub(super) fn after(&self, mention: &Range<usize>) -> Option<usize> {
        let mut place = mention.end;
        loop {
            let last = self.word(place.checked_sub(1)?)?;
            if matches!(last.gap, Gap::Stop | Gap::Comma) {
                return None;
            }
            let word = self.word(place)?;
            let filler = last.gap == Gap::Space && word.is(&FILLERS) && place < mention.end + 3;
            if !filler {
                return Some(place);
            }
            place += 1;
        }
    }
}
