//! Objects with what they require, some of what they allow, and now and then something else.

mod members;
mod names;

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    dice::{Dice, Spot},
    draw::{Draw, MANY, any_text},
    pattern::Pattern,
    rules::Rules,
};
use members::is_closed;

/// How many names are tried for each property that no schema names.
const TRIES: usize = 8;

impl<'s> Draw<'_, 's> {
    pub(super) fn object(
        &mut self,
        rules: &Rules<'s>,
        spot: Spot,
        dice: &mut Dice,
    ) -> Option<Value> {
        let least = rules.least("minProperties");
        if least > MANY {
            return None;
        }
        let most = rules.most("maxProperties").unwrap_or(usize::MAX);
        let required: HashSet<&str> = rules
            .listed("required")
            .chain(rules.needed.iter().copied())
            .collect();
        let names = self.names(rules, &required, spot, dice)?;
        let mut members = Map::new();
        for name in names {
            let schemas = self.schemas_of(rules, name)?;
            match self.value(&schemas, spot.child(name, 0)) {
                Some(value) => {
                    members.insert(name.to_owned(), value);
                }
                None if required.contains(name) => return None,
                None => {}
            }
        }
        if !is_closed(rules) {
            let wanted = self
                .extras(rules, spot, dice)
                .max(least.saturating_sub(members.len()));
            let wanted = wanted.min(most.saturating_sub(members.len()));
            self.more(rules, wanted, spot, dice, &mut members)?;
        }
        (members.len() >= least).then_some(Value::Object(members))
    }

    /// How many properties to make up.
    fn extras(&self, rules: &Rules<'s>, spot: Spot, dice: &mut Dice) -> usize {
        if !self.is_roomy(spot) {
            return 0;
        }
        let told = [
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
        ]
        .iter()
        .any(|keyword| rules.each(keyword).any(Value::is_object));
        let is_map = rules.each("properties").next().is_none();
        match (is_map, told) {
            (true, true) if self.is_natural(spot) => 1,
            _ if self.is_natural(spot) => 0,
            (true, _) => dice.below(4),
            (false, true) if dice.one_in(2) => 1 + dice.below(2),
            // Nobody expects a property that is tolerated only because the schema does not speak of it.
            (false, false) if self.is_odd(dice) && dice.one_in(2) => 1,
            _ => 0,
        }
    }

    /// Adds `wanted` properties under names that are made up.
    fn more(
        &mut self,
        rules: &Rules<'s>,
        wanted: usize,
        spot: Spot,
        dice: &mut Dice,
        members: &mut Map<String, Value>,
    ) -> Option<()> {
        let goal = members.len().saturating_add(wanted);
        let mut turn = 0;
        while members.len() < goal && turn < TRIES.saturating_mul(wanted) {
            self.spend(1)?;
            turn += 1;
            let Some(name) = self.made_up_name(rules, turn, spot, dice) else {
                continue;
            };
            if members.contains_key(&name) || rules.avoided.contains(&name.as_str()) {
                continue;
            }
            let schemas = self.schemas_of(rules, &name)?;
            if schemas.contains(&&Value::Bool(false)) {
                continue;
            }
            if let Some(value) = self.value(&schemas, spot.child(&name, 0)) {
                members.insert(name, value);
            }
        }
        Some(())
    }

    fn made_up_name(
        &mut self,
        rules: &Rules<'s>,
        turn: usize,
        spot: Spot,
        dice: &mut Dice,
    ) -> Option<String> {
        let patterns: Vec<&str> = rules
            .members("patternProperties")
            .map(|(pattern, _)| pattern)
            .collect();
        self.spend(patterns.len() / 16)?;
        let rest_is_open = !rules
            .each("additionalProperties")
            .any(|rest| rest == &Value::Bool(false));
        if !patterns.is_empty() && (!rest_is_open || dice.one_in(2)) {
            return Pattern::parse(dice.pick(&patterns)?)?.write(dice, 3);
        }
        let mut schemas: Vec<&Value> = rules.each("propertyNames").collect();
        if schemas.is_empty() {
            let mut name = self.name(dice);
            if turn > 4 {
                name.push_str(&turn.to_string());
            }
            return Some(name);
        }
        schemas.push(any_text());
        // The step is none that a pointer of this value can have, because a name is drawn and not a member.
        match self.value(&schemas, spot.child("\u{0}name", turn))? {
            Value::String(name) => Some(name),
            _ => None,
        }
    }
}
