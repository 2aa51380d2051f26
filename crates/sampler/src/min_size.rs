//! Computes the size of the smallest valid value of a schema, in number of values.
//!
//! This ends the expansion of recursive schemas: where space is limited the smallest branch is chosen.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{refs::RefResolver, type_set::TypeSet};

/// No value of finite size, or none that should be generated.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// The maximum nesting of references and schemas.
const MAX_DEPTH: usize = 256;

/// How often all references are revisited; two rounds are enough for realistic schemas.
const MAX_ROUNDS: usize = 8;

/// How many schemas are visited per query.
const MAX_VISITED_SCHEMAS: usize = 50_000;

/// The sizes computed so far.
#[derive(Default)]
pub(super) struct MinSizes {
    /// The size of every schema that a reference names, by its address; unbounded until proven otherwise.
    by_address: HashMap<usize, u32>,
    /// The addresses whose size is final.
    final_sizes: HashSet<usize>,
}

impl MinSizes {
    pub(super) fn min_size<'s>(&mut self, schema: &'s Value, refs: &mut RefResolver<'s>) -> u32 {
        let mut count =
            MinSizePass { sizes: self, refs, seen: HashSet::new(), visited: 0, changed: false };
        for _ in 0..MAX_ROUNDS {
            count.changed = false;
            count.seen.clear();
            let min = count.schema_size(schema, MAX_DEPTH);
            if !count.changed {
                let MinSizePass { seen, .. } = count;
                self.final_sizes.extend(seen);
                return min;
            }
        }
        count.schema_size(schema, MAX_DEPTH)
    }
}

struct MinSizePass<'c, 's> {
    sizes: &'c mut MinSizes,
    refs: &'c mut RefResolver<'s>,
    /// References met in this round.
    seen: HashSet<usize>,
    visited: usize,
    changed: bool,
}

impl<'s> MinSizePass<'_, 's> {
    fn schema_size(&mut self, schema: &'s Value, depth: usize) -> u32 {
        self.visited += 1;
        let object = match schema {
            Value::Bool(true) => return 1,
            Value::Object(object) => object,
            _ => return UNBOUNDED,
        };
        let Some(depth) = depth.checked_sub(1) else {
            return UNBOUNDED;
        };
        if self.visited > MAX_VISITED_SCHEMAS {
            return UNBOUNDED;
        }
        let mut min = match (object.get("const"), object.get("enum")) {
            (None, None) => self.keywords_size(object, depth),
            (None, Some(Value::Array(options))) if options.is_empty() => UNBOUNDED,
            _ => 1,
        };
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(reference) = object.get(keyword) {
                min = min.max(self.reference_size(reference, depth));
            }
        }
        if let Some(Value::Array(all)) = object.get("allOf") {
            for schema in all {
                min = min.max(self.schema_size(schema, depth));
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = object.get(keyword) {
                let sizes = branches.iter().map(|branch| self.schema_size(branch, depth));
                min = min.max(sizes.min().unwrap_or(UNBOUNDED));
            }
        }
        min
    }

    fn reference_size(&mut self, reference: &'s Value, depth: usize) -> u32 {
        let Some(target) = self.refs.resolve(reference) else {
            return UNBOUNDED;
        };
        let name = std::ptr::from_ref(target).addr();
        let current = self.sizes.by_address.get(&name).copied().unwrap_or(UNBOUNDED);
        if self.sizes.final_sizes.contains(&name) || !self.seen.insert(name) {
            return current;
        }
        let min = self.schema_size(target, depth);
        if min < current {
            self.sizes.by_address.insert(name, min);
            self.changed = true;
        }
        min.min(current)
    }

    /// The minimum size that the schema's own keywords require.
    fn keywords_size(&mut self, object: &'s Map<String, Value>, depth: usize) -> u32 {
        let types = object.get("type").map_or(TypeSet::ALL, TypeSet::from_type_keyword);
        if types.intersects(TypeSet::ALL.difference(TypeSet::ARRAY.union(TypeSet::OBJECT))) {
            return 1;
        }
        let mut min = UNBOUNDED;
        if types.intersects(TypeSet::ARRAY) {
            min = self.array_size(object, depth);
        }
        if types.intersects(TypeSet::OBJECT) {
            min = min.min(self.object_size(object, depth));
        }
        min
    }

    fn array_size(&mut self, object: &'s Map<String, Value>, depth: usize) -> u32 {
        let wanted = object.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let prefix = object.get("prefixItems").and_then(Value::as_array);
        let mut sum: u32 = 1;
        for schema in prefix.into_iter().flatten().take(wanted) {
            sum = sum.saturating_add(self.schema_size(schema, depth));
        }
        let more = wanted.saturating_sub(prefix.map_or(0, Vec::len));
        let more = u32::try_from(more).unwrap_or(UNBOUNDED);
        match object.get("items") {
            Some(items) if more > 0 => {
                sum.saturating_add(self.schema_size(items, depth).saturating_mul(more))
            }
            _ => sum.saturating_add(more),
        }
    }

    fn object_size(&mut self, object: &'s Map<String, Value>, depth: usize) -> u32 {
        let properties = object.get("properties");
        let required = object.get("required").and_then(Value::as_array);
        let mut sum: u32 = 1;
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            let min = match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => self.schema_size(schema, depth),
                None => 1,
            };
            sum = sum.saturating_add(min);
        }
        sum
    }
}
