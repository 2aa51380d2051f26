//! Values that are recognised by how they look: addresses, files, dates, times, codes.

use std::ops::Range;

use serde_json::Value;

use super::Filler;
use crate::meaning::Meaning;
use crate::shape::{Param, Shape};
use crate::words::Word;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

const DAYS: [&str; 10] = [
    "today",
    "tomorrow",
    "tonight",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Tells whether a word names a day or a month.
pub(super) fn is_calendar(word: &Word<'_>) -> bool {
    word.is(&DAYS) || month(&word.lower).is_some() && word.lower != "may"
}

impl Filler<'_, '_> {
    /// Finds a value that only looks like this.
    pub(super) fn typed(&mut self, param: &Param, _: &[Param]) -> Option<Value> {
        if !matches!(param.shape, Shape::Text { .. }) {
            return None;
        }
        let (words, value, evidence) = match param.meaning {
            Meaning::Url => self.looks(is_url, 0.5),
            Meaning::Email => self.looks(is_email, 0.5),
            Meaning::Path => self.path(param),
            Meaning::Time => self.looks(is_time, 0.3),
            Meaning::Date => self.date(param),
            _ => None,
        }?;
        if !Self::admits(param, &value) {
            return None;
        }
        self.take(words, evidence);
        Some(value.into())
    }

    fn looks(&self, fits: fn(&str) -> bool, evidence: f32) -> Option<(Range<usize>, String, f32)> {
        let mut words = self.words().iter().enumerate();
        let (place, word) = words.find(|(place, word)| self.is_free(*place) && fits(word.text))?;
        Some((place..place + 1, word.text.to_owned(), evidence))
    }

    /// A path; where a directory is wanted, "in docs" is one, and a file hardly.
    fn path(&self, param: &Param) -> Option<(Range<usize>, String, f32)> {
        let has = |wanted: &[&str]| {
            let mut stems = param.hints.iter().chain(&param.words);
            stems.any(|stem| wanted.contains(&stem.as_str()))
        };
        if has(&["fil"]) || !has(&["directory", "folder", "dir"]) {
            return self.looks(is_path, 0.5);
        }
        let path = self.looks(|text| is_path(text) && !is_file(text), 0.5);
        path.or_else(|| self.looks(is_path, 0.0)).or_else(|| {
            let first = self.small_name(&["in", "under", "inside"])?.start;
            let said = self.word(first)?.text.to_owned();
            Some((first..first + 1, said, 0.2))
        })
    }

    fn date(&self, param: &Param) -> Option<(Range<usize>, String, f32)> {
        let exact = |text: &str| is_date(text);
        let moment = |text: &str| is_date(text.get(..10).unwrap_or_default()) && text.contains('T');
        match param.format.as_deref() {
            Some("date-time") => self.looks(moment, 0.3),
            Some(_) => self.looks(exact, 0.3).or_else(|| self.written_date()),
            None => self
                .looks(exact, 0.3)
                .or_else(|| self.written_date())
                .or_else(|| self.relative_day()),
        }
    }

    /// "15 January 2026", "January 15, 2026"; without a year it is no date.
    fn written_date(&self) -> Option<(Range<usize>, String, f32)> {
        let number = |place: usize, least: u16, most: u16| -> Option<u16> {
            let word = self.word(place).filter(|_| self.is_free(place))?;
            let digits = word
                .lower
                .trim_end_matches(|c: char| c.is_ascii_alphabetic());
            digits
                .parse()
                .ok()
                .filter(|number| (least..=most).contains(number))
        };
        (0..self.words().len()).find_map(|place| {
            let month = month(&self.word(place)?.lower)?;
            let before = |steps: usize| place.checked_sub(steps);
            let of = before(1)
                .and_then(|at| self.word(at))
                .is_some_and(|word| word.is(&["of"]));
            let day_before =
                before(1 + usize::from(of)).and_then(|at| Some((at, number(at, 1, 31)?)));
            let (first, day, year_at) = match day_before {
                Some((at, day)) => (at, day, place + 1),
                None => (place, number(place + 1, 1, 31)?, place + 2),
            };
            let year = number(year_at, 1000, 9999)?;
            Some((
                first..year_at + 1,
                format!("{year:04}-{month:02}-{day:02}"),
                0.3,
            ))
        })
    }

    /// "Tomorrow", "next Monday": only as words, because nobody here has a calendar.
    fn relative_day(&self) -> Option<(Range<usize>, String, f32)> {
        let mut words = self.words().iter().enumerate();
        let (place, _) = words.find(|(place, word)| self.is_free(*place) && word.is(&DAYS))?;
        let next = self
            .before(place)
            .is_some_and(|word| word.is(&["next", "this"]));
        let words = place - usize::from(next)..place + 1;
        let said = self.text.between(words.clone()).to_owned();
        Some((words, said, 0.1))
    }

    /// Finds a code: by the parameter's name, by the shape of its examples, else whatever has a digit.
    pub(super) fn id(&mut self, param: &Param, _: &[Param]) -> Option<Value> {
        if param.meaning != Meaning::Id || !matches!(param.shape, Shape::Text { .. }) {
            return None;
        }
        let is_code = |place: usize| {
            let word = self.word(place).filter(|_| self.is_free(place));
            word.filter(|word| {
                word.has_digit() && !is_date(word.text) && Self::admits(param, word.text)
            })
        };
        let shapes: Vec<String> = param
            .examples
            .iter()
            .map(|example| shape_of(example))
            .collect();
        let counted = |place: usize| {
            let unit = self.quantities.iter().find(|it| it.words.contains(&place));
            unit.is_some_and(|it| it.unit.is_some())
        };
        let named = self.mention(param).and_then(|mention| self.after(&mention));
        let places = || (0..self.words().len()).filter(|place| is_code(*place).is_some());
        let found = named
            .filter(|place| is_code(*place).is_some())
            .map(|place| (place, 0.3))
            .or_else(|| {
                let mut alike = places().filter(|place| {
                    self.word(*place)
                        .is_some_and(|word| shapes.contains(&shape_of(word.text)))
                });
                alike.next().map(|place| (place, 0.4))
            });
        // A plain number may be anything: only who must have one takes it, and knows no better form.
        let (place, evidence) = found.or_else(|| {
            let mut plain = places().filter(|place| !counted(*place));
            plain
                .next()
                .filter(|_| param.required && shapes.is_empty())
                .map(|place| (place, 0.15))
        })?;
        let value = self.word(place)?.text;
        self.take(place..place + 1, evidence);
        Some(value.into())
    }
}

/// A code with letters and digits replaced: `A-1042` is `a-0`.
fn shape_of(code: &str) -> String {
    let mut shape = String::new();
    for letter in code.chars() {
        let class = match letter {
            letter if letter.is_ascii_digit() => '0',
            letter if letter.is_alphabetic() => 'a',
            other => other,
        };
        if !shape.ends_with(class) || !class.is_alphanumeric() {
            shape.push(class);
        }
    }
    shape
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://") || text.starts_with("www.")
}

fn is_email(text: &str) -> bool {
    let halves = text.split_once('@');
    halves.is_some_and(|(who, host)| !who.is_empty() && host.contains('.') && !host.contains('@'))
}

fn is_path(text: &str) -> bool {
    !is_url(text) && !is_email(text) && (is_file(text) || text.contains('/'))
}

fn is_file(text: &str) -> bool {
    let ending = text.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        (1..=5).contains(&ending.len()) && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

fn is_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let bare = lower.trim_end_matches("am").trim_end_matches("pm");
    let digits = bare
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b':');
    digits && !bare.is_empty() && (bare.contains(':') || bare.len() < lower.len())
}

pub(super) fn is_date(text: &str) -> bool {
    let digits: Vec<usize> = text.split('-').map(str::len).collect();
    digits == [4, 2, 2]
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn month(lower: &str) -> Option<usize> {
    let known = MONTHS.iter().position(|month| lower.starts_with(month))? + 1;
    let full = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let whole = full.get(known - 1)?;
    (lower.len() <= 4 && whole.starts_with(lower) || lower == *whole || lower == "sept")
        .then_some(known)
}
