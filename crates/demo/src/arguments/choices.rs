//! Values of a fixed set: options, units, yes and no.

use serde_json::Value;
use toolwright_search::{is_similar, stems};

use super::{Direction, Filler, Found};
use crate::params::{Kind, Meaning, Param};
use crate::quantity::{Unit, unit_named, unit_names, unit_word};
use crate::text::Text;

/// Words before the unit or option that is wanted.
const TOWARDS: &str = "to into in as";

/// Returns the unit that a result is wanted in: "to Fahrenheit".
pub(super) fn target_unit(text: &Text<'_>) -> Option<Unit> {
    (0..text.tokens.len()).find_map(|at| {
        let at_unit = at + 1 + usize::from(text.is(at + 1, "degrees degree"));
        let is_counted = text
            .quantities
            .iter()
            .any(|it| it.tokens.contains(&at_unit));
        let word = text.tokens.get(at_unit)?.text;
        let letter = || unit_named(word).filter(|_| word.len() == 1);
        let unit = unit_word(word, false).or_else(letter)?;
        (text.is(at, TOWARDS) && !is_counted).then_some(unit)
    })
}

/// Returns the text of an option.
pub(crate) fn option_text(option: &Value) -> Option<String> {
    match option {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn option_unit(option: &Value) -> Option<Unit> {
    option.as_str().and_then(unit_named)
}

impl Filler<'_, '_> {
    /// Finds the longest option that the sentence names, then the first.
    pub(super) fn choice(&self, param: &Param, _: &[Param]) -> Option<Found> {
        let Kind::Choice(options) = &param.kind else {
            return None;
        };
        if param.meaning == Meaning::Unit {
            return None;
        }
        let named = options.iter().filter_map(|option| {
            let stems = stems(&option_text(option)?);
            let at = self.option(&stems, Direction::of(param))?;
            Some((at..at + stems.len(), option))
        });
        let (tokens, option) =
            named.min_by_key(|(tokens, _)| (usize::MAX - tokens.len(), tokens.start))?;
        self.found_value(param, tokens, option.clone(), 0.5)
    }

    fn option(&self, stems: &[String], direction: Direction) -> Option<usize> {
        let mut windows = self.text.tokens.windows(stems.len().max(1)).enumerate();
        let (at, _) = windows.find(|(at, window)| {
            let in_direction = match direction {
                Direction::From => !self.is_behind(*at, TOWARDS),
                Direction::To => self.is_behind(*at, TOWARDS),
                Direction::None => true,
            };
            let mut pairs = window.iter().zip(stems);
            let is_option = pairs.all(|(token, stem)| {
                token.stem == *stem || token.stem.len() > 4 && is_similar(&token.stem, stem)
            });
            !stems.is_empty()
                && in_direction
                && is_option
                && self.all_free(&(*at..at + stems.len()))
        })?;
        Some(at)
    }

    /// Finds the unit of a number, or the one that the result is wanted in.
    pub(super) fn unit(&self, param: &Param, _: &[Param]) -> Option<Found> {
        if param.meaning != Meaning::Unit {
            return None;
        }
        let (unit, evidence) = match Direction::of(param) {
            Direction::To => (self.target, 0.3),
            Direction::From => (self.unit.or_else(|| self.lone_unit()), 0.4),
            Direction::None => (self.unit.or_else(|| self.lone_unit()).or(self.target), 0.4),
        };
        let unit = unit?;
        let value = match &param.kind {
            Kind::Choice(options) => options
                .iter()
                .find(|option| option_unit(option) == Some(unit))?
                .clone(),
            _ => {
                let is_coded = param.description.contains("ISO")
                    || param.description_stems.iter().any(|stem| stem == "code");
                let code = unit_names(unit).find(|name| is_coded && name.len() == 3);
                let code = code.map(str::to_uppercase);
                code.or_else(|| unit_names(unit).next().map(str::to_owned))?
                    .into()
            }
        };
        self.found_value(param, 0..0, value, evidence)
    }

    /// Returns a unit that has no number and that no result is wanted in: "from celsius".
    fn lone_unit(&self) -> Option<Unit> {
        let short_reply = self.context.is_reply && self.used.len() < 4;
        let mut units = self
            .text
            .tokens
            .iter()
            .enumerate()
            .filter_map(|(at, token)| {
                let is_source = short_reply || !self.is_behind(at, TOWARDS);
                unit_word(token.text, short_reply).filter(|_| is_source)
            });
        units.find(|unit| Some(*unit) != self.target || self.context.is_reply)
    }

    /// Finds the only other unit than the one that the result is wanted in.
    pub(super) fn remaining_unit(&self, param: &Param, _: &[Param]) -> Option<Found> {
        let (Kind::Choice(options), Some(_)) = (&param.kind, self.target) else {
            return None;
        };
        if param.meaning != Meaning::Unit
            || !param.required
            || Direction::of(param) == Direction::To
        {
            return None;
        }
        let mut others = options
            .iter()
            .filter(|option| option_unit(option) != self.target);
        let other = others.next()?;
        let is_only = others.all(|option| option_unit(option) == option_unit(other));
        let found = || self.found_value(param, 0..0, other.clone(), 0.0);
        is_only.then(found).flatten()
    }

    /// Finds yes or no: by the parameter's name, or by words as "enable" and "off".
    pub(super) fn flag(&self, param: &Param, _: &[Param]) -> Option<Found> {
        if !matches!(param.kind, Kind::Boolean) {
            return None;
        }
        let has = |words: &str| {
            let mut tokens = self.text.tokens.iter();
            tokens.any(|token| !token.quoted && token.is(words))
        };
        let is_reply = self.context.is_reply;
        let off = has("off disable disabled deactivate") || is_reply && has("no false");
        let on = has("enable enabled activate")
            || has("on") && has("turn switch put")
            || is_reply && has("yes true on");
        let whole = |tokens: &std::ops::Range<usize>| {
            tokens.len() == param.stems.len() && !self.is(tokens.start, "on off")
        };
        if let Some(tokens) = self.mention(param).filter(whole) {
            let mut before = tokens.start.saturating_sub(2)..tokens.start;
            let denied = before.any(|at| self.is(at, "no not without don't non never disable"));
            return self.found_value(param, tokens, Value::Bool(!denied && !off), 0.3);
        }
        let found = || self.found_value(param, 0..0, Value::Bool(!off), 0.0);
        (param.required && (on || off)).then(found).flatten()
    }
}
