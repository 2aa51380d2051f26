//! Free text: quoted, behind a label or a word that introduces it, or the rest of the sentence.

use std::ops::Range;

use super::{ArgumentFinder, FoundValue};
use crate::params::{Meaning, Param};
use crate::text::Punctuation;

/// Words of parameter names, the words that introduce such a text, and whether these introduce nothing else.
const INTRODUCTIONS: [(&str, &str, bool); 8] = [
    ("topic subject theme", "about on regarding of", false),
    ("query search question", "about for on regarding", false),
    ("keyword term", "about for on regarding", false),
    ("title name label", "called named titled entitled", true),
    ("reason cause why", "because since", true),
    ("message text body content", "saying says that", false),
    ("author writer", "by", true),
    ("task item description", "about to", false),
];

/// Words that introduce any text.
const ANY_INTRODUCTION: &str = "about on regarding called named saying for";

/// Words before a text that are not part of it.
const LEADING: &str =
    "for of on about the a an to with that in by me my our us at from please is and into some any";
const LEADING_REPLY: &str = "it it's its that i want would like use take say make can you could";

/// Words behind a text that are not part of it.
const TRAILING: &str = "please thanks on at to in for with from of by and until";

const QUESTION_WORDS: &str = "what what's how where who why when";

/// How many words a text, and a name, may have.
const MAX_TEXT: usize = 60;
const MAX_NAME: usize = 5;

/// Returns the words that introduce the text of a parameter; if wanted, only those that introduce nothing else.
fn introduction(param: &Param, only_unique: bool) -> Option<&'static str> {
    let mut rows = INTRODUCTIONS.iter();
    let (_, words, is_unique) = rows.find(|(names, ..)| param.has_word(names))?;
    (*is_unique || !only_unique).then_some(words)
}

fn is_prose(param: &Param) -> bool {
    use Meaning::{Free, Person, Time};
    matches!(param.meaning, Free | Person | Time) && param.is_text()
}

impl ArgumentFinder<'_, '_> {
    /// Finds text behind the parameter's name, or behind a word that introduces nothing else.
    pub(super) fn labelled_text(&self, param: &Param, params: &[Param]) -> Option<FoundValue> {
        match self.behind_label(param, params) {
            _ if !is_prose(param) => None,
            Some(tokens) => self.found_text(param, tokens, 0.2),
            None => self.introduced(introduction(param, true)?, param, params),
        }
    }

    /// Finds a required text in quotation marks, or behind a word that introduces it.
    pub(super) fn required_text(&self, param: &Param, params: &[Param]) -> Option<FoundValue> {
        match self.quote() {
            _ if !is_prose(param) || !param.required => None,
            Some(quote) => self.found_text(param, quote, 0.1),
            None => self.introduced(introduction(param, false)?, param, params),
        }
    }

    /// Finds a value for the only required text that is still open, in the rest of the sentence.
    pub(super) fn remaining_text(&self, param: &Param, params: &[Param]) -> Option<FoundValue> {
        use Meaning::{Date, Email, Free, Id, Path, Person, Place, Url};
        if self.open_texts != 1 || !param.required || !param.is_text() {
            return None;
        }
        let all = 0..self.used.len();
        let tokens = match param.meaning {
            _ if self.context.is_reply => self.strip(all.clone()),
            Free => return self.rest(param, params),
            Place | Person => self.only_name()?,
            Path => self.value_position(param).map(|at| at..at + 1)?,
            _ => return None,
        };
        let fits = match param.meaning {
            Free => tokens.len() <= MAX_TEXT,
            Person | Place => {
                let is_question = all.clone().any(|at| self.is(at, QUESTION_WORDS));
                tokens.len() <= MAX_NAME && !is_question && self.has_content(&tokens)
            }
            Id => tokens.len() == 1 && self.token(tokens.start)?.has_digit(),
            Url | Email | Date => false,
            _ => tokens.len() == 1,
        };
        let is_free = fits && self.all_free(&tokens);
        self.found_text(param, tokens, 0.1).filter(|_| is_free)
    }

    /// Finds these tokens without the words at their end that are not part of the text.
    fn found_text(&self, param: &Param, tokens: Range<usize>, evidence: f32) -> Option<FoundValue> {
        self.found(param, self.trim_end(tokens), evidence)
    }

    /// Finds text behind the parameter's own name: "title: …", "reason is …".
    fn behind_label(&self, param: &Param, params: &[Param]) -> Option<Range<usize>> {
        let label = self.mention(param)?;
        let at = self.value_position(param)?;
        if self.token(at)?.quoted {
            let mut quotes = self.text.quotes.iter();
            return quotes.find(|quote| quote.contains(&at)).cloned();
        }
        let links = |words: &str| (label.end..at).any(|at| self.is(at, words));
        let has_colon = self.punctuation(label.end - 1) == Punctuation::Colon;
        let is_action = label.clone().any(|at| self.context.action.contains(&at));
        let is_direct = !is_action && !links("to of at with") && !self.is(at, LEADING);
        let is_label = has_colon || is_direct || links("is as called named equals");
        is_label.then(|| at..self.end(at, param, params))
    }

