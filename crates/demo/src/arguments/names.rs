//! Names of places, people and languages: capitalized words, and words behind a preposition.

use std::ops::Range;

use super::patterns::is_calendar;
use super::{ArgumentFinder, FoundValue, value_found};
use crate::params::{Meaning, Param};
use crate::quantity::unit_word;
use crate::text::Punctuation;

/// Words inside a name that are written in lower case.
const PARTICLES: &str = "of the de la del di da von van der den am an upon";

/// How many words a name in lower case may have.
const MAX_LOWER_CASE: usize = 3;

/// Returns the prepositions before the name for a parameter, the most likely first.
fn prepositions(param: &Param) -> &'static str {
    match param.meaning {
        _ if param.is_source() => "from",
        _ if param.is_target() => "to into in",
        Meaning::Language => "to into in",
        Meaning::Person => "by for to with from of",
        _ => "in at near for around to from of",
    }
}

impl ArgumentFinder<'_, '_> {
    /// Finds the name of a place, person or language.
    pub(super) fn name(&self, param: &Param, params: &[Param]) -> Option<FoundValue> {
        use Meaning::{Language, Person, Place};
        let is_name = matches!(param.meaning, Place | Person | Language);
        let tokens = self.find_name(param, params).filter(|_| is_name)?;
        let name = self.text.slice(tokens.clone());
        let name = name.trim_end_matches("'s").trim_end_matches("’s");
        value_found(param, tokens, name.into(), 0.2)
    }

    fn find_name(&self, param: &Param, params: &[Param]) -> Option<Range<usize>> {
        let names = self.capitalized();
        let named = self.value_position(param);
        if let Some(name) = names.iter().find(|name| Some(name.start) == named) {
            return Some(name.clone());
        }
        let mut others = params.iter().filter(|other| other.name != param.name);
        let is_only_text = !others.any(|it| it.meaning == Meaning::Free && it.is_text());
        if let Some(quote) = self.quote().filter(|_| is_only_text && param.required) {
            return Some(quote);
        }
        let led = prepositions(param).split(' ').find_map(|preposition| {
            names.iter().find(|name| {
                self.is_behind(name.start, preposition) && !self.ends_clause(name.start - 1)
            })
        });
        if led.is_some() || !param.required {
            return led.cloned();
        }
        let is_directed = |param: &Param| param.is_source() || param.is_target();
        let directed = params.iter().any(is_directed);
        // Titles are capitalized too: beside one, only a preposition shows which name is the person's.
        let any = !is_directed(param) && (param.meaning != Meaning::Person || is_only_text);
        let mut free = names.into_iter();
        free.find(|name| any && !(directed && self.is_behind(name.start, "from to into")))
            .or_else(|| self.lower_case_name(prepositions(param)))
    }

    /// Returns the runs of free capitalized words.
    pub(super) fn capitalized(&self) -> Vec<Range<usize>> {
        let mut names = Vec::new();
        let mut at = 0;
        while at < self.used.len() {
            let (mut end, mut next) = (at, at);
            while next == at || !self.ends_clause(next - 1) {
                if self.is_name_word(next) {
                    end = next + 1;
                } else if next == at || !self.is(next, PARTICLES) || !self.is_free(next) {
                    break;
                }
                next += 1;
            }
            if (at..end).any(|at| !self.is(at, "the")) {
                names.push(at..end);
            }
            at = end.max(at + 1);
        }
        names
    }

    /// Returns true for a capitalized word of a name; at the start of a sentence any word is capitalized.
    fn is_name_word(&self, at: usize) -> bool {
        let Some(token) = self.token(at).filter(|token| token.is_capitalized()) else {
            return false;
        };
        let is_the = token.is("the");
        let is_acronym = token.text.len() > 1 && token.text.chars().all(char::is_uppercase);
        let is_unit = token.text.len() < 3 && unit_word(token.text, false).is_some();
        let starts_sentence = at == 0 || self.punctuation(at - 1) == Punctuation::Stop;
        self.is_unclaimed(at)
            && (is_acronym || is_the || !token.is_stop_word())
            && !is_unit
            && !(starts_sentence && (is_the || self.is_tool_word(at)))
    }

    /// Returns true for a free word that is no day, no quotation and no word of the tool.
    fn is_unclaimed(&self, at: usize) -> bool {
        let token = self.token(at).filter(|_| self.is_free(at) && !self.is_matched(at));
        token.is_some_and(|token| !token.quoted && !is_calendar(token))
    }

    /// Finds a name in lower case behind a preposition: "in new york".
    pub(super) fn lower_case_name(&self, prepositions: &str) -> Option<Range<usize>> {
        let starts =
            (0..self.used.len()).filter(|at| self.is(*at, prepositions) && !self.ends_clause(*at));
        let mut names = starts.map(|at| {
            let first = at + 1 + usize::from(self.is(at + 1, "the a an"));
            let mut end = first;
            while end < first + MAX_LOWER_CASE && self.is_plain_word(end) {
                end += 1;
                if self.ends_clause(end - 1) {
                    break;
                }
            }
            first..end
        });
        names.find(|name| !name.is_empty())
    }

    /// Returns true for a word that may be a name in lower case.
    fn is_plain_word(&self, at: usize) -> bool {
        let token = self.token(at).filter(|_| self.is_unclaimed(at));
        token.is_some_and(|token| {
            !token.has_digit() && !token.is_stop_word() && unit_word(token.text, true).is_none()
        })
    }

    /// Finds the only words of a terse sentence that do not match the tool: "tokyo weather".
    pub(super) fn only_name(&self) -> Option<Range<usize>> {
        let all = 0..self.used.len();
        let is_terse = all.clone().all(|at| {
            self.is_matched(at)
                || self.is_plain_word(at)
                || self.is(at, "the for please thanks now today in a get")
        });
        let first = all.clone().find(|at| self.is_plain_word(*at))?;
        let last = all.rev().find(|at| self.is_plain_word(*at))?;
        let is_run = (first..=last).all(|at| self.is_plain_word(at) && !self.is_tool_word(at));
        (is_terse && is_run && last - first < MAX_LOWER_CASE).then_some(first..last + 1)
    }
}
