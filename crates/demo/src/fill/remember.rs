//! What the sentence leaves open, from what the conversation has made known.

use serde_json::Value;

use super::number::units_of;
use super::{Filler, Setting, Values};
use crate::meaning::Meaning;
use crate::quantity::{Quantity, quantities};
use crate::recall::Known;
use crate::shape::{Param, Shape};
use crate::words::Text;

/// How many results back a number is looked for.
const TEXTS: usize = 3;

impl Filler<'_, '_> {
    /// Fills required parameters that are still open.
    pub(super) fn remembered(&mut self, params: &[Param], values: &mut Values) {
        let Some(known) = self.setting.known else {
            return;
        };
        // Numbers first: their unit is the unit of the tool.
        for numbers in [true, false] {
            for (param, value) in params.iter().zip(values.iter_mut()) {
                let is_number =
                    matches!(param.shape, Shape::Number { .. }) && param.meaning != Meaning::Id;
                if value.is_some()
                    || !param.required
                    || is_number != numbers
                    || !self.may_recall(param)
                {
                    continue;
                }
                *value = match is_number {
                    true => self.known_number(param, params, known),
                    false => self
                        .unit(param, params)
                        .or_else(|| known_value(param, known)),
                };
            }
        }
    }

    fn may_recall(&self, param: &Param) -> bool {
        let plain = matches!(
            param.meaning,
            Meaning::Place
                | Meaning::Id
                | Meaning::Person
                | Meaning::Path
                | Meaning::Email
                | Meaning::Url
        );
        self.setting.leans || plain && !self.setting.careful
    }

    /// A number of a result: with a unit that the tool knows, by its name, or the only one there is.
    fn known_number(&mut self, param: &Param, params: &[Param], known: &Known) -> Option<Value> {
        let Shape::Number { whole } = param.shape else {
            return None;
        };
        let units = units_of(params);
        let found = known.texts.iter().take(TEXTS).find_map(|text| {
            let text = Text::new(text);
            let all = quantities(&text.words);
            let fits = |it: &&Quantity| match it.unit {
                Some(unit) => units.contains(&unit) && self.target != Some(unit),
                None => false,
            };
            let named = |it: &&Quantity| {
                let near = text
                    .words
                    .get(it.words.start.saturating_sub(2)..it.words.end + 2);
                let near = near.or_else(|| text.words.get(it.words.start.saturating_sub(2)..));
                let near = near.unwrap_or_default();
                near.iter().any(|word| param.words.contains(&word.stem))
            };
            let only = || match all.as_slice() {
                [only] => Some(only),
                _ => None,
            };
            let found = if units.is_empty() {
                all.iter().find(named).or_else(only)
            } else {
                all.iter().find(fits)
            };
            found.cloned()
        });
        if let Some(found) = &found {
            self.unit = self.unit.or(found.unit);
        }
        let found = found.and_then(|it| it.json(whole));
        found.or_else(|| known_value(param, known))
    }
}

/// An argument of the same name or meaning, else a field of a result, else a code that a result tells.
fn known_value(param: &Param, known: &Known) -> Option<Value> {
    let argument = known
        .argument(param)
        .and_then(|value| fitting(param, value));
    let field = || known.field(param).and_then(|value| fitting(param, value));
    argument.or_else(field).or_else(|| {
        let told = matches!(
            param.meaning,
            Meaning::Id | Meaning::Url | Meaning::Email | Meaning::Path
        );
        let newest = known.texts.first().filter(|_| told)?;
        let text = Text::new(newest);
        let mut filler = Filler::new(&text, Setting::default());
        let found = filler.typed(param, &[]).or_else(|| filler.id(param, &[]));
        found.or_else(|| filler.named_number(param, &[]))
    })
}

/// The value in the parameter's type, if it has one.
fn fitting(param: &Param, value: &Value) -> Option<Value> {
    match (&param.shape, value) {
        (Shape::Choice(options), value) => options.iter().find(|option| *option == value).cloned(),
        (Shape::Flag, Value::Bool(_)) | (Shape::Number { whole: false }, Value::Number(_)) => {
            Some(value.clone())
        }
        (Shape::Number { whole: true }, Value::Number(number)) if !number.is_f64() => {
            Some(value.clone())
        }
        (Shape::Text { .. }, Value::String(text)) => {
            Filler::admits(param, text).then(|| value.clone())
        }
        (Shape::Text { .. }, Value::Number(number)) => {
            let text = number.to_string();
            (param.meaning == Meaning::Id && Filler::admits(param, &text)).then(|| text.into())
        }
        _ => None,
    }
}
