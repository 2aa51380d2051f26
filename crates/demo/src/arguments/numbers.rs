//! Numbers: by the parameter's name, by its unit, else in their order.

use serde_json::Value;
use toolwright_search::{unit_named, unit_names};

use super::{ArgumentFinder, FoundValue, value_found};
use crate::params::{Meaning, Param};
use crate::quantity::Quantity;

impl ArgumentFinder<'_, '_> {
    /// Finds a number that stands by the parameter's name or has its unit.
    pub(super) fn named_number(&self, param: &Param, _: &[Param]) -> Option<FoundValue> {
        let mention = self.mention(param).map(|mention| mention.start);
        let behind = self.value_position(param);
        let is_near = |it: &Quantity| {
            let end = it.tokens.end;
            let is_before = mention == Some(end) && !self.ends_clause(end - 1);
            is_before || behind.is_some_and(|at| it.tokens.contains(&at))
        };
        let near = self.number_that(param, 0.3, is_near);
        near.or_else(|| self.number_that(param, 0.3, |it| self.mentions_unit_of(param, it)))
    }

    /// Finds the next number for a parameter that requires one.
    pub(super) fn number(&self, param: &Param, params: &[Param]) -> Option<FoundValue> {
        let is_code = param.meaning == Meaning::Id;
        let with_unit = self.number_with_unit(param, params).filter(|_| !is_code);
        let next = || self.number_that(param, 0.1, |it| !is_code || it.unit.is_none());
        with_unit.or_else(next).filter(|_| param.required)
    }

    /// Finds a number with a unit that the tool has for an option, and that no result is wanted in.
    pub(super) fn number_with_unit(&self, param: &Param, params: &[Param]) -> Option<FoundValue> {
        let units = params.iter().filter(|param| param.meaning == Meaning::Unit);
        let units = units.flat_map(|param| &param.options).filter_map(Value::as_str);
        let units: Vec<_> = units.map(unit_named).collect();
        self.number_that(param, 0.3, |it| {
            it.unit.is_some() && it.unit != self.target && units.contains(&it.unit)
        })
    }

    /// Finds all numbers for a list of them.
    pub(super) fn number_list(&self, param: &Param, _: &[Param]) -> Option<FoundValue> {
        let element = param.element.as_ref()?;
        let numbers: Vec<&Quantity> = self.free_quantities().collect();
        let values = numbers.iter().filter_map(|it| it.json(element.kind));
        let values: Vec<Value> = values.collect();
        let tokens = numbers.first()?.tokens.start..numbers.last()?.tokens.end;
        let is_meant = param.required || self.mention(param).is_some();
        let evidence = 0.1 * values.len() as f32;
        let is_list = is_meant && !values.is_empty();
        value_found(param, tokens, values.into(), evidence).filter(|_| is_list)
    }

    fn free_quantities(&self) -> impl Iterator<Item = &Quantity> {
        let quantities = self.text.quantities.iter();
        quantities.filter(|it| self.all_free(&it.tokens))
    }

    fn number_that<F: Fn(&Quantity) -> bool>(
        &self,
        param: &Param,
        evidence: f32,
        fits: F,
    ) -> Option<FoundValue> {
        let mut fitting = self.free_quantities().filter(|it| fits(it));
        let (quantity, value) = fitting.find_map(|it| Some((it, it.json(param.kind)?)))?;
        let unit = quantity.unit.filter(|_| param.meaning != Meaning::Id);
        let found = value_found(param, quantity.tokens.clone(), value, evidence)?;
        Some(FoundValue { unit, ..found })
    }

    /// Returns true if the name or description of a parameter mentions the unit of a number: `celsius`, "in euros".
    fn mentions_unit_of(&self, param: &Param, quantity: &Quantity) -> bool {
        let has = |name: &str| {
            let mut words = param.words.iter().chain(&param.description_words);
            name.len() > 1 && words.any(|word| word == name)
        };
        let mut tokens = quantity.tokens.clone();
        let mut temperatures = "celsius fahrenheit temperature degree degrees".split(' ');
        match quantity.unit {
            Some(unit) => unit_names(unit).any(has),
            None => tokens.any(|at| self.is(at, "degrees degree")) && temperatures.any(has),
        }
    }
}
