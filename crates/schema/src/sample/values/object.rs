//! Objects with what they require, some of what they allow, and now and then something else.

mod members;
mod names;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::sample::{
    constraints::ValueConstraints,
    generator::{Generator, MAX_CONTAINER_LENGTH, any_string_schema},
    pattern::Pattern,
    rng::{Rng, ValueLocation},
};
use members::is_closed;

/// How many names are tried for each property that no schema names.
const MAX_NAME_ATTEMPTS: usize = 8;

impl<'s> Generator<'_, 's> {
    pub(crate) fn object(
        &mut self,
        rules: &ValueConstraints<'s>,
        spot: ValueLocation,
        dice: &mut Rng,
    ) -> Option<Value> {
        let least = rules.min_limit("minProperties");
        if least > MAX_CONTAINER_LENGTH {
            return None;
        }
        let most = rules.max_limit("maxProperties").unwrap_or(usize::MAX);
        let required: HashSet<&str> = rules
            .keyword_strings("required")
            .chain(rules.extra_required.iter().copied())
            .collect();
        let names = self.property_names(rules, &required, spot, dice)?;
        let mut members = Map::new();
        for name in names {
            let schemas = self.property_schemas(rules, name)?;
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
                .extra_property_count(rules, spot, dice)
                .max(least.saturating_sub(members.len()));
            let wanted = wanted.min(most.saturating_sub(members.len()));
            self.add_extra_properties(rules, wanted, spot, dice, &mut members)?;
        }
        (members.len() >= least).then_some(Value::Object(members))
    }

    /// How many properties to make up.
    fn extra_property_count(
        &self,
        rules: &ValueConstraints<'s>,
        spot: ValueLocation,
        dice: &mut Rng,
    ) -> usize {
        if !self.allows_optional(spot) {
            return 0;
        }
        let told = [
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
        ]
        .iter()
        .any(|keyword| rules.keyword_values(keyword).any(Value::is_object));
        let is_map = rules.keyword_values("properties").next().is_none();
        match (is_map, told) {
            (true, true) if self.is_natural(spot) => 1,
            _ if self.is_natural(spot) => 0,
            (true, _) => dice.below(4),
            (false, true) if dice.chance_one_in(2) => 1 + dice.below(2),
            // Nobody expects a property that is tolerated only because the schema does not speak of it.
            (false, false) if self.wants_edge_case(dice) && dice.chance_one_in(2) => 1,
            _ => 0,
        }
    }

    /// Adds `wanted` properties under names that are made up.
    fn add_extra_properties(
        &mut self,
        rules: &ValueConstraints<'s>,
        wanted: usize,
        spot: ValueLocation,
        dice: &mut Rng,
        members: &mut Map<String, Value>,
    ) -> Option<()> {
        let goal = members.len().saturating_add(wanted);
        let mut turn = 0;
        while members.len() < goal && turn < MAX_NAME_ATTEMPTS.saturating_mul(wanted) {
            self.use_work(1)?;
            turn += 1;
            let Some(name) = self.generate_name(rules, turn, spot, dice) else {
                continue;
            };
            if members.contains_key(&name) || rules.avoided_properties.contains(&name.as_str()) {
                continue;
            }
            let schemas = self.property_schemas(rules, &name)?;
            if schemas.contains(&&Value::Bool(false)) {
                continue;
            }
            if let Some(value) = self.value(&schemas, spot.child(&name, 0)) {
                members.insert(name, value);
            }
        }
        Some(())
    }

    fn generate_name(
        &mut self,
        rules: &ValueConstraints<'s>,
        turn: usize,
        spot: ValueLocation,
        dice: &mut Rng,
    ) -> Option<String> {
        let patterns: Vec<&str> = rules
            .keyword_members("patternProperties")
            .map(|(pattern, _)| pattern)
            .collect();
        self.use_work(patterns.len() / 16)?;
        let rest_is_open = !rules
            .keyword_values("additionalProperties")
            .any(|rest| rest == &Value::Bool(false));
        if !patterns.is_empty() && (!rest_is_open || dice.chance_one_in(2)) {
            return Pattern::parse(dice.pick(&patterns)?)?.generate(dice, 3);
        }
        let mut schemas: Vec<&Value> = rules.keyword_values("propertyNames").collect();
        if schemas.is_empty() {
            let mut name = self.property_name(dice);
            if turn > 4 {
                name.push_str(&turn.to_string());
            }
            return Some(name);
        }
        schemas.push(any_string_schema());
        // The step is none that a pointer of this value can have, because a name is drawn and not a member.
        match self.value(&schemas, spot.child("\u{0}name", turn))? {
            Value::String(name) => Some(name),
            _ => None,
        }
    }
}
