//! What has been found out about a schema so far, so that it is found out once.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{
    least::{ENDLESS, Least},
    refs::Refs,
    toll::{Toll, Tolls},
};
use crate::{Schema, Tape};

/// The answers to questions about one schema.
pub(super) struct Known<'s> {
    pub(super) refs: Refs<'s>,
    least: Least,
    tolls: Tolls,
    /// Each pattern as a schema of its own: the validator is the judge of what matches.
    patterns: HashMap<&'s str, Schema>,
}

impl<'s> Known<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self {
            refs: Refs::new(root),
            least: Least::default(),
            tolls: Tolls::default(),
            patterns: HashMap::new(),
        }
    }

    pub(super) fn is_endless(&mut self, schema: &'s Value) -> bool {
        self.least(schema) == ENDLESS
    }

    pub(super) fn least(&mut self, schema: &'s Value) -> u32 {
        self.least.of(schema, &mut self.refs)
    }

    pub(super) fn toll(&mut self, schemas: &[&'s Value]) -> Toll {
        schemas.iter().fold(Toll::default(), |toll, schema| {
            toll.and(self.tolls.of(schema, &mut self.refs))
        })
    }

    pub(super) fn matches(&mut self, pattern: &'s str, text: &str) -> bool {
        let schema = self
            .patterns
            .entry(pattern)
            .or_insert_with(|| Schema::trusted(json!({"pattern": pattern})));
        schema.is_valid(Tape::of(&Value::from(text)).root())
    }
}
