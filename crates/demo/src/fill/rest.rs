//! What is left of a sentence, for the one parameter that still needs it.

use std::ops::Range;

use serde_json::Value;

use super::prose::SKIPPED;
use super::{Filler, Values};
use crate::meaning::Meaning;
use crate::shape::{Param, Shape};
use crate::words::{Word, is_stop};

/// Words that lead to any text.
const LEADS: [&str; 7] = [
    "about",
    "on",
    "regarding",
    "called",
    "named",
    "saying",
    "for",
];

impl Filler<'_, '_> {
    /// Gives what is left to the one parameter that still needs it.
    pub(super) fn last_resort(&mut self, params: &[Param], values: &mut Values) {
        for (param, value) in params.iter().zip(values.iter_mut()) {
            if value.is_none() && param.required {
                *value = self.other_unit(param);
            }
        }
        let is_open = |(param, value): &(&Param, &mut Option<Value>)| {
            value.is_none() && param.required && matches!(param.shape, Shape::Text { .. })
        };
        let mut open = params.iter().zip(values).filter(is_open);
        let (Some((param, value)), None) = (open.next(), open.next()) else {
            return;
        };
        let all = 0..self.words().len();
        let (words, said) = match param.meaning {
            _ if self.setting.reply => (Some(self.stripped(all)), 0.1),
            Meaning::Free => (self.only_prose(param, params), 0.0),
            Meaning::Place | Meaning::Person => (self.leftover(), 0.1),
            Meaning::Path => {
                let behind = self.mention(param).and_then(|mention| self.after(&mention));
                let behind = behind.filter(|place| self.is_free(*place));
                (behind.map(|place| place..place + 1), 0.1)
            }
            _ => (None, 0.0),
        };
        let fits = |words: &Range<usize>| match param.meaning {
            Meaning::Free => words.len() <= 60,
            Meaning::Person | Meaning::Place => {
                let asks = |word: &Word<'_>| {
                    word.is(&["what", "what's", "how", "where", "who", "why", "when"])
                };
                let says =
                    |place: usize| self.word(place).is_some_and(|word| !is_stop(&word.lower));
                words.len() <= 5 && words.clone().any(says) && !self.words().iter().any(asks)
            }
            Meaning::Id => {
                words.len() == 1 && self.word(words.start).is_some_and(|word| word.has_digit())
            }
            Meaning::Url | Meaning::Email | Meaning::Date => false,
            _ => words.len() == 1,
        };
        let free = |words: &Range<usize>| words.clone().all(|place| self.is_free(place));
        if let Some(words) = words.filter(|words| fits(words) && free(words)) {
            *value = self.give(param, words, said);
        }
    }

    /// Everything behind the last word that speaks for the tool.
    fn remainder(&self) -> Option<Range<usize>> {
        let places = || self.setting.spoken.iter().copied();
        let last = places().filter(|place| self.is_free(*place)).max()?;
        let mut end = last + 1;
        while self.is_free(end) {
            end += 1;
        }
        let mut words = self.stripped(last + 1..end);
        if words.is_empty() {
            words = self.stripped(0..places().min()?);
            if words.clone().any(|place| self.is_tool_word(place)) {
                return None;
            }
        }
        let says = |place: usize| {
            let word = self.word(place);
            word.is_some_and(|word| !is_stop(&word.lower))
        };
        (words.clone().any(says) && !words.clone().any(|place| self.is_spoken(place)))
            .then_some(words)
    }

    fn stripped(&self, mut words: Range<usize>) -> Range<usize> {
        let said = [
            "it", "it's", "its", "that", "i", "want", "would", "like", "use", "take", "say",
            "make", "can", "you", "could",
        ];
        let skipped = |place: usize| {
            let reply = self.setting.reply;
            self.word(place).is_some_and(|word| {
                let article = word.is(&["the", "a", "an"]) && (reply || word.is_capital());
                word.is(&SKIPPED) && !article || word.is(&said)
            })
        };
        while words.start < words.end && skipped(words.start) {
            words.start += 1;
        }
        self.trimmed(words)
    }

    /// Whatever may be meant for the only text that is missing.
    fn only_prose(&self, param: &Param, params: &[Param]) -> Option<Range<usize>> {
        let told = self.behind_colon(param, params);
        let told = told.or_else(|| self.behind(&LEADS, param, params));
        let told = told.map(|(words, _)| words);
        told.or_else(|| self.capitals().into_iter().next())
            .or_else(|| self.remainder())
    }
}
