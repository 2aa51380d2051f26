//! [`Lexicon`]: the terms of words, so that each word is stemmed once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::english::is_stop_word;
use crate::stem::stem;

/// How many words are remembered, before all are forgotten.
const MAX_WORDS: usize = 100_000;

/// The longest word that is indexed, in bytes.
const MAX_WORD_BYTES: usize = 64;

/// The terms of the words that were met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    terms: HashMap<Box<str>, Option<Arc<str>>, ahash::RandomState>,
}

impl Lexicon {
    /// Returns the stem of a word; `None` for a stop word and for one that is too long.
    pub(crate) fn term(&mut self, word: &str) -> Option<Arc<str>> {
        if word.len() > MAX_WORD_BYTES {
            return None;
        }
        if let Some(term) = self.terms.get(word) {
            return term.clone();
        }
        if self.terms.len() >= MAX_WORDS {
            self.terms.clear();
        }
        let term = (!is_stop_word(word)).then(|| Arc::from(stem(word)));
        self.terms.insert(Box::from(word), term.clone());
        term
    }
}
