//! Chooses which declared properties are present.

use std::collections::HashSet;

use serde_json::Value;

use super::members::dependent_names;
use crate::{
    constraints::ValueConstraints, generator::Generator, location::ValueLocation, rng::SeededRng,
};

/// The approximate maximum number of optional properties.
const MAX_OPTIONAL_PROPERTIES: usize = 12;

/// Probabilities are fractions of this number.
const PROBABILITY_SCALE: usize = 1 << 20;

impl<'s> Generator<'_, 's> {
    /// The names, in the order of the schemas.
    pub(super) fn property_names(
        &mut self,
        constraints: &ValueConstraints<'s>,
        required: &HashSet<&'s str>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<Vec<&'s str>> {
        let avoided: HashSet<&str> = constraints.avoided_properties.iter().copied().collect();
        let refuses = |schema: &Value| schema == &Value::Bool(false);
        let optional: Vec<(&str, &Value)> = constraints
            .keyword_members("properties")
            .filter(|(name, schema)| {
                !required.contains(name) && !avoided.contains(name) && !refuses(schema)
            })
            .collect();
        self.use_work(optional.len() / 16)?;
        let max = constraints.max_limit("maxProperties").unwrap_or(usize::MAX);
        let room = max.saturating_sub(required.len());
        let needed = constraints.min_limit("minProperties").saturating_sub(required.len());
        let picked = self.pick_optional(&optional, needed.min(room), room, location, rng);
        let mut taken: HashSet<&str> = HashSet::new();
        let mut names: Vec<&str> = constraints
            .keyword_members("properties")
            .map(|(name, _)| name)
            .filter(|name| required.contains(name) || picked.contains(name))
            .chain(constraints.keyword_strings("required"))
            .chain(constraints.extra_required.iter().copied())
            .filter(|name| taken.insert(name))
            .collect();
        let mut at = 0;
        while let Some(name) = names.get(at).copied() {
            names.extend(dependent_names(constraints, name).filter(|name| taken.insert(name)));
            at += 1;
        }
        Some(names)
    }

    /// Some of the optional properties.
    fn pick_optional(
        &self,
        optional: &[(&'s str, &'s Value)],
        min: usize,
        max: usize,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> HashSet<&'s str> {
        let share = if self.allows_optional(location) {
            optional_probability(location, rng)
                .min(MAX_OPTIONAL_PROPERTIES * PROBABILITY_SCALE / optional.len().max(1))
        } else {
            0
        };
        let natural = self.is_natural(location);
        let mut wanted = |schema: &Value| {
            if natural {
                schema.get("default").is_some()
            } else {
                rng.below(PROBABILITY_SCALE) < share
            }
        };
        let mut picked: HashSet<&str> = optional
            .iter()
            .filter(|(_, schema)| wanted(schema))
            .map(|(name, _)| *name)
            .take(max)
            .collect();
        let start = rng.below(optional.len());
        for (name, _) in optional.iter().cycle().skip(start).take(optional.len()) {
            if picked.len() >= min {
                break;
            }
            picked.insert(name);
        }
        picked
    }
}

/// The probability of an optional property: none, some or all of them, and fewer at greater depth.
fn optional_probability(location: ValueLocation, rng: &mut SeededRng) -> usize {
    let quarters = rng.pick(&[0, 1, 2, 2, 4]).copied().unwrap_or(2);
    PROBABILITY_SCALE / 4 * quarters / if location.depth > 2 { 2 } else { 1 }
}
