//! Numbers for parameters: by name, by unit, else in the order they come.

use serde_json::Value;

use super::Filler;
use crate::meaning::Meaning;
use crate::quantity::Quantity;
use crate::shape::{Param, Shape};
use crate::units::{Unit, attached, names};
use crate::words::stem;

impl Filler<'_, '_> {
    /// Finds a number that stands by the parameter's name or has its unit.
    pub(super) fn named_number(&mut self, param: &Param, _: &[Param]) -> Option<Value> {
        let Shape::Number { whole } = param.shape else {
            return None;
        };
        let mention = self.mention(param);
        let after = mention.as_ref().and_then(|mention| self.after(mention));
        let near = |it: &&Quantity| {
            after.is_some_and(|after| it.words.contains(&after))
                || mention.as_ref().is_some_and(|mention| {
                    it.words.end == mention.start && !self.ends(mention.start.saturating_sub(1))
                })
        };
        let free = || self.free_quantities();
        let found = free()
            .find(near)
            .or_else(|| free().find(|it| self.has_unit_of(it, param)))
            .cloned()?;
        self.count(param, &found, whole, 0.3)
    }

    /// Gives the next number to a parameter that needs one.
    pub(super) fn number(&mut self, param: &Param, params: &[Param]) -> Option<Value> {
        let Shape::Number { whole } = param.shape else {
            return None;
        };
        if !param.required {
            return None;
        }
        let units = units_of(params);
        let counts = |it: &&Quantity| {
            it.json(whole).is_some() && (param.meaning != Meaning::Id || it.unit.is_none())
        };
        let fits = |it: &&Quantity| it.unit.is_some_and(|unit| units.contains(&unit));
        let free = || self.free_quantities().filter(counts);
        let found = free().find(fits).or_else(|| free().next()).cloned()?;
        let evidence = if found.unit.is_some_and(|unit| units.contains(&unit)) {
            0.3
        } else {
            0.1
        };
        self.count(param, &found, whole, evidence)
    }

    /// Gives all numbers to a list that wants them.
    pub(super) fn numbers(&mut self, param: &Param, _: &[Param]) -> Option<Value> {
        let Shape::List(of) = &param.shape else {
            return None;
        };
        let Shape::Number { whole } = of.shape else {
            return None;
        };
        let found: Vec<Quantity> = self.free_quantities().cloned().collect();
        let values: Vec<Value> = found.iter().filter_map(|it| it.json(whole)).collect();
        if values.is_empty() || !param.required && self.mention(param).is_none() {
            return None;
        }
        for quantity in found {
            self.take(quantity.words, 0.1);
        }
        Some(values.into())
    }

    fn free_quantities(&self) -> impl Iterator<Item = &Quantity> {
        let is_free = |it: &&Quantity| it.words.clone().all(|place| self.is_free(place));
        self.quantities.iter().filter(is_free)
    }

    fn count(
        &mut self,
        param: &Param,
        quantity: &Quantity,
        whole: bool,
        evidence: f32,
    ) -> Option<Value> {
        let value = quantity.json(whole)?;
        if param.meaning != Meaning::Id {
            self.unit = self.unit.or(quantity.unit);
        }
        self.take(quantity.words.clone(), evidence);
        Some(value)
    }

    /// Whether the parameter is told to be in the number's unit: "in euros", `celsius`.
    fn has_unit_of(&self, quantity: &Quantity, param: &Param) -> bool {
        let says = |name: &str| {
            let name = stem(name);
            param.words.contains(&name) || name.len() > 1 && param.hints.contains(&name)
        };
        if let Some(unit) = quantity.unit {
            return names(unit).iter().any(|name| says(name));
        }
        let words = self.words().get(quantity.words.clone()).unwrap_or_default();
        let degrees = words.iter().any(|word| word.stem == "degre");
        degrees
            && ["celsius", "fahrenheit", "temperature", "degree"]
                .into_iter()
                .any(says)
    }
}

/// The units that a tool's other parameters list.
pub(super) fn units_of(params: &[Param]) -> Vec<Unit> {
    let options = params.iter().filter_map(|param| match &param.shape {
        Shape::Choice(options) if param.meaning == Meaning::Unit => Some(options),
        _ => None,
    });
    options
        .flatten()
        .filter_map(|option| attached(option.as_str()?))
        .collect()
}
