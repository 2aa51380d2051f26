//! Estimates how much work the validator has with one value.
//!
//! References can double the work at every level, and the validator has no limit, so such schemas are not validated.

use std::collections::HashMap;

use serde_json::Value;

use super::refs::RefResolver;

/// The maximum number of schemas for the same value.
const MAX_DEPTH: usize = 200;

/// The cost of validating a value.
#[derive(Clone, Copy, Default)]
pub(super) struct ValidationCost {
    /// How many schemas visit the value itself.
    pub(super) schema_visits: u64,
    /// How many of them also visit its members or elements.
    pub(super) child_visits: u64,
}

impl ValidationCost {
    const UNBOUNDED: Self = Self { schema_visits: u64::MAX, child_visits: u64::MAX };

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            schema_visits: self.schema_visits.saturating_add(other.schema_visits),
            child_visits: self.child_visits.saturating_add(other.child_visits),
        }
    }
}

/// The costs computed so far, by the address of the schema.
#[derive(Default)]
pub(super) struct CostCache(HashMap<usize, ValidationCost>);

impl CostCache {
    pub(super) fn cost<'s>(
        &mut self,
        schema: &'s Value,
        refs: &mut RefResolver<'s>,
    ) -> ValidationCost {
        self.cached_cost(schema, refs, MAX_DEPTH)
    }

    fn cached_cost<'s>(
        &mut self,
        schema: &'s Value,
        refs: &mut RefResolver<'s>,
        depth: usize,
    ) -> ValidationCost {
        let name = std::ptr::from_ref(schema).addr();
        if let Some(cost) = self.0.get(&name) {
            return *cost;
        }
        // A schema that refers to itself for the same value adds nothing.
        self.0.insert(name, ValidationCost::default());
        let toll = self.compute_cost(schema, refs, depth);
        self.0.insert(name, toll);
        toll
    }

    fn compute_cost<'s>(
        &mut self,
        schema: &'s Value,
        refs: &mut RefResolver<'s>,
        depth: usize,
    ) -> ValidationCost {
        let Value::Object(object) = schema else {
            return ValidationCost::default();
        };
        let Some(depth) = depth.checked_sub(1) else {
            return ValidationCost::UNBOUNDED;
        };
        let mut toll = ValidationCost { schema_visits: 1, child_visits: 0 };
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", _) => {
                    let target = refs.resolve(value);
                    toll = target
                        .map_or(toll, |target| toll.plus(self.cached_cost(target, refs, depth)));
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    for schema in schemas {
                        toll = toll.plus(self.compute_cost(schema, refs, depth));
                    }
                }
                ("dependentSchemas", Value::Object(schemas)) => {
                    for schema in schemas.values() {
                        toll = toll.plus(self.compute_cost(schema, refs, depth));
                    }
                }
                ("if" | "then" | "else" | "not", _) => {
                    toll = toll.plus(self.compute_cost(value, refs, depth));
                }
                (
                    "properties"
                    | "patternProperties"
                    | "additionalProperties"
                    | "items"
                    | "prefixItems"
                    | "contains"
                    | "unevaluatedProperties"
                    | "unevaluatedItems",
                    _,
                ) => toll.child_visits = toll.child_visits.max(1),
                _ => {}
            }
        }
        toll
    }
}
