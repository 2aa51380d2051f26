//! A schema in, the number of values that the smallest value it admits is made of out.
//!
//! This is how a recursive schema comes to an end: where room is scarce the branch with the least is taken.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{kinds::Kinds, refs::Refs};

/// No value of finite size, or none worth drawing.
pub(super) const ENDLESS: u32 = u32::MAX;

/// How deep references and schemas are followed.
const DEEP: usize = 256;

/// How often all references are gone through; two rounds settle all but contrived schemas.
const ROUNDS: usize = 8;

/// How many schemas are visited for one answer.
const VISITED: usize = 50_000;

/// The sizes found out so far.
#[derive(Default)]
pub(super) struct Least {
    /// The least of every schema that a reference names, by its address; endless until proven otherwise.
    named: HashMap<usize, u32>,
    /// Whether `named` is final.
    settled: HashSet<usize>,
}

impl Least {
    pub(super) fn of<'s>(&mut self, schema: &'s Value, refs: &mut Refs<'s>) -> u32 {
        let mut count = Count {
            least: self,
            refs,
            seen: HashSet::new(),
            visited: 0,
            changed: false,
        };
        for _ in 0..ROUNDS {
            count.changed = false;
            count.seen.clear();
            let least = count.schema(schema, DEEP);
            if !count.changed {
                let Count { seen, .. } = count;
                self.settled.extend(seen);
                return least;
            }
        }
        count.schema(schema, DEEP)
    }
}

struct Count<'c, 's> {
    least: &'c mut Least,
    refs: &'c mut Refs<'s>,
    /// References met in this round.
    seen: HashSet<usize>,
    visited: usize,
    changed: bool,
}

impl<'s> Count<'_, 's> {
    fn schema(&mut self, schema: &'s Value, depth: usize) -> u32 {
        self.visited += 1;
        let object = match schema {
            Value::Bool(true) => return 1,
            Value::Object(object) => object,
            _ => return ENDLESS,
        };
        let Some(depth) = depth.checked_sub(1) else {
            return ENDLESS;
        };
        if self.visited > VISITED {
            return ENDLESS;
        }
        let mut least = match (object.get("const"), object.get("enum")) {
            (None, None) => self.own(object, depth),
            (None, Some(Value::Array(options))) if options.is_empty() => ENDLESS,
            _ => 1,
        };
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(reference) = object.get(keyword) {
                least = least.max(self.reference(reference, depth));
            }
        }
        if let Some(Value::Array(all)) = object.get("allOf") {
            for schema in all {
                least = least.max(self.schema(schema, depth));
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = object.get(keyword) {
                let sizes = branches.iter().map(|branch| self.schema(branch, depth));
                least = least.max(sizes.min().unwrap_or(ENDLESS));
            }
        }
        least
    }

    fn reference(&mut self, reference: &'s Value, depth: usize) -> u32 {
        let Some(target) = self.refs.find(reference) else {
            return ENDLESS;
        };
        let name = std::ptr::from_ref(target).addr();
        let known = self.least.named.get(&name).copied().unwrap_or(ENDLESS);
        if self.least.settled.contains(&name) || !self.seen.insert(name) {
            return known;
        }
        let least = self.schema(target, depth);
        if least < known {
            self.least.named.insert(name, least);
            self.changed = true;
        }
        least.min(known)
    }

    /// What the schema's own keywords ask for at least.
    fn own(&mut self, object: &'s Map<String, Value>, depth: usize) -> u32 {
        let kinds = object.get("type").map_or(Kinds::ALL, Kinds::typed);
        if kinds.has(Kinds::ALL.without(Kinds::ARRAY.or(Kinds::OBJECT))) {
            return 1;
        }
        let mut least = ENDLESS;
        if kinds.has(Kinds::ARRAY) {
            least = self.array(object, depth);
        }
        if kinds.has(Kinds::OBJECT) {
            least = least.min(self.members(object, depth));
        }
        least
    }

    fn array(&mut self, object: &'s Map<String, Value>, depth: usize) -> u32 {
        let wanted = object.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let prefix = object.get("prefixItems").and_then(Value::as_array);
        let mut sum: u32 = 1;
        for schema in prefix.into_iter().flatten().take(wanted) {
            sum = sum.saturating_add(self.schema(schema, depth));
        }
        let more = wanted.saturating_sub(prefix.map_or(0, Vec::len));
        let more = u32::try_from(more).unwrap_or(ENDLESS);
        match object.get("items") {
            Some(items) if more > 0 => {
                sum.saturating_add(self.schema(items, depth).saturating_mul(more))
            }
            _ => sum.saturating_add(more),
        }
    }

    fn members(&mut self, object: &'s Map<String, Value>, depth: usize) -> u32 {
        let properties = object.get("properties");
        let required = object.get("required").and_then(Value::as_array);
        let mut sum: u32 = 1;
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            let least = match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => self.schema(schema, depth),
                None => 1,
            };
            sum = sum.saturating_add(least);
        }
        sum
    }
}