    pub(super) fn quote(&self) -> Option<Range<usize>> {
        let mut quotes = self.text.quotes.iter();
        quotes.find(|quote| self.all_free(quote)).cloned()
    }

    /// Finds text behind one of these words.
    fn introduced(&self, words: &str, param: &Param, params: &[Param]) -> Option<FoundValue> {
        let at = (1..self.used.len()).find(|at| {
            let is_introduced = self.is_behind(*at, words) && !self.ends_clause(at - 1);
            is_introduced && self.is_free(*at) && !self.is_matched(*at)
        })?;
        self.found_text(param, at..self.end(at, param, params), 0.0)
    }

    /// Returns where a text ends: at punctuation, at a used token, or where another parameter's value is introduced.
    fn end(&self, start: usize, param: &Param, params: &[Param]) -> usize {
        let others = || params.iter().filter(|other| other.name != param.name);
        let mentions = others().filter_map(|other| self.mention(other));
        let mentions: Vec<usize> = mentions.map(|mention| mention.start).collect();
        let introduces = |at: usize, other: &Param| {
            introduction(other, true).is_some_and(|words| self.is(at, words))
                || other.meaning == Meaning::Person && self.is(at, "for by")
        };
        let is_other = |at: usize| mentions.contains(&at) || self.used.get(at) == Some(&true);
        let is_end = |at: usize| {
            let joins = self.is(at, "with and for at") && (is_other(at + 1) || is_other(at + 2));
            joins || mentions.contains(&at) || others().any(|other| introduces(at, other))
        };
        let mut end = start;
        while self.is_free(end) && (end == start || !is_end(end)) {
            end += 1;
            let punctuation = self.punctuation(end - 1);
            if punctuation == Punctuation::Stop || punctuation == Punctuation::Comma {
                break;
            }
        }
        end
    }

    /// Finds any text that may be meant for the only open parameter.
    fn rest(&self, param: &Param, params: &[Param]) -> Option<FoundValue> {
        let is_text =
            |at: &usize| self.punctuation(at - 1) == Punctuation::Colon && self.is_free(*at);
        let behind_colon = (1..self.used.len()).find(is_text);
        let behind_colon = behind_colon.map(|at| at..self.end(at, param, params));
        let capitalized = || self.capitalized().into_iter().next();
        let found = |tokens| self.found_text(param, tokens, 0.0);
        behind_colon
            .and_then(found)
            .or_else(|| self.introduced(ANY_INTRODUCTION, param, params))
            .or_else(|| capitalized().or_else(|| self.remainder()).and_then(found))
            .filter(|found| found.tokens.len() <= MAX_TEXT)
    }

    /// Finds the tokens behind the last one that matches the tool, else those before the first.
    fn remainder(&self) -> Option<Range<usize>> {
        let matched = self.context.matched.iter().copied();
        let last = matched.clone().filter(|at| self.is_free(*at)).max()?;
        let used = (last + 1..self.used.len()).find(|at| !self.is_free(*at));
        let behind = self.strip(last + 1..used.unwrap_or(self.used.len()));
        let before = self.strip(0..matched.min()?);
        let is_other = |tokens: &Range<usize>| !tokens.clone().any(|at| self.is_tool_word(at));
        let tokens = match behind.is_empty() {
            true => Some(before).filter(is_other)?,
            false => behind,
        };
        let is_matched = tokens.clone().any(|at| self.is_matched(at));
        (!is_matched && self.has_content(&tokens)).then_some(tokens)
    }

    fn has_content(&self, tokens: &Range<usize>) -> bool {
        let mut tokens = tokens.clone().filter_map(|at| self.token(at));
        tokens.any(|token| !token.is_stop_word())
    }

    /// Removes words around a text that are not part of it; an article that may begin a title stays.
    fn strip(&self, mut tokens: Range<usize>) -> Range<usize> {
        let is_leading = |at: usize| {
            let is_capitalized = self.token(at).is_some_and(|token| token.is_capitalized());
            let is_title = self.is(at, "the a an") && (self.context.is_reply || is_capitalized);
            self.is(at, LEADING) && !is_title || self.is(at, LEADING_REPLY)
        };
        while !tokens.is_empty() && is_leading(tokens.start) {
            tokens.start += 1;
        }
        self.trim_end(tokens)
    }

    fn trim_end(&self, mut tokens: Range<usize>) -> Range<usize> {
        let is_quoted = |at: usize| self.token(at).is_some_and(|token| token.quoted);
        let is_trailing = |at: usize| self.is(at, TRAILING) && !is_quoted(at);
        while !tokens.is_empty() && is_trailing(tokens.end - 1) {
            tokens.end -= 1;
        }
        tokens
    }
}
