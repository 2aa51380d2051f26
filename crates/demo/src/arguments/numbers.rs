//! Numbers: by the parameter's name, by its unit, else in their order.

use serde_json::Value;
use toolwright_search::stem;

use super::{Filler, Found};
use crate::params::{Kind, Meaning, Param};
use crate::quantity::{Quantity, Unit, unit_named, unit_names};

impl Filler<'_, '_> {
    /// Finds a number that stands by the parameter's name or has its unit.
    pub(super) fn named_number(&self, param: &Param, _: &[Param]) -> Option<Found> {
        let mention = self.mention(param);
        let behind = self.value_position(param);
        let is_near = |it: &&Quantity| {
            behind.is_some_and(|at| it.tokens.contains(&at))
                || mention.as_ref().is_some_and(|mention| {
                    it.tokens.end == mention.start && !self.ends_clause(it.tokens.end - 1)
                })
        };
        let near = self.free_quantities().find(is_near);
        let found = near.or_else(|| {
            self.free_quantities()
                .find(|it| self.has_unit_of(it, param))
        })?;
        self.found_number(param, found, 0.3)
    }

    /// Finds the next number for a parameter that requires one.
    pub(super) fn number(&self, param: &Param, params: &[Param]) -> Option<Found> {
        let Kind::Number { integer } = param.kind else {
            return None;
        };
        let units = units_of(params);
        let counts = |it: &&Quantity| {
            let is_plain = param.meaning != Meaning::Id || it.unit.is_none();
            param.required && is_plain && it.json(integer).is_some()
        };
        let has_unit = |it: &&Quantity| it.unit.is_some_and(|unit| units.contains(&unit));
        let free = || self.free_quantities().filter(counts);
        match free().find(has_unit) {
            Some(found) => self.found_number(param, found, 0.3),
            None => self.found_number(param, free().next()?, 0.1),
        }
    }

    /// Finds all numbers for a list of them.
    pub(super) fn number_list(&self, param: &Param, _: &[Param]) -> Option<Found> {
        let Kind::List(element) = &param.kind else {
            return None;
        };
        let Kind::Number { integer } = element.kind else {
            return None;
        };
        let numbers: Vec<&Quantity> = self.free_quantities().collect();
        let values: Vec<Value> = numbers.iter().filter_map(|it| it.json(integer)).collect();
        let tokens = numbers.first()?.tokens.start..numbers.last()?.tokens.end;
        if values.is_empty() || !param.required && self.mention(param).is_none() {
            return None;
        }
        let evidence = 0.1 * values.len() as f32;
        self.found_value(param, tokens, values.into(), evidence)
    }

    fn free_quantities(&self) -> impl Iterator<Item = &Quantity> {
        let quantities = self.text.quantities.iter();
        quantities.filter(|it| self.all_free(&it.tokens))
    }

    fn found_number(&self, param: &Param, quantity: &Quantity, evidence: f32) -> Option<Found> {
        let Kind::Number { integer } = param.kind else {
            return None;
        };
        let value = quantity.json(integer)?;
        let unit = quantity.unit.filter(|_| param.meaning != Meaning::Id);
        let found = self.found_value(param, quantity.tokens.clone(), value, evidence)?;
        Some(Found { unit, ..found })
    }

    /// Returns true if the name or description of a parameter has the unit of a number: `celsius`, "in euros".
    fn has_unit_of(&self, quantity: &Quantity, param: &Param) -> bool {
        let has = |name: &str| {
            let name = stem(name);
            param.stems.contains(&name) || name.len() > 1 && param.description_stems.contains(&name)
        };
        match quantity.unit {
            Some(unit) => unit_names(unit).any(has),
            None => {
                let degrees = quantity
                    .tokens
                    .clone()
                    .any(|at| self.is(at, "degrees degree"));
                degrees
                    && ["celsius", "fahrenheit", "temperature", "degree"]
                        .into_iter()
                        .any(has)
            }
        }
    }
}

/// Returns the units that the parameters of a tool have for options.
pub(super) fn units_of(params: &[Param]) -> Vec<Unit> {
    let options = params.iter().filter_map(|param| match &param.kind {
        Kind::Choice(options) if param.meaning == Meaning::Unit => Some(options),
        _ => None,
    });
    let names = options.flatten().filter_map(Value::as_str);
    names.filter_map(unit_named).collect()
}
