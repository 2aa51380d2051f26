//! Caches facts about a schema.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolwright_schema::{Schema, Tape};

use super::{
    min_size::{MinSizes, UNBOUNDED},
    refs::RefResolver,
    validation_cost::{CostCache, ValidationCost},
};

/// The cache for one schema.
pub(super) struct SchemaCache<'s> {
    pub(super) refs: RefResolver<'s>,
    min_sizes: MinSizes,
    costs: CostCache,
    /// Each pattern as a schema of its own: the validator decides what matches.
    patterns: HashMap<&'s str, Schema>,
}

impl<'s> SchemaCache<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self {
            refs: RefResolver::new(root),
            min_sizes: MinSizes::default(),
            costs: CostCache::default(),
            patterns: HashMap::new(),
        }
    }

    pub(super) fn is_unbounded(&mut self, schema: &'s Value) -> bool {
        self.min_size(schema) == UNBOUNDED
    }

    pub(super) fn min_size(&mut self, schema: &'s Value) -> u32 {
        self.min_sizes.min_size(schema, &mut self.refs)
    }

    pub(super) fn validation_cost(&mut self, schemas: &[&'s Value]) -> ValidationCost {
        schemas.iter().fold(ValidationCost::default(), |toll, schema| {
            toll.plus(self.costs.cost(schema, &mut self.refs))
        })
    }

    pub(super) fn matches(&mut self, pattern: &'s str, text: &str) -> bool {
        let schema = self
            .patterns
            .entry(pattern)
            .or_insert_with(|| Schema::trusted(json!({"pattern": pattern})));
        schema.is_valid(Tape::from_value(&Value::from(text)).root())
    }
}
