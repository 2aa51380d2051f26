//! Values of a fixed set: options, units, yes and no.

use serde_json::Value;
use toolwright_search::{Unit, is_similar, stems, unit_named, unit_names};

use super::{ArgumentFinder, FoundValue, value_found};
use crate::params::{Kind, Meaning, Param};
use crate::quantity::unit_word;
use crate::text::Text;

/// Words before the unit or option that is wanted.
const TOWARDS: &str = "to into in as";

/// Returns the unit that a result is wanted in: "to Fahrenheit".
pub(super) fn target_unit(text: &Text<'_>) -> Option<Unit> {
    let mut targets = (0..text.tokens.len()).filter(|at| text.is(*at, TOWARDS));
    targets.find_map(|at| {
        let at = at + 1 + usize::from(text.is(at + 1, "degrees degree"));
        let is_counted = text.quantities.iter().any(|it| it.tokens.contains(&at));
        let word = text.tokens.get(at).filter(|_| !is_counted)?.text;
        unit_word(word, word.len() == 1)
    })
}

/// Returns the text of an option.
pub(crate) fn option_text(option: &Value) -> String {
    option.as_str().map_or_else(|| option.to_string(), str::to_owned)
}

impl ArgumentFinder<'_, '_> {
    /// Finds the longest option that the sentence names, then the first.
    pub(super) fn choice(&self, param: &Param, _: &[Param]) -> Option<FoundValue> {
        let named = param.options.iter().filter_map(|option| {
            let stems = stems(&option_text(option));
            let is_named = |at: &usize| self.is_option(*at, &stems, param);
            let at = (0..self.used.len()).find(is_named)?;
            Some((at..at + stems.len(), option))
        });
        let named = named.min_by_key(|(tokens, _)| (usize::MAX - tokens.len(), tokens.start));
        let (tokens, option) = named.filter(|_| param.meaning != Meaning::Unit)?;
        value_found(param, tokens, option.clone(), 0.5)
    }

    fn is_option(&self, at: usize, stems: &[String], param: &Param) -> bool {
        let is_wanted = self.is_behind(at, TOWARDS);
        let is_directed = !(param.is_source() && is_wanted || param.is_target() && !is_wanted);
        let is_word = |(at, stem): (usize, &String)| {
            let token = self.token(at).filter(|_| self.is_free(at));
            token.is_some_and(|token| {
                token.stem == *stem || token.stem.len() > 4 && is_similar(&token.stem, stem)
            })
        };
        is_directed && !stems.is_empty() && (at..).zip(stems).all(is_word)
    }

    /// Finds the unit of a number, the one that the result is wanted in, or the only one besides.
    pub(super) fn unit(&self, param: &Param, _: &[Param]) -> Option<FoundValue> {
        if param.meaning != Meaning::Unit {
            return None;
        }
        let named = |option: &Value| option.as_str().and_then(unit_named);
        let units = param.options.iter().filter_map(named);
        let target = self.target;
        let mut others = units.filter(|unit| target.is_some_and(|target| target != *unit));
        let other = others.next();
        let is_only = param.required && others.all(|unit| Some(unit) == other);
        let source = self.unit.or_else(|| self.lone_unit());
        let unit = match (param.is_target(), param.is_source()) {
            (true, _) => target?,
            (_, true) => source.or(other.filter(|_| is_only))?,
            (false, false) => source.or(target)?,
        };
        let option = param.options.iter().find(|option| named(option) == Some(unit));
        let name = || unit_names(unit).next().map(Value::from);
        value_found(param, 0..0, option.cloned().or_else(name)?, 0.4)
    }

    /// Returns a unit that has no number and that no result is wanted in: "from celsius".
    fn lone_unit(&self) -> Option<Unit> {
        let is_reply = self.context.is_reply;
        let is_short = is_reply && self.used.len() < 4;
        let mut tokens = self.text.tokens.iter().enumerate();
        tokens.find_map(|(at, token)| {
            let unit = unit_word(token.text, is_short)?;
            let is_source = is_short || !self.is_behind(at, TOWARDS);
            (is_source && (is_reply || Some(unit) != self.target)).then_some(unit)
        })
    }

    /// Finds yes or no: by the parameter's name, or by words as "enable" and "off".
    pub(super) fn flag(&self, param: &Param, _: &[Param]) -> Option<FoundValue> {
        if param.kind != Kind::Boolean {
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
        let mention = self
            .mention(param)
            .filter(|tokens| tokens.len() == param.stems.len() && !self.is(tokens.start, "on off"));
        if let Some(tokens) = mention {
            let mut before = tokens.start.saturating_sub(2)..tokens.start;
            let denied = before.any(|at| self.is(at, "no not without don't non never disable"));
            return value_found(param, tokens, Value::Bool(!denied && !off), 0.3);
        }
        let is_stated = param.required && (on || off);
        value_found(param, 0..0, Value::Bool(!off), 0.0).filter(|_| is_stated)
    }
}
