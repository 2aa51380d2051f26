//! Which of the properties that the schemas name will be there.

use std::collections::HashSet;

use serde_json::Value;

use super::members::dependents;
use crate::sample::{
    dice::{Dice, Spot},
    draw::Draw,
    rules::Rules,
};

/// About how many properties that are not required an object has at most.
const SOME: usize = 12;

/// What shares are parts of.
const WHOLE: usize = 1 << 20;

impl<'s> Draw<'_, 's> {
    /// The names, in the order of the schemas.
    pub(super) fn names(
        &mut self,
        rules: &Rules<'s>,
        required: &HashSet<&'s str>,
        spot: Spot,
        dice: &mut Dice,
    ) -> Option<Vec<&'s str>> {
        let avoided: HashSet<&str> = rules.avoided.iter().copied().collect();
        let refuses = |schema: &Value| schema == &Value::Bool(false);
        let optional: Vec<(&str, &Value)> = rules
            .members("properties")
            .filter(|(name, schema)| {
                !required.contains(name) && !avoided.contains(name) && !refuses(schema)
            })
            .collect();
        self.spend(optional.len() / 16)?;
        let most = rules.most("maxProperties").unwrap_or(usize::MAX);
        let room = most.saturating_sub(required.len());
        let needed = rules.least("minProperties").saturating_sub(required.len());
        let picked = self.picked(&optional, needed.min(room), room, spot, dice);
        let mut taken: HashSet<&str> = HashSet::new();
        let mut names: Vec<&str> = rules
            .members("properties")
            .map(|(name, _)| name)
            .filter(|name| required.contains(name) || picked.contains(name))
            .chain(rules.listed("required"))
            .chain(rules.needed.iter().copied())
            .filter(|name| taken.insert(name))
            .collect();
        let mut at = 0;
        while let Some(name) = names.get(at).copied() {
            names.extend(dependents(rules, name).filter(|name| taken.insert(name)));
            at += 1;
        }
        Some(names)
    }

    /// Some of the properties that are not required.
    fn picked(
        &self,
        optional: &[(&'s str, &'s Value)],
        least: usize,
        most: usize,
        spot: Spot,
        dice: &mut Dice,
    ) -> HashSet<&'s str> {
        let share = if self.is_roomy(spot) {
            share(spot, dice).min(SOME * WHOLE / optional.len().max(1))
        } else {
            0
        };
        let natural = self.is_natural(spot);
        let mut wanted = |schema: &Value| {
            if natural {
                schema.get("default").is_some()
            } else {
                dice.below(WHOLE) < share
            }
        };
        let mut picked: HashSet<&str> = optional
            .iter()
            .filter(|(_, schema)| wanted(schema))
            .map(|(name, _)| *name)
            .take(most)
            .collect();
        let start = dice.below(optional.len());
        for (name, _) in optional.iter().cycle().skip(start).take(optional.len()) {
            if picked.len() >= least {
                break;
            }
            picked.insert(name);
        }
        picked
    }
}

/// The share of properties that are not required: none, some or all of them, and fewer further down.
fn share(spot: Spot, dice: &mut Dice) -> usize {
    let quarters = dice.pick(&[0, 1, 2, 2, 4]).copied().unwrap_or(2);
    WHOLE / 4 * quarters / if spot.depth > 2 { 2 } else { 1 }
}
