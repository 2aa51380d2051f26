//! Values that can be listed: options, units, yes and no.

use serde_json::Value;

use super::{Direction, Filler, Values};
use crate::meaning::{Meaning, spelling};
use crate::quantity::Quantity;
use crate::shape::{Param, Shape};
use crate::units::{Unit, attached, names, standing};
use crate::words::{Word, alike, parts};

const TOWARDS: [&str; 4] = ["to", "into", "in", "as"];

/// Finds the unit that something is wanted in.
pub(super) fn target(words: &[Word<'_>], quantities: &[Quantity]) -> Option<Unit> {
    let counted = |place: usize| quantities.iter().any(|it| it.words.contains(&place));
    words.iter().enumerate().find_map(|(place, word)| {
        let mut next = place + 1;
        if words
            .get(next)
            .is_some_and(|word| word.is(&["degrees", "degree"]))
        {
            next += 1;
        }
        let unit = words.get(next).filter(|_| !counted(next))?;
        let unit = standing(unit.text, false)
            .or_else(|| attached(unit.text).filter(|_| unit.text.len() == 1))?;
        word.is(&TOWARDS).then_some(unit)
    })
}

impl Filler<'_, '_> {
    /// Finds an option that the sentence names.
    pub(super) fn choice(&mut self, param: &Param, _: &[Param]) -> Option<Value> {
        let Shape::Choice(options) = &param.shape else {
            return None;
        };
        if param.meaning == Meaning::Unit {
            return None;
        }
        let mut found: Vec<(usize, usize, &Value)> = Vec::new();
        for option in options {
            let stems = parts(&spelling(option).unwrap_or_default());
            if let Some(at) = self.option(&stems, Direction::of(param)) {
                found.push((stems.len(), at, option));
            }
        }
        // "Living room" is more than "room"; then the first one named.
        let (length, at, option) = found
            .into_iter()
            .max_by_key(|(length, at, _)| (*length, usize::MAX - at))?;
        self.take(at..at + length, 0.5);
        Some(option.clone())
    }

    fn option(&self, stems: &[String], direction: Direction) -> Option<usize> {
        let words = self.words();
        let same = |word: &Word<'_>, stem: &String| {
            let misspelt = || word.stem.len() > 4 && alike(&word.stem, stem);
            word.stem == *stem || misspelt()
        };
        let mut places = (0..words.len()).filter(|at| {
            let window = words.get(*at..at + stems.len()).unwrap_or_default();
            let free = (*at..at + stems.len()).all(|place| self.is_free(place));
            let led = self.before(*at);
            let wanted = led.is_some_and(|word| word.is(&TOWARDS));
            let fits = match direction {
                Direction::From => !wanted,
                Direction::To => wanted,
                Direction::None => true,
            };
            !window.is_empty()
                && free
                && fits
                && window
                    .iter()
                    .zip(stems)
                    .all(|(word, stem)| same(word, stem))
        });
        places.next()
    }

    /// Finds the unit of a number, or the one that something is wanted in.
    pub(super) fn unit(&mut self, param: &Param, _: &[Param]) -> Option<Value> {
        if param.meaning != Meaning::Unit {
            return None;
        }
        let standing = self.standing_unit();
        let (unit, evidence) = match Direction::of(param) {
            Direction::To => (self.target, 0.3),
            Direction::From => (self.unit.or(standing), 0.4),
            Direction::None => (self.unit.or(standing).or(self.target), 0.4),
        };
        let value = spelled(param, unit?)?;
        self.evidence += evidence;
        Some(value)
    }

    /// A unit that no number has and nothing is wanted in: "from celsius".
    fn standing_unit(&self) -> Option<Unit> {
        let words = self.words().iter().enumerate();
        let mut units = words.filter_map(|(place, word)| {
            let wanted = self.before(place).is_some_and(|word| word.is(&TOWARDS));
            let reply = self.setting.reply && self.words().len() < 4;
            let unit = standing(word.text, reply)?;
            (!wanted || reply).then_some(unit)
        });
        units.find(|unit| Some(*unit) != self.target || self.setting.reply)
    }

    /// The unit that remains when the other is the wanted one.
    pub(super) fn other_unit(&self, param: &Param) -> Option<Value> {
        let (Shape::Choice(options), Some(target)) = (&param.shape, self.target) else {
            return None;
        };
        if param.meaning != Meaning::Unit || Direction::of(param) == Direction::To {
            return None;
        }
        let unit = |option: &&Value| option.as_str().and_then(attached);
        let mut others = options.iter().filter(|option| unit(option) != Some(target));
        let other = others.next()?;
        let alone = others.all(|option| unit(&option) == unit(&other));
        alone.then(|| other.clone())
    }

    /// Answers yes and no, where the sentence says so.
    pub(super) fn flags(&mut self, params: &[Param], values: &mut Values) {
        let says = |words: &[&str]| {
            self.words()
                .iter()
                .any(|word| !word.quoted && word.is(words))
        };
        let off = says(&["off", "disable", "disabled", "deactivate"])
            || self.setting.reply && says(&["no", "false"]);
        let on = says(&["enable", "enabled", "activate"])
            || says(&["on"]) && says(&["turn", "switch", "put"])
            || self.setting.reply && says(&["yes", "true", "on"]);
        for (param, value) in params.iter().zip(values) {
            if value.is_some() || !matches!(param.shape, Shape::Flag) {
                continue;
            }
            let whole = param.words.len();
            let mention = self
                .mention(param)
                .filter(|mention| mention.len() == whole && whole > 0);
            let mention = mention.filter(|mention| {
                !self
                    .word(mention.start)
                    .is_some_and(|word| word.is(&["on", "off"]))
            });
            *value = match mention {
                Some(mention) => {
                    let denied = |word: &Word<'_>| {
                        word.is(&["no", "not", "without", "don't", "non", "never", "disable"])
                    };
                    let from = mention.start.saturating_sub(2);
                    let before = self.words().get(from..mention.start).unwrap_or_default();
                    let denies = before.iter().any(denied) || off;
                    self.take(mention, 0.3);
                    Some(Value::Bool(!denies))
                }
                None if param.required && (on || off) => Some(Value::Bool(!off)),
                None => None,
            };
        }
    }
}

/// A unit in the spelling that the parameter wants.
pub(super) fn spelled(param: &Param, unit: Unit) -> Option<Value> {
    if let Shape::Choice(options) = &param.shape {
        let same = |option: &&Value| option.as_str().and_then(attached) == Some(unit);
        return options.iter().find(same).cloned();
    }
    let code = names(unit).iter().find(|name| name.len() == 3);
    let coded = param.about.contains("ISO") || param.hints.iter().any(|hint| hint == "cod");
    match code {
        Some(code) if coded => Some(code.to_uppercase().into()),
        _ => names(unit).first().map(|name| Value::from(*name)),
    }
}
