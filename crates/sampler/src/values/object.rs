//! Generates objects with required, optional and sometimes additional properties.

mod members;
mod names;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{
    constraints::ValueConstraints,
    generator::{Generator, MAX_CONTAINER_LENGTH, any_string_schema},
    location::ValueLocation,
    pattern::Pattern,
    rng::SeededRng,
};
use members::is_closed;

/// How many names are tried for each additional property.
const MAX_NAME_ATTEMPTS: usize = 8;

impl<'s> Generator<'_, 's> {
    pub(crate) fn object(
        &mut self,
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<Value> {
        let min = constraints.min_limit("minProperties");
        if min > MAX_CONTAINER_LENGTH {
            return None;
        }
        let max = constraints.max_limit("maxProperties").unwrap_or(usize::MAX);
        let required: HashSet<&str> = constraints
            .keyword_strings("required")
            .chain(constraints.extra_required.iter().copied())
            .collect();
        let names = self.property_names(constraints, &required, location, rng)?;
        let mut members = Map::new();
        for name in names {
            let schemas = self.property_schemas(constraints, name)?;
            match self.value(&schemas, location.child(name, 0)) {
                Some(value) => {
                    members.insert(name.to_owned(), value);
                }
                None if required.contains(name) => return None,
                None => {}
            }
        }
        if !is_closed(constraints) {
            let wanted = self
                .extra_property_count(constraints, location, rng)
                .max(min.saturating_sub(members.len()));
            let wanted = wanted.min(max.saturating_sub(members.len()));
            self.add_extra_properties(constraints, wanted, location, rng, &mut members)?;
        }
        (members.len() >= min).then_some(Value::Object(members))
    }

    /// How many additional properties are generated.
    fn extra_property_count(
        &self,
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> usize {
        if !self.allows_optional(location) {
            return 0;
        }
        let has_property_rules =
            ["additionalProperties", "patternProperties", "unevaluatedProperties"]
                .iter()
                .any(|keyword| constraints.keyword_values(keyword).any(Value::is_object));
        let is_map = constraints.keyword_values("properties").next().is_none();
        match (is_map, has_property_rules) {
            (true, true) if self.is_natural(location) => 1,
            _ if self.is_natural(location) => 0,
            (true, _) => rng.below(4),
            (false, true) if rng.chance_one_in(2) => 1 + rng.below(2),
            // A property that is allowed only because the schema does not mention it is unexpected.
            (false, false) if self.wants_edge_case(rng) && rng.chance_one_in(2) => 1,
            _ => 0,
        }
    }

    /// Adds `wanted` properties with generated names.
    fn add_extra_properties(
        &mut self,
        constraints: &ValueConstraints<'s>,
        wanted: usize,
        location: ValueLocation,
        rng: &mut SeededRng,
        members: &mut Map<String, Value>,
    ) -> Option<()> {
        let goal = members.len().saturating_add(wanted);
        let mut turn = 0;
        while members.len() < goal && turn < MAX_NAME_ATTEMPTS.saturating_mul(wanted) {
            self.use_work(1)?;
            turn += 1;
            let Some(name) = self.generate_name(constraints, turn, location, rng) else {
                continue;
            };
            if members.contains_key(&name)
                || constraints.avoided_properties.contains(&name.as_str())
            {
                continue;
            }
            let schemas = self.property_schemas(constraints, &name)?;
            if schemas.contains(&&Value::Bool(false)) {
                continue;
            }
            if let Some(value) = self.value(&schemas, location.child(&name, 0)) {
                members.insert(name, value);
            }
        }
        Some(())
    }

    fn generate_name(
        &mut self,
        constraints: &ValueConstraints<'s>,
        turn: usize,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<String> {
        let patterns: Vec<&str> =
            constraints.keyword_members("patternProperties").map(|(pattern, _)| pattern).collect();
        self.use_work(patterns.len() / 16)?;
        let rest_is_open = !constraints
            .keyword_values("additionalProperties")
            .any(|rest| rest == &Value::Bool(false));
        if !patterns.is_empty() && (!rest_is_open || rng.chance_one_in(2)) {
            return Pattern::parse(rng.pick(&patterns)?)?.generate(rng, 3);
        }
        let mut schemas: Vec<&Value> = constraints.keyword_values("propertyNames").collect();
        if schemas.is_empty() {
            let mut name = self.property_name(rng);
            if turn > 4 {
                name.push_str(&turn.to_string());
            }
            return Some(name);
        }
        schemas.push(any_string_schema());
        // A step that no pointer can contain, because this is a name and not a member.
        match self.value(&schemas, location.child("\u{0}name", turn))? {
            Value::String(name) => Some(name),
            _ => None,
        }
    }
}
