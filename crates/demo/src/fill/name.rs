//! Names of places, people and languages: capitals, and the little words that lead to them.

use std::ops::Range;

use serde_json::Value;

use super::typed::is_calendar;
use super::{Direction, Filler};
use crate::meaning::Meaning;
use crate::shape::{Param, Shape};
use crate::units::standing;
use crate::words::{Gap, is_stop};

/// Words inside a name that are written small.
const INNER: [&str; 14] = [
    "of", "the", "de", "la", "del", "di", "da", "von", "van", "der", "den", "am", "an", "upon",
];

/// How many words a name in small letters may have.
const MOST_SMALL: usize = 3;

impl Filler<'_, '_> {
    /// Finds a name that the sentence leads to.
    pub(super) fn name(&mut self, param: &Param, params: &[Param]) -> Option<Value> {
        let is_name = matches!(
            param.meaning,
            Meaning::Place | Meaning::Person | Meaning::Language
        );
        if !is_name || !matches!(param.shape, Shape::Text { .. }) {
            return None;
        }
        let (words, evidence) = self.find_name(param, params)?;
        let value = self.text.between(words.clone());
        let value = value
            .strip_suffix("'s")
            .or_else(|| value.strip_suffix("’s"))
            .unwrap_or(value);
        if !Self::admits(param, value) {
            return None;
        }
        self.take(words, evidence);
        Some(value.into())
    }

    fn find_name(&self, param: &Param, params: &[Param]) -> Option<(Range<usize>, f32)> {
        let direction = Direction::of(param);
        let leads = direction.leads(param.meaning);
        let capitals = self.capitals();
        let named = self.mention(param).and_then(|mention| self.after(&mention));
        let named = named.and_then(|place| capitals.iter().find(|run| run.start == place));
        if let Some(run) = named {
            return Some((run.clone(), 0.2));
        }
        let wants_prose = |other: &Param| {
            other.name != param.name
                && other.meaning == Meaning::Free
                && matches!(other.shape, Shape::Text { .. })
        };
        let alone = !params.iter().any(wants_prose);
        if let Some((quote, _)) = self.quote().filter(|_| alone && param.required) {
            return Some((quote, 0.2));
        }
        let is_led = |place: usize, leads: &[&str]| {
            let before = self.before(place);
            before.is_some_and(|word| word.is(leads) && word.gap == Gap::Space)
        };
        let led = leads.iter().find_map(|lead| {
            let mut runs = capitals.iter();
            runs.find(|run| is_led(run.start, &[*lead]))
        });
        if let Some(run) = led {
            return Some((run.clone(), 0.2));
        }
        if !param.required {
            return None;
        }
        let other_way = |run: &&Range<usize>| {
            let before = self.before(run.start);
            let directed = params
                .iter()
                .any(|other| Direction::of(other) != Direction::None);
            directed && before.is_some_and(|word| word.is(&["from", "to", "into"]))
        };
        // A title is written in capitals too: where one is wanted, a person has to be led to.
        let any = direction == Direction::None && (param.meaning != Meaning::Person || alone);
        let free = capitals.iter().find(|run| !other_way(run)).filter(|_| any);
        free.map(|run| (run.clone(), 0.2))
            .or_else(|| Some((self.small_name(leads)?, 0.2)))
    }

    /// Runs of words in capitals that nobody has taken.
    pub(super) fn capitals(&self) -> Vec<Range<usize>> {
        let words = self.words();
        let mut runs = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let mut end = at;
            let mut next = at;
            while let Some(word) = words.get(next) {
                let joins = next == at
                    || words
                        .get(next - 1)
                        .is_some_and(|before| before.gap == Gap::Space);
                if joins && self.is_name_word(next) {
                    end = next + 1;
                } else if !(joins && next > at && word.is(&INNER) && self.is_free(next)) {
                    break;
                }
                next += 1;
            }
            let says = |word: &crate::words::Word<'_>| !word.is(&["the"]);
            if words.get(at..end).unwrap_or_default().iter().any(says) {
                runs.push(at..end);
            }
            at = end.max(at + 1);
        }
        runs
    }

    fn is_name_word(&self, place: usize) -> bool {
        let Some(word) = self.word(place) else {
            return false;
        };
        let initials = word.text.len() > 1 && word.text.chars().all(char::is_uppercase);
        let empty = is_stop(&word.lower) && !initials && !word.is(&["the"]);
        let begins = place == 0 || self.before(place).is_some_and(|word| word.gap == Gap::Stop);
        let is_unit = standing(word.text, false).is_some() && word.text.len() < 3;
        word.is_capital()
            && self.is_free(place)
            && !self.is_spoken(place)
            && !word.quoted
            && !empty
            && !is_unit
            && !is_calendar(word)
            // Everybody begins a sentence with a capital.
            && !(begins && (self.is_tool_word(place) || word.is(&["the"])))
    }

    /// A name in small letters behind a word that leads to it: "in new york".
    pub(super) fn small_name(&self, leads: &[&str]) -> Option<Range<usize>> {
        let words = self.words();
        let starts = words
            .iter()
            .enumerate()
            .filter(|(_, word)| word.is(leads) && word.gap == Gap::Space);
        let mut runs = starts.map(|(place, _)| {
            let article = self
                .word(place + 1)
                .is_some_and(|word| word.is(&["the", "a", "an"]));
            let first = place + 1 + usize::from(article);
            let mut end = first;
            while end < first + MOST_SMALL && self.is_small_word(end) {
                end += 1;
                if self.ends(end - 1) {
                    break;
                }
            }
            first..end
        });
        runs.find(|run| !run.is_empty())
    }

    fn is_small_word(&self, place: usize) -> bool {
        self.word(place).is_some_and(|word| {
            self.is_free(place)
                && !self.is_spoken(place)
                && !word.quoted
                && !word.has_digit()
                && !is_stop(&word.lower)
                && !is_calendar(word)
                && standing(word.text, true).is_none()
        })
    }

    /// The only words of a short sentence that say nothing else: "tokyo weather".
    pub(super) fn leftover(&self) -> Option<Range<usize>> {
        let words = self.words();
        let terse = words.iter().enumerate().all(|(place, word)| {
            let little = [
                "the", "for", "please", "thanks", "now", "today", "in", "a", "get",
            ];
            self.is_spoken(place) || self.is_small_word(place) || word.is(&little)
        });
        if !terse {
            return None;
        }
        let mut places = (0..words.len()).filter(|place| self.is_small_word(*place));
        let first = places.next()?;
        let last = places.next_back().unwrap_or(first);
        let whole =
            (first..=last).all(|place| self.is_small_word(place) && !self.is_tool_word(place));
        (whole && last - first < MOST_SMALL).then_some(first..last + 1)
    }
}
