//! Text that can be anything: quoted, behind a colon, behind a word that leads to it, or all that is left.

use std::ops::Range;

use serde_json::Value;

use super::Filler;
use crate::meaning::Meaning;
use crate::shape::{Param, Shape};
use crate::words::Gap;

/// Stems of names, the words that lead to such a text, and whether they lead to nothing else.
const CUES: [(&[&str], &[&str], bool); 7] = [
    (
        &["topic", "subject", "about", "them"],
        &["about", "on", "regarding", "concerning", "of"],
        false,
    ),
    (
        &["query", "search", "keyword", "term", "question"],
        &["about", "for", "on", "regarding"],
        false,
    ),
    (
        &["titl", "nam", "label"],
        &["called", "named", "titled", "entitled"],
        true,
    ),
    (&["reason", "caus", "why"], &["because", "since"], true),
    (
        &["messag", "text", "body", "content", "not", "comment"],
        &["saying", "says", "that"],
        false,
    ),
    (&["author", "writer"], &["by"], true),
    (&["task", "item", "description"], &["about", "to"], false),
];

/// Words that do not begin what is left.
pub(super) const SKIPPED: [&str; 24] = [
    "for", "of", "on", "about", "the", "a", "an", "to", "with", "that", "in", "by", "me", "my",
    "our", "us", "at", "from", "please", "is", "and", "into", "some", "any",
];

const COURTESY: [&str; 2] = ["please", "thanks"];

/// Words that lead to something which was taken away.
const DANGLING: [&str; 11] = [
    "on", "at", "to", "in", "for", "with", "from", "of", "by", "and", "until",
];

impl Filler<'_, '_> {
    /// Finds text that can only be meant for this parameter.
    pub(super) fn told_prose(&mut self, param: &Param, params: &[Param]) -> Option<Value> {
        if !is_prose(param) {
            return None;
        }
        let named = self.named_prose(param, params);
        let told = named.or_else(|| {
            self.behind(
                cues(param).filter(|(_, telling)| *telling)?.0,
                param,
                params,
            )
        });
        let (words, evidence) = told?;
        self.give(param, words, evidence)
    }

    /// Finds text that a parameter must have: in quotation marks, or where such text usually stands.
    pub(super) fn prose(&mut self, param: &Param, params: &[Param]) -> Option<Value> {
        if !is_prose(param) || !param.required {
            return None;
        }
        let quote = self.quote();
        let (words, evidence) = quote.or_else(|| self.behind(cues(param)?.0, param, params))?;
        self.give(param, words, evidence)
    }

    pub(super) fn give(
        &mut self,
        param: &Param,
        words: Range<usize>,
        evidence: f32,
    ) -> Option<Value> {
        let words = self.trimmed(words);
        let value = self.text.between(words.clone());
        if value.is_empty() || !Self::admits(param, value) {
            return None;
        }
        self.take(words, evidence);
        Some(value.into())
    }

    /// Behind the parameter's own name: "title: …", "reason is …".
    fn named_prose(&self, param: &Param, params: &[Param]) -> Option<(Range<usize>, f32)> {
        let mention = self.mention(param)?;
        let place = self.after(&mention)?;
        let told = self.word(mention.end - 1)?.gap == Gap::Colon;
        let between = self.words().get(mention.end..place).unwrap_or_default();
        let led = between
            .iter()
            .any(|word| word.is(&["is", "as", "called", "named", "equals"]));
        let strays = between
            .iter()
            .any(|word| word.is(&["to", "of", "at", "with"]));
        let quoted = self.word(place)?.quoted;
        let deed = mention
            .clone()
            .any(|place| self.setting.deeds.contains(&place));
        let plain = !deed && !strays && !self.word(place).is_some_and(|word| word.is(&SKIPPED));
        if !(told || led || quoted || plain) {
            return None;
        }
        let words = if quoted {
            self.text
                .quotes
                .iter()
                .find(|quote| quote.contains(&place))?
                .clone()
        } else {
            place..self.end(place, param, params)
        };
        Some((words, 0.2))
    }

