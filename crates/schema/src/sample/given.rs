//! Values that the schema itself gives: enum members, examples and defaults.

use serde_json::Value;

use super::{
    dice::{Dice, Spot},
    draw::Draw,
    kinds::Kinds,
    rules::Rules,
};

/// How often the validator may visit the innermost part of a given value.
const VISITS: u64 = 1_000_000;

impl<'s> Draw<'_, 's> {
    /// A member of every enum.
    pub(super) fn option(
        &mut self,
        options: &[&'s [Value]],
        rules: &Rules<'s>,
        spot: Spot,
        dice: &mut Dice,
    ) -> Option<Value> {
        let shortest = options.iter().min_by_key(|options| options.len())?;
        let start = if self.is_natural(spot) {
            0
        } else {
            dice.below(shortest.len())
        };
        for option in shortest.iter().cycle().skip(start).take(shortest.len()) {
            self.spend(options.iter().map(|options| 1 + options.len() / 16).sum())?;
            if fits(rules, option, spot) && options.iter().all(|options| options.contains(option)) {
                return self.copied(option);
            }
        }
        None
    }

    /// An example or the default, always when a natural value is wanted and now and then otherwise.
    pub(super) fn hint(&self, rules: &Rules<'s>, spot: Spot, dice: &mut Dice) -> Option<&'s Value> {
        let natural = self.is_natural(spot);
        if !natural && !dice.one_in(4) {
            return None;
        }
        let examples = rules.each("examples").filter_map(Value::as_array).flatten();
        let hints: Vec<&Value> = examples
            .chain(rules.each("default"))
            .filter(|hint| fits(rules, hint, spot))
            .collect();
        if natural {
            return hints.first().copied();
        }
        dice.pick(&hints).copied()
    }

    pub(super) fn copied(&mut self, value: &Value) -> Option<Value> {
        self.spend(size(value))?;
        Some(value.clone())
    }
}

/// Whether a given value is of an allowed kind, and not so deep that the validator would get lost in it.
fn fits(rules: &Rules<'_>, value: &Value, spot: Spot) -> bool {
    rules.kinds.has(Kinds::of(value))
        && !rules.barred.contains(&value)
        && spot.times.saturating_pow(depth(value)) <= VISITS
}

fn depth(value: &Value) -> u32 {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Roughly how much there is to copy.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 16,
        Value::Array(elements) => 1 + elements.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}
