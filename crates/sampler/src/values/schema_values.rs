//! Values that the schema itself contains: enum members, examples and defaults.

use serde_json::Value;

use crate::{
    constraints::ValueConstraints, generator::Generator, location::ValueLocation, rng::SeededRng,
    type_set::TypeSet,
};

/// How often the validator may visit the innermost part of such a value.
const MAX_VISITS: u64 = 1_000_000;

impl<'s> Generator<'_, 's> {
    /// A value that every enum lists.
    pub(crate) fn enum_value(
        &mut self,
        options: &[&'s [Value]],
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<Value> {
        let shortest = options.iter().min_by_key(|options| options.len())?;
        let start = if self.is_natural(location) { 0 } else { rng.below(shortest.len()) };
        for option in shortest.iter().cycle().skip(start).take(shortest.len()) {
            self.use_work(options.iter().map(|options| 1 + options.len() / 16).sum())?;
            if is_usable(constraints, option, location)
                && options.iter().all(|options| options.contains(option))
            {
                return self.copy_value(option);
            }
        }
        None
    }

    /// An example or the default: always for a natural value, sometimes otherwise.
    pub(crate) fn example_or_default(
        &self,
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<&'s Value> {
        let natural = self.is_natural(location);
        if !natural && !rng.chance_one_in(4) {
            return None;
        }
        let examples = constraints.keyword_values("examples").filter_map(Value::as_array).flatten();
        let hints: Vec<&Value> = examples
            .chain(constraints.keyword_values("default"))
            .filter(|hint| is_usable(constraints, hint, location))
            .collect();
        if natural {
            return hints.first().copied();
        }
        rng.pick(&hints).copied()
    }

    pub(crate) fn copy_value(&mut self, value: &Value) -> Option<Value> {
        self.use_work(size(value))?;
        Some(value.clone())
    }
}

/// Returns true if a value has an allowed type, and is not too deep for the validator.
fn is_usable(constraints: &ValueConstraints<'_>, value: &Value, location: ValueLocation) -> bool {
    constraints.types.intersects(TypeSet::type_of(value))
        && !constraints.excluded_values.contains(&value)
        && location.validator_visits.saturating_pow(depth(value)) <= MAX_VISITS
}

fn depth(value: &Value) -> u32 {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The approximate size of a copy.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 16,
        Value::Array(elements) => 1 + elements.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}
