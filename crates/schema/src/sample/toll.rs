//! A schema in, how much work the validator will have with one value out.
//!
//! References can double the work at every step, and the validator does not stop: such schemas are not put to it.

use std::collections::HashMap;

use serde_json::Value;

use super::refs::Refs;

/// How deep schemas are followed in place.
const DEEP: usize = 200;

/// What a schema costs when it judges a value.
#[derive(Clone, Copy, Default)]
pub(super) struct Toll {
    /// How many schemas look at the value itself.
    pub(super) visits: u64,
    /// How many of them look at its members or elements too.
    pub(super) entries: u64,
}

impl Toll {
    const HUGE: Self = Self {
        visits: u64::MAX,
        entries: u64::MAX,
    };

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            visits: self.visits.saturating_add(other.visits),
            entries: self.entries.saturating_add(other.entries),
        }
    }
}

/// The tolls of the schemas met so far, by their address.
#[derive(Default)]
pub(super) struct Tolls(HashMap<usize, Toll>);

impl Tolls {
    pub(super) fn of<'s>(&mut self, schema: &'s Value, refs: &mut Refs<'s>) -> Toll {
        self.known(schema, refs, DEEP)
    }

    fn known<'s>(&mut self, schema: &'s Value, refs: &mut Refs<'s>, depth: usize) -> Toll {
        let name = std::ptr::from_ref(schema).addr();
        if let Some(known) = self.0.get(&name) {
            return *known;
        }
        // A schema that comes back to itself in place adds nothing.
        self.0.insert(name, Toll::default());
        let toll = self.count(schema, refs, depth);
        self.0.insert(name, toll);
        toll
    }

    fn count<'s>(&mut self, schema: &'s Value, refs: &mut Refs<'s>, depth: usize) -> Toll {
        let Value::Object(object) = schema else {
            return Toll::default();
        };
        let Some(depth) = depth.checked_sub(1) else {
            return Toll::HUGE;
        };
        let mut toll = Toll {
            visits: 1,
            entries: 0,
        };
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", _) => {
                    let target = refs.find(value);
                    toll = target.map_or(toll, |target| toll.and(self.known(target, refs, depth)));
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    for schema in schemas {
                        toll = toll.and(self.count(schema, refs, depth));
                    }
                }
                ("dependentSchemas", Value::Object(schemas)) => {
                    for schema in schemas.values() {
                        toll = toll.and(self.count(schema, refs, depth));
                    }
                }
                ("if" | "then" | "else" | "not", _) => {
                    toll = toll.and(self.count(value, refs, depth));
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
                ) => toll.entries = toll.entries.max(1),
                _ => {}
            }
        }
        toll
    }
}