    pub(super) fn quote(&self) -> Option<(Range<usize>, f32)> {
        let free = |quote: &&Range<usize>| (*quote).clone().all(|place| self.is_free(place));
        let quote = self.text.quotes.iter().find(free)?;
        Some((quote.clone(), 0.1))
    }

    /// Behind one of these words.
    pub(super) fn behind(
        &self,
        leads: &[&str],
        param: &Param,
        params: &[Param],
    ) -> Option<(Range<usize>, f32)> {
        let mut words = self.words().iter().enumerate();
        let (place, _) = words.find(|(place, word)| {
            let led = word.is(leads) && word.gap == Gap::Space;
            led && self.is_free(place + 1) && !self.is_spoken(place + 1)
        })?;
        Some((place + 1..self.end(place + 1, param, params), 0.0))
    }

    pub(super) fn behind_colon(
        &self,
        param: &Param,
        params: &[Param],
    ) -> Option<(Range<usize>, f32)> {
        let mut colons = self
            .words()
            .iter()
            .enumerate()
            .filter(|(_, word)| word.gap == Gap::Colon);
        let (place, _) = colons.find(|(place, _)| self.is_free(place + 1))?;
        Some((place + 1..self.end(place + 1, param, params), 0.0))
    }

    /// Where a text ends that begins here: at a pause, at another's words, at what leads to another parameter.
    fn end(&self, from: usize, param: &Param, params: &[Param]) -> usize {
        let others: Vec<&Param> = params
            .iter()
            .filter(|other| other.name != param.name)
            .collect();
        let mentioned: Vec<usize> = others
            .iter()
            .filter_map(|other| self.mention(other))
            .map(|mention| mention.start)
            .collect();
        let leads_away = |place: usize| {
            let Some(word) = self.word(place) else {
                return true;
            };
            let cue = |other: &&Param| {
                let mut rows = CUES.iter().filter(|(_, _, telling)| *telling);
                let person = other.meaning == Meaning::Person && word.is(&["for", "by"]);
                person
                    || rows.any(|(stems, leads, _)| {
                        word.is(leads)
                            && other
                                .words
                                .iter()
                                .any(|word| stems.contains(&word.as_str()))
                    })
            };
            let joins = word.is(&["with", "and", "for", "at"]);
            let next = (place + 1..place + 3)
                .any(|next| mentioned.contains(&next) || self.used.get(next) == Some(&true));
            others.iter().any(cue) || joins && next
        };
        let mut end = from;
        while self.is_free(end) && !(end > from && (mentioned.contains(&end) || leads_away(end))) {
            end += 1;
            let gap = self.word(end - 1).map_or(Gap::Stop, |word| word.gap);
            if gap == Gap::Stop || gap == Gap::Comma {
                break;
            }
        }
        end
    }

    /// Without the words that only make a sentence of it.
    pub(super) fn trimmed(&self, mut words: Range<usize>) -> Range<usize> {
        let open = |place: usize| {
            let word = self.word(place);
            word.is_some_and(|word| !word.quoted && (word.is(&COURTESY) || word.is(&DANGLING)))
        };
        while words.end > words.start && open(words.end - 1) {
            words.end -= 1;
        }
        words
    }
}

/// The words that lead to such a text, and whether they lead to nothing else.
fn cues(param: &Param) -> Option<(&'static [&'static str], bool)> {
    let has = |stems: &[&str]| {
        param
            .words
            .iter()
            .any(|word| stems.contains(&word.as_str()))
    };
    let row = CUES.iter().find(|(stems, ..)| has(stems))?;
    Some((row.1, row.2))
}

fn is_prose(param: &Param) -> bool {
    let kind = matches!(
        param.meaning,
        Meaning::Free | Meaning::Person | Meaning::Time | Meaning::Unit
    );
    kind && matches!(param.shape, Shape::Text { .. }) && param.meaning != Meaning::Unit
}
