//! Lists: "milk, eggs and bread", or every option that is named.

use std::ops::Range;

use serde_json::Value;

use super::Filler;
use crate::shape::{Param, Shape};
use crate::words::{Gap, is_stop};

impl Filler<'_, '_> {
    /// Finds the elements of a list.
    pub(super) fn list(&mut self, param: &Param, params: &[Param]) -> Option<Value> {
        let Shape::List(of) = &param.shape else {
            return None;
        };
        match &of.shape {
            Shape::Choice(_) => {
                let mut options = Vec::new();
                // Each option takes its words away, so this ends.
                while let Some(option) = self.choice(of, params) {
                    options.push(option);
                }
                (!options.is_empty()).then(|| options.into())
            }
            Shape::Text { .. } => self.texts(param),
            _ => None,
        }
    }

    fn texts(&mut self, param: &Param) -> Option<Value> {
        let free = |words: &Range<usize>| words.clone().all(|place| self.is_free(place));
        let quotes: Vec<Range<usize>> = self
            .text
            .quotes
            .iter()
            .filter(|it| free(it))
            .cloned()
            .collect();
        let named = self.mention(param).and_then(|mention| self.after(&mention));
        let items = if !quotes.is_empty() && (param.required || named.is_some()) {
            quotes
        } else {
            let runs = (0..self.words().len()).map(|from| self.items(from));
            let named = named
                .map(|from| self.items(from))
                .filter(|items| !items.is_empty());
            match named {
                Some(items) => items,
                None if param.required => runs.rev().max_by_key(Vec::len)?,
                None => return None,
            }
        };
        let texts: Vec<Value> = items
            .iter()
            .map(|words| self.text.between(words.clone()).into())
            .collect();
        if texts.is_empty() {
            return None;
        }
        for words in items {
            self.take(words, 0.0);
        }
        Some(texts.into())
    }

    /// Reads elements from here on, as long as they go on.
    fn items(&self, from: usize) -> Vec<Range<usize>> {
        let mut items: Vec<Range<usize>> = Vec::new();
        let mut open = true;
        for place in from..self.words().len() {
            let Some(word) = self.word(place) else { break };
            if word.is(&["and", "or"]) && !items.is_empty() {
                open = true;
                continue;
            }
            if !self.is_free(place) || self.is_spoken(place) || is_stop(&word.lower) {
                break;
            }
            match items.last_mut().filter(|_| !open) {
                Some(last) => last.end = place + 1,
                None => items.push(place..place + 1),
            }
            open = word.gap == Gap::Comma;
            if matches!(word.gap, Gap::Stop | Gap::Colon) {
                break;
            }
        }
        items
    }
}
