//! Proves that no value is valid for two schemas.
//!
//! The result is a proof or "unknown": every rule here finds a reason why a value that is valid for one is invalid for the
//! other.

use std::cmp::Ordering;
use std::collections::HashSet;

use jsonschema::json::cmp;
use serde_json::{Number, Value};

use crate::lower::pass::conditions::{admits_nothing, as_count};
use crate::lower::{JsonObject, KeywordLookup};
use crate::type_set::TypeSet;

/// How many comparisons are made per lowered schema.
const MAX_STEPS: usize = 100_000;

/// How many comparisons are made per pair of alternatives.
const MAX_STEPS_PER_PAIR: usize = 1_000;

/// How many elements of two arrays are compared.
const MAX_ELEMENTS: u64 = 8;

/// How many required properties of two objects are compared.
const MAX_NAMES: usize = 32;

/// Searches for a proof within a limited number of steps.
pub(super) struct DisjointnessProver<'s> {
    /// The definitions of the references that were kept.
    pub(super) definitions: &'s Value,
    remaining_steps: usize,
}

impl<'s> DisjointnessProver<'s> {
    pub(super) fn new(definitions: &'s Value) -> Self {
        Self { definitions, remaining_steps: MAX_STEPS }
    }

    /// Returns true if no value is valid for two of the branches; `parent` is the schema that contains them.
    pub(super) fn all_disjoint(&mut self, branches: &[Value], parent: &JsonObject) -> bool {
        if are_distinct_string_constants(branches) {
            return true;
        }
        let mut rest = branches;
        while let Some((first, others)) = rest.split_first() {
            for other in others {
                let steps = self.remaining_steps.min(MAX_STEPS_PER_PAIR);
                let mut pair =
                    PairProver { definitions: self.definitions, parent, remaining_steps: steps };
                let apart = pair.are_disjoint(first, other, true);
                self.remaining_steps -= steps - pair.remaining_steps;
                if !apart {
                    return false;
                }
            }
            rest = others;
        }
        true
    }
}

/// Shortcut for long lists of string constants.
fn are_distinct_string_constants(branches: &[Value]) -> bool {
    let mut seen = HashSet::new();
    branches.iter().all(|branch| {
        let values = branch.as_object().and_then(enum_values).unwrap_or_default();
        let mut texts = values.iter().map(|value| value.as_str());
        let own: Option<HashSet<&str>> = texts.by_ref().collect();
        own.is_some_and(|own| !own.is_empty() && own.into_iter().all(|text| seen.insert(text)))
    })
}

struct PairProver<'s> {
    definitions: &'s Value,
    parent: &'s JsonObject,
    remaining_steps: usize,
}

impl PairProver<'_> {
    /// Counts steps; returns false when the limit is reached.
    fn use_steps(&mut self, steps: usize) -> bool {
        match self.remaining_steps.checked_sub(steps) {
            Some(left) => {
                self.remaining_steps = left;
                true
            }
            None => false,
        }
    }

    /// `same_value`: both apply to the value of the union itself, not to a value inside it.
    fn are_disjoint(&mut self, one: &Value, other: &Value, same_value: bool) -> bool {
        if admits_nothing(one) || admits_nothing(other) {
            return true;
        }
        let (Value::Object(a), Value::Object(b), true) = (one, other, self.use_steps(1)) else {
            return false;
        };
        self.disjoint_by_keywords(a, b, same_value)
            || self.disjoint_by_subschemas(a, other, same_value)
            || self.disjoint_by_subschemas(b, one, same_value)
    }

    /// By the subschemas of one of the two.
    fn disjoint_by_subschemas(
        &mut self,
        members: &JsonObject,
        other: &Value,
        same_value: bool,
    ) -> bool {
        let definitions = self.definitions;
        let target =
            members.text("$ref").and_then(|name| definitions.get(name.strip_prefix("#/$defs/")?));
        if target.is_some_and(|target| self.are_disjoint(target, other, same_value)) {
            return true;
        }
        ["anyOf", "oneOf"].into_iter().filter_map(|union| members.list(union)).any(|branches| {
            !branches.is_empty()
                && branches.iter().all(|branch| self.are_disjoint(branch, other, same_value))
        }) || members.list("allOf").is_some_and(|subschemas| {
            subschemas.iter().any(|subschema| self.are_disjoint(subschema, other, same_value))
        })
    }

    fn disjoint_by_keywords(&mut self, a: &JsonObject, b: &JsonObject, same_value: bool) -> bool {
        let mut shared = possible_types(a).intersection(possible_types(b));
        if same_value {
            shared = shared.intersection(possible_types(self.parent));
        }
        if let (Some(these), Some(those)) = (enum_values(a), enum_values(b))
            && self.use_steps(these.len().saturating_mul(those.len()) / 8)
            && !these.iter().any(|this| those.iter().any(|that| cmp::equal(this, that)))
        {
            return true;
        }
        // Every type that both accept needs its own proof.
        !shared.intersects(TypeSet::NULL.union(TypeSet::BOOLEAN))
            && (!shared.intersects(TypeSet::STRING)
                || size_ranges_disjoint(a, b, "minLength", "maxLength"))
            && (!shared.intersects(TypeSet::NUMBER)
                || range_ends_before(a, b)
                || range_ends_before(b, a))
            && (!shared.intersects(TypeSet::ARRAY)
                || size_ranges_disjoint(a, b, "minItems", "maxItems")
                || self.disjoint_by_elements(a, b))
            && (!shared.intersects(TypeSet::OBJECT)
                || size_ranges_disjoint(a, b, "minProperties", "maxProperties")
                || self.disjoint_by_properties(a, b, same_value))
    }

    /// A property that one requires, and whose schemas are disjoint.
    fn disjoint_by_properties(&mut self, a: &JsonObject, b: &JsonObject, same_value: bool) -> bool {
        let parent = Some(self.parent).filter(|_| same_value);
        let schemas = [a, b].into_iter().chain(parent);
        let names = schemas.flat_map(|schema| schema.required_names());
        names
            .take(MAX_NAMES)
            .any(|name| self.cannot_both_have(property_schema(a, name), property_schema(b, name)))
    }

    /// Returns true if no value inside can be valid for the schemas that both have for it.
    fn cannot_both_have(&mut self, one: Option<&Value>, other: Option<&Value>) -> bool {
        one.is_some_and(admits_nothing)
            || other.is_some_and(admits_nothing)
            || one.zip(other).is_some_and(|(one, other)| self.are_disjoint(one, other, false))
    }

    /// An element that arrays of one must have, and whose schemas are disjoint.
    fn disjoint_by_elements(&mut self, a: &JsonObject, b: &JsonObject) -> bool {
        let min_items =
            |members: &JsonObject| members.keyword("minItems").and_then(as_count).unwrap_or(0);
        let count = min_items(a).max(min_items(b)).min(MAX_ELEMENTS) as usize;
        (0..count).any(|at| self.cannot_both_have(element_schema(a, at), element_schema(b, at)))
    }
}

