//! Values that are recognised by their form: addresses, files, dates, times and codes.

use super::{Filler, Found, value_found};
use crate::params::{Meaning, Param};
use crate::text::{Token, is_in};

const MONTHS: &str =
    "january february march april may june july august september october november december";
const DAYS: &str =
    "today tomorrow tonight monday tuesday wednesday thursday friday saturday sunday";

/// Returns true for the name of a day or month.
pub(super) fn is_calendar(token: &Token<'_>) -> bool {
    token.is(DAYS) || month(&token.lower).is_some() && token.lower != "may"
}

impl Filler<'_, '_> {
    /// Finds a value by its form.
    pub(super) fn pattern(&self, param: &Param, _: &[Param]) -> Option<Found> {
        match param.meaning {
            Meaning::Url => self.matching(param, is_url, 0.5),
            Meaning::Email => self.matching(param, is_email, 0.5),
            Meaning::Path => self.path(param),
            Meaning::Time => self.matching(param, is_time, 0.3),
            Meaning::Date => self.date(param),
            _ => None,
        }
    }

    fn matching(&self, param: &Param, fits: fn(&str) -> bool, evidence: f32) -> Option<Found> {
        let mut tokens = self.text.tokens.iter().enumerate();
        let (at, _) = tokens.find(|(at, token)| self.is_free(*at) && fits(token.text))?;
        self.found(param, at..at + 1, evidence)
    }

    /// Finds a path; "in docs" names a directory, not a file.
    fn path(&self, param: &Param) -> Option<Found> {
        let has = |stems: &str| {
            let mut all = param.description_words.iter().chain(&param.words);
            all.any(|stem| is_in(stem, stems))
        };
        if has("file") || !has("directory folder dir") {
            return self.matching(param, is_path, 0.5);
        }
        self.matching(param, |text| is_path(text) && !is_file(text), 0.5)
            .or_else(|| self.matching(param, is_path, 0.0))
            .or_else(|| {
                let first = self.lower_case_name("in under inside")?.start;
                self.found(param, first..first + 1, 0.2)
            })
    }

    fn date(&self, param: &Param) -> Option<Found> {
        let is_moment =
            |text: &str| text.contains('T') && is_date(text.get(..10).unwrap_or_default());
        if param.format == "date-time" {
            return self.matching(param, is_moment, 0.3);
        }
        let any_text = param.format.is_empty();
        self.matching(param, is_date, 0.3)
            .or_else(|| self.written_date(param))
            .or_else(|| self.relative_day(param).filter(|_| any_text))
    }

    /// Finds "15 January 2026" or "January 15, 2026"; without a year the date is not known.
    fn written_date(&self, param: &Param) -> Option<Found> {
        let number = |at: usize, min: u16, max: u16| -> Option<u16> {
            let lower = &self.token(at).filter(|_| self.is_free(at))?.lower;
            let digits = lower.trim_end_matches(|mark: char| mark.is_ascii_alphabetic());
            digits
                .parse()
                .ok()
                .filter(|number| (min..=max).contains(number))
        };
        (0..self.used.len()).find_map(|at| {
            let month = month(&self.token(at)?.lower)?;
            let before = at.checked_sub(1 + usize::from(self.is_behind(at, "of")));
            let before = before.and_then(|at| Some((at, number(at, 1, 31)?)));
            let (first, day, last) = match before {
                Some((first, day)) => (first, day, at + 1),
                None => (at, number(at + 1, 1, 31)?, at + 2),
            };
            let year = number(last, 1000, 9999)?;
            let date = format!("{year:04}-{month:02}-{day:02}");
            value_found(param, first..last + 1, date.into(), 0.3)
        })
    }

    /// Finds "tomorrow" or "next Monday", as text: the model has no calendar.
    fn relative_day(&self, param: &Param) -> Option<Found> {
        let at = (0..self.used.len()).find(|at| self.is_free(*at) && self.is(*at, DAYS))?;
        let first = at - usize::from(self.is_behind(at, "next this"));
        self.found(param, first..at + 1, 0.1)
    }

    /// Finds a code: by the parameter's name, by the form of its examples, else the first token with a digit.
    pub(super) fn code(&self, param: &Param, _: &[Param]) -> Option<Found> {
        if param.meaning != Meaning::Id || !param.is_text() {
            return None;
        }
        let forms: Vec<String> = param.examples.iter().map(|it| form_of(it)).collect();
        let codes = || {
            let tokens = self.text.tokens.iter().enumerate();
            tokens.filter(|(at, token)| {
                let is_code = token.has_digit() && !is_date(token.text) && self.is_free(*at);
                is_code && param.accepts(&token.text.into())
            })
        };
        let named = self.value_position(param);
        let by_name = codes().find(|(at, _)| Some(*at) == named);
        let by_form = || codes().find(|(_, token)| forms.contains(&form_of(token.text)));
        // A plain number may mean anything, so only a required code without a known form takes it.
        let is_counted = |at: usize| {
            let mut quantities = self.text.quantities.iter();
            quantities.any(|it| it.unit.is_some() && it.tokens.contains(&at))
        };
        let plain =
            || codes().find(|(at, _)| param.required && forms.is_empty() && !is_counted(*at));
        let ((at, _), evidence) = by_name
            .map(|code| (code, 0.3))
            .or_else(|| Some((by_form()?, 0.4)))
            .or_else(|| Some((plain()?, 0.15)))?;
        self.found(param, at..at + 1, evidence)
    }
}

/// Returns a code with its letters and digits replaced: `A-1042` becomes `a-0`.
fn form_of(code: &str) -> String {
    let mut form = String::new();
    for mark in code.chars() {
        let class = match mark {
            mark if mark.is_ascii_digit() => '0',
            mark if mark.is_alphabetic() => 'a',
            mark => mark,
        };
        if !form.ends_with(class) || !class.is_alphanumeric() {
            form.push(class);
        }
    }
    form
}

fn is_url(text: &str) -> bool {
    let prefixes = ["http://", "https://", "www."];
    prefixes.iter().any(|prefix| text.starts_with(prefix))
}

fn is_email(text: &str) -> bool {
    let halves = text.split_once('@');
    halves.is_some_and(|(user, host)| !user.is_empty() && host.contains('.') && !host.contains('@'))
}

fn is_path(text: &str) -> bool {
    !is_url(text) && !is_email(text) && (is_file(text) || text.contains('/'))
}

fn is_file(text: &str) -> bool {
    let extension = text.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| {
        (1..=5).contains(&extension.len())
            && extension.starts_with(|mark: char| mark.is_ascii_alphabetic())
    })
}

fn is_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let clock = lower.trim_end_matches("am").trim_end_matches("pm");
    let is_clock = clock
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b':');
    is_clock && !clock.is_empty() && (clock.contains(':') || clock.len() < lower.len())
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.iter().all(is_number)
}

/// Returns the number of a month by its name or an abbreviation of three or four letters.
fn month(lower: &str) -> Option<usize> {
    let is_month =
        |month: &str| lower == month || (3..=4).contains(&lower.len()) && month.starts_with(lower);
    MONTHS.split(' ').position(is_month).map(|at| at + 1)
}
