//! Words in, numbers out: `-40`, `1,000`, `98.6 F`, `$20`, `twenty-one degrees`.

use std::ops::Range;

use serde_json::{Number, Value};

use crate::units::{Unit, attached, standing};
use crate::words::Word;

/// A number in a text, with its unit if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// The words it consists of.
    pub(crate) words: Range<usize>,
    /// How much.
    pub(crate) value: f64,
    /// Of what.
    pub(crate) unit: Option<Unit>,
}

impl Quantity {
    /// Returns it as JSON; a fraction is no whole number.
    pub(crate) fn json(&self, whole: bool) -> Option<Value> {
        // Beyond this a float is no longer exact.
        let exact = self.value.fract() == 0.0 && self.value.abs() < 9e15;
        if exact {
            return Some(Value::from(self.value as i64));
        }
        if whole {
            return None;
        }
        Number::from_f64(self.value).map(Value::Number)
    }
}

/// Finds the numbers of a text, in order.
pub(crate) fn quantities(words: &[Word<'_>]) -> Vec<Quantity> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        match quantity(rest) {
            Some((length, value, unit)) => {
                let negated = at.checked_sub(1).and_then(|before| words.get(before));
                let negative = negated.is_some_and(|word| word.is(&["minus", "negative"]));
                found.push(Quantity {
                    words: at - usize::from(negative)..at + length,
                    value: if negative { -value } else { value },
                    unit,
                });
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// Reads a number at the beginning of these words: how many they are, how much it is, of what.
fn quantity(words: &[Word<'_>]) -> Option<(usize, f64, Option<Unit>)> {
    let first = words.first()?;
    let (value, unit) = digits(first.text).or_else(|| Some((spelled(&first.lower)?, None)))?;
    if unit.is_some() {
        return Some((1, value, unit));
    }
    let mut length = 1;
    // "three hundred"
    let mut value = value;
    if digits(first.text).is_none()
        && let Some(next) = words.get(1)
    {
        let times = match next.lower.as_str() {
            "hundred" => 100.0,
            "thousand" => 1_000.0,
            "million" => 1_000_000.0,
            _ => 1.0,
        };
        if times > 1.0 {
            value *= times;
            length += 1;
        }
    }
    if words
        .get(length)
        .is_some_and(|word| word.is(&["degrees", "degree", "deg", "°"]))
    {
        length += 1;
    }
    let unit = words.get(length).and_then(|word| standing(word.text, true));
    Some((length + usize::from(unit.is_some()), value, unit))
}

/// Reads digits with what is written onto them: `$1,000.50`, `22C`, `50%`.
fn digits(text: &str) -> Option<(f64, Option<Unit>)> {
    let (sign, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let symbol = text
        .chars()
        .next()
        .filter(|c| matches!(c, '$' | '€' | '£' | '¥'));
    let text = symbol.map_or(text, |symbol| text.strip_prefix(symbol).unwrap_or(text));
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')
        .unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    let unit = match (symbol, rest) {
        (Some(symbol), "") => attached(symbol.encode_utf8(&mut [0; 4])),
        (None, "" | "°") => None,
        (None, rest) => Some(attached(rest)?),
        _ => return None,
    };
    Some((sign * plain(number)?, unit))
}

/// Reads `1000`, `1,000`, `1,000.5`, `0.5`; not `1.2.3`, not `1,5` which is two things to two people.
fn plain(number: &str) -> Option<f64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped = groups.all(|group| group.len() == 3);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let long = number.len() > 40;
    if long || !is_digits(first) || !is_digits(fraction) || !grouped {
        return None;
    }
    let digits = format!("{}.{fraction}", whole.replace(',', ""));
    digits.parse().ok()
}

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];

/// Reads a number in words; `one` is mostly no number.
fn spelled(lower: &str) -> Option<f64> {
    let place = |list: &[&str], word: &str| list.iter().position(|known| *known == word);
    if lower == "one" {
        return None;
    }
    if let Some(ones) = place(&ONES, lower) {
        return Some(ones as f64);
    }
    let (tens, ones) = lower.split_once('-').unwrap_or((lower, "zero"));
    let tens = place(&TENS, tens)? * 10 + 20;
    let ones = place(&ONES, ones).filter(|ones| *ones < 10)?;
    Some((tens + ones) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Text;

    fn read(text: &str) -> Vec<f64> {
        let text = Text::new(text);
        quantities(&text.words).iter().map(|it| it.value).collect()
    }

    #[test]
    fn numbers_are_read_in_every_dress() {
        assert_eq!(read("-40, 98.6 and 1,000.50"), [-40.0, 98.6, 1000.5]);
        assert_eq!(
            read("22C / 72F, 90% humidity, $20"),
            [22.0, 72.0, 90.0, 20.0]
        );
        assert_eq!(
            read("minus 5 and twenty-one and three hundred"),
            [-5.0, 21.0, 300.0]
        );
        assert_eq!(read("3x4 by 5"), [3.0, 4.0, 5.0]);
    }

    #[test]
    fn what_only_looks_like_a_number_is_none() {
        assert_eq!(
            read("A-1042 2026-01-15 14:30 1.2.3 3rd 978-0-261"),
            [0.0; 0]
        );
    }

    #[test]
    fn units_are_told_from_words() {
        let text = Text::new("30 degrees celsius in 5 rooms");
        let found = quantities(&text.words);
        assert_eq!(found[0].words, 0..3);
        assert_eq!(found[0].unit, attached("C"));
        assert_eq!(found[1].unit, None);
    }
}