/// The types that a schema may accept.
fn possible_types(members: &JsonObject) -> TypeSet {
    let by_type = members.keyword("type").map_or(TypeSet::ALL, TypeSet::from_type_keyword);
    match enum_values(members) {
        Some(values) => values
            .iter()
            .map(TypeSet::type_of)
            .fold(TypeSet::NONE, TypeSet::union)
            .intersection(by_type),
        None => by_type,
    }
}

/// The values of `enum` or `const`.
fn enum_values(members: &JsonObject) -> Option<&[Value]> {
    match members.keyword("const") {
        Some(only) => Some(std::slice::from_ref(only)),
        None => members.list("enum"),
    }
}

/// The schema of a property.
fn property_schema<'s>(members: &'s JsonObject, name: &str) -> Option<&'s Value> {
    let own = members.keyword("properties").and_then(|properties| properties.get(name));
    let others = || match members.keyword("patternProperties") {
        Some(_) => None,
        None => members.keyword("additionalProperties"),
    };
    own.or_else(others)
}

/// The schema of an element.
fn element_schema(members: &JsonObject, at: usize) -> Option<&Value> {
    match (members.list("prefixItems"), members.list("items")) {
        (_, Some(places)) => places.get(at).or_else(|| members.keyword("additionalItems")),
        (Some(places), None) => places.get(at).or_else(|| members.keyword("items")),
        (None, None) => members.keyword("items"),
    }
}

fn size_ranges_disjoint(a: &JsonObject, b: &JsonObject, min: &str, max: &str) -> bool {
    let size = |members: &JsonObject, keyword: &str| members.keyword(keyword).and_then(as_count);
    let below = |a: &JsonObject, b: &JsonObject| {
        let ends = (size(a, max), size(b, min));
        matches!(ends, (Some(max), Some(min_items)) if max < min_items)
    };
    below(a, b) || below(b, a)
}

/// Returns true if the numbers of one end before those of the other begin.
fn range_ends_before(a: &JsonObject, b: &JsonObject) -> bool {
    let number = |members: &'_ JsonObject, keyword| members.keyword(keyword)?.as_number().cloned();
    ["maximum", "exclusiveMaximum"].into_iter().any(|end| {
        ["minimum", "exclusiveMinimum"].into_iter().any(|start| {
            let excluded = end == "exclusiveMaximum" || start == "exclusiveMinimum";
            let order = number(a, end).zip(number(b, start));
            match order.and_then(|(end, start)| compare_numbers(&end, &start)) {
                Some(Ordering::Less) => true,
                Some(Ordering::Equal) => excluded,
                _ => false,
            }
        })
    })
}

/// Compares two numbers; `None` where floating point is not exact enough.
fn compare_numbers(a: &Number, b: &Number) -> Option<Ordering> {
    if cmp::equal_numbers(a, b) {
        return Some(Ordering::Equal);
    }
    // Rounding keeps the order, but may make two numbers equal.
    a.as_f64()?.partial_cmp(&b.as_f64()?).filter(|order| order.is_ne())
}
