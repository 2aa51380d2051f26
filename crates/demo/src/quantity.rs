//! Numbers and their units: `-40`, `1,000`, `98.6 F`, `$20`, `twenty-one degrees`.

use std::ops::Range;

use serde_json::{Number, Value};
use toolwright_search::{Unit, unit_named};

use crate::params::Kind;
use crate::text::Token;

/// Returns the unit that a word means: one letter means a unit only in upper case or behind a number, and `in` never does.
pub(crate) fn unit_word(word: &str, behind_number: bool) -> Option<Unit> {
    let is_letter = word.chars().count() == 1 && word.chars().any(char::is_lowercase);
    if word.eq_ignore_ascii_case("in") || is_letter && !behind_number {
        return None;
    }
    unit_named(word)
}

/// A number in a text, with its unit if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    pub(crate) tokens: Range<usize>,
    pub(crate) value: f64,
    pub(crate) unit: Option<Unit>,
}

impl Quantity {
    /// Returns the number as JSON of this kind, if it is one.
    pub(crate) fn json(&self, kind: Kind) -> Option<Value> {
        // Greater floats are not exact.
        let is_integer = self.value.fract() == 0.0 && self.value.abs() < 9e15;
        match kind {
            Kind::Integer | Kind::Number if is_integer => Some(Value::from(self.value as i64)),
            Kind::Number => Number::from_f64(self.value).map(Value::Number),
            _ => None,
        }
    }
}

/// Returns the quantities of a text, in order.
pub(crate) fn quantities(tokens: &[Token<'_>]) -> Vec<Quantity> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((length, value, unit)) = quantity(tokens.get(at..).unwrap_or_default()) else {
            at += 1;
            continue;
        };
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let negative = before.is_some_and(|token| token.is("minus negative"));
        found.push(Quantity {
            tokens: at - usize::from(negative)..at + length,
            value: if negative { -value } else { value },
            unit,
        });
        at += length;
    }
    found
}

/// Reads a quantity at the start of these tokens: how many tokens it has, its value and its unit.
fn quantity(tokens: &[Token<'_>]) -> Option<(usize, f64, Option<Unit>)> {
    let first = tokens.first()?;
    let is = |at: usize, words: &str| tokens.get(at).is_some_and(|token| token.is(words));
    let mut length = 1;
    let value = match digits(first.text) {
        Some((value, Some(unit))) => return Some((length, value, Some(unit))),
        Some((value, None)) => value,
        None => {
            let factors = [("hundred", 1e2), ("thousand", 1e3), ("million", 1e6)];
            let factor = factors.iter().find(|(name, _)| is(1, name));
            length += usize::from(factor.is_some());
            number_word(&first.lower)? * factor.map_or(1.0, |(_, factor)| *factor)
        }
    };
    length += usize::from(is(length, "degrees degree deg °"));
    let unit = tokens.get(length).and_then(|token| unit_word(token.text, true));
    Some((length + usize::from(unit.is_some()), value, unit))
}

/// Reads digits with their sign and unit: `$1,000.50`, `22C`, `-5%`.
fn digits(text: &str) -> Option<(f64, Option<Unit>)> {
    let negative = text.starts_with(['-', '−']);
    let text = text.trim_start_matches(['-', '−', '+']);
    let (symbol, text) = text.split_at_checked(text.find(|c: char| c.is_ascii_digit())?)?;
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let (number, suffix) = text.split_at_checked(end.unwrap_or(text.len()))?;
    let unit = match (symbol, suffix) {
        ("", "" | "°") => None,
        ("", unit) => Some(unit_named(unit)?),
        ("$" | "€" | "£" | "¥", "") => unit_named(symbol),
        _ => return None,
    };
    // `1,000.5` is a number, `1.2.3` is not, and `1,5` is ambiguous.
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let grouped = whole.split(',').skip(1).all(|group| group.len() == 3);
    if number.len() > 40 || !grouped || fraction.is_empty() || fraction.contains(['.', ',']) {
        return None;
    }
    let value: f64 = format!("{}.{fraction}", whole.replace(',', "")).parse().ok()?;
    Some((if negative { -value } else { value }, unit))
}

const ONES: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen";
const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";

/// Reads a number word below a hundred; "one" is usually a pronoun.
fn number_word(word: &str) -> Option<f64> {
    let position = |list: &str, word: &str| list.split(' ').position(|other| other == word);
    if let Some(ones) = position(ONES, word).filter(|ones| *ones != 1) {
        return Some(ones as f64);
    }
    let (tens, ones) = word.split_once('-').unwrap_or((word, "zero"));
    let ones = position(ONES, ones).filter(|ones| *ones < 10)?;
    Some((position(TENS, tens)? * 10 + 20 + ones) as f64)
}

#[cfg(test)]
mod tests {
    use crate::text::Text;

    fn read(text: &str) -> Vec<f64> {
        let quantities = Text::new(text).quantities;
        quantities.iter().map(|it| it.value).collect()
    }

    #[test]
    fn numbers_are_read_in_digits_and_words() {
        assert_eq!(read("-40, 98.6 and 1,000.50"), [-40.0, 98.6, 1000.5]);
        let weather = "22C / 72F, 90% humidity, $20";
        assert_eq!(read(weather), [22.0, 72.0, 90.0, 20.0]);
        let words = "minus 5 and twenty-one and three hundred";
        assert_eq!(read(words), [-5.0, 21.0, 300.0]);
        assert_eq!(read("3x4 by 5"), [3.0, 4.0, 5.0]);
    }

    #[test]
    fn codes_dates_times_and_versions_are_no_numbers() {
        let text = "A-1042 2026-01-15 14:30 1.2.3 3rd 978-0-261 one";
        assert_eq!(read(text), [0.0; 0]);
    }

    #[test]
    fn units_are_recognised_behind_numbers() {
        let found = Text::new("30 degrees celsius in 5 rooms").quantities;
        assert_eq!((found[0].tokens.clone(), found[0].unit), (0..3, Some(0)));
        assert_eq!(found[1].unit, None);
    }
}
