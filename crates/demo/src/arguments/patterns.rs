//! Values that are recognised by their form: addresses, files, dates, times and codes.

use std::sync::LazyLock;

use regex::Regex;

use super::{ArgumentFinder, FoundValue, value_found};
use crate::params::{Meaning, Param};
use crate::text::{Form, Token, is_in};

const DAYS: &str =
    "today tomorrow tonight monday tuesday wednesday thursday friday saturday sunday";
const MONTHS: &str = "january february march april june july august september october november december \
    jan feb mar apr jun jul aug sep sept oct nov dec";

/// The first letters of the months, three of each.
const MONTH_LETTERS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";

static URL: Form = LazyLock::new(|| Regex::new(r"^(https?://|www\.)").ok());
static EMAIL: Form = LazyLock::new(|| Regex::new(r"^[^@]+@[^@]+\.[^@]+$").ok());
static DIRECTORY: Form = LazyLock::new(|| Regex::new(r"^[^@:]*/[^@.:]*$").ok());
static PATH: Form = LazyLock::new(|| Regex::new(r"^[^@:]*(/[^@:]*|\.[A-Za-z][^@:/.]{0,4})$").ok());
static TIME: Form = LazyLock::new(|| Regex::new(r"(?i)^\d+((:\d+)+([ap]m)?|[ap]m)$").ok());
static DATE: Form = LazyLock::new(|| Regex::new(r"^\d{4}-\d\d-\d\d$").ok());
static MOMENT: Form = LazyLock::new(|| Regex::new(r"^\d{4}-\d\d-\d\dT").ok());
/// "15 January 2026" or "January 15th, 2026"; without a year the date is not known.
static WRITTEN_DATE: Form = LazyLock::new(|| {
    let day = r"(\d{1,2})(?:st|nd|rd|th)?,? ";
    let month = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* ";
    Regex::new(&format!(r"(?i)\b(?:{day}(?:of )?{month}|{month}{day})(\d{{4}})\b")).ok()
});
static LETTERS: Form = LazyLock::new(|| Regex::new(r"\p{L}+").ok());
static DIGITS: Form = LazyLock::new(|| Regex::new(r"\d+").ok());

fn has_form(text: &str, form: &Form) -> bool {
    form.as_ref().is_some_and(|form| form.is_match(text))
}

/// Returns a code with its letters and digits replaced: `A-1042` becomes `a-0`.
fn form_of(code: &str) -> Option<String> {
    let code = LETTERS.as_ref()?.replace_all(code, "a");
    Some(DIGITS.as_ref()?.replace_all(&code, "0").into_owned())
}

/// Returns true for the name of a day or month.
pub(super) fn is_calendar(token: &Token<'_>) -> bool {
    token.is(DAYS) || token.is(MONTHS)
}

impl ArgumentFinder<'_, '_> {
    /// Finds a value by its form.
    pub(super) fn pattern(&self, param: &Param, _: &[Param]) -> Option<FoundValue> {
        match param.meaning {
            Meaning::Url => self.of_form(param, &URL, 0.5),
            Meaning::Email => self.of_form(param, &EMAIL, 0.5),
            Meaning::Time => self.of_form(param, &TIME, 0.3),
            Meaning::Path => self.path(param),
            Meaning::Date if param.format == "date-time" => self.of_form(param, &MOMENT, 0.3),
            Meaning::Date => self.date(param),
            _ => None,
        }
    }

    fn of_form(&self, param: &Param, form: &Form, evidence: f32) -> Option<FoundValue> {
        let mut tokens = self.text.tokens.iter().enumerate();
        let (at, _) = tokens.find(|(at, token)| self.is_free(*at) && has_form(token.text, form))?;
        self.found(param, at..at + 1, evidence)
    }

    /// Finds a path; "in docs" names a directory, not a file.
    fn path(&self, param: &Param) -> Option<FoundValue> {
        let mut words = param.description_words.iter().chain(&param.words);
        if words.clone().any(|word| word == "file")
            || !words.any(|word| is_in(word, "directory folder dir"))
        {
            return self.of_form(param, &PATH, 0.5);
        }
        let directory = self.of_form(param, &DIRECTORY, 0.5);
        let path = directory.or_else(|| self.of_form(param, &PATH, 0.0));
        path.or_else(|| {
            let first = self.lower_case_name("in under inside")?.start;
            self.found(param, first..first + 1, 0.2)
        })
    }

    /// Finds a date; "tomorrow" and "next Monday" only as text, because the model has no calendar.
    fn date(&self, param: &Param) -> Option<FoundValue> {
        let relative = || {
            let at = (0..self.used.len()).find(|at| self.is_free(*at) && self.is(*at, DAYS))?;
            let first = at - usize::from(self.is_behind(at, "next this"));
            self.found(param, first..at + 1, 0.1).filter(|_| param.format.is_empty())
        };
        let exact = self.of_form(param, &DATE, 0.3);
        exact.or_else(|| self.written_date(param)).or_else(relative)
    }

    fn written_date(&self, param: &Param) -> Option<FoundValue> {
        let date = WRITTEN_DATE.as_ref()?.captures(self.text.source)?;
        let part = |at: usize, other: usize| Some(date.get(at).or(date.get(other))?.as_str());
        let month = MONTH_LETTERS.find(&part(2, 3)?.to_lowercase())? / 3 + 1;
        let (day, year, range) = (part(1, 4)?, part(5, 5)?, date.get(0)?.range());
        let mut tokens = self.text.tokens.iter();
        let first = tokens.position(|token| range.contains(&token.range.start))?;
        let value = format!("{year}-{month:02}-{day:0>2}").into();
        let count = self.text.source.get(range)?.split_whitespace().count();
        value_found(param, first..first + count, value, 0.3)
    }

    /// Finds a code: by the parameter's name, by the form of its examples, else the first token with a digit.
    pub(super) fn code(&self, param: &Param, _: &[Param]) -> Option<FoundValue> {
        let codes = self.text.tokens.iter().enumerate().filter(|(at, token)| {
            let is_code = token.has_digit() && !has_form(token.text, &DATE);
            is_code && self.is_free(*at) && param.meaning == Meaning::Id
        });
        let mut codes = codes.filter(|(_, token)| param.accepts(&token.text.into()));
        let forms: Vec<_> = param.examples.iter().map(|example| form_of(example)).collect();
        // A plain number may mean anything, so only a required code without a known form takes it.
        let is_plain = |at: usize| {
            let mut quantities = self.text.quantities.iter();
            let is_counted = quantities.any(|it| it.unit.is_some() && it.tokens.contains(&at));
            param.required && forms.is_empty() && !is_counted
        };
        let named = self.value_position(param);
        let by_name = codes.clone().find(|(at, _)| Some(*at) == named);
        let by_form = codes.clone().find(|(_, token)| forms.contains(&form_of(token.text)));
        let (evidence, (at, _)) = match (by_name, by_form) {
            (Some(code), _) => (0.3, code),
            (None, Some(code)) => (0.4, code),
            (None, None) => (0.15, codes.find(|(at, _)| is_plain(*at))?),
        };
        self.found(param, at..at + 1, evidence)
    }
}
