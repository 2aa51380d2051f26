//! Two schemas in, whether no value can fit both out.
//!
//! The answer is a proof or "not known": every rule here finds a reason why a value that fits one is refused by the other.

use std::cmp::Ordering;
use std::collections::HashSet;

use jsonschema::json::cmp;
use serde_json::{Map, Number, Value};

use crate::lower::Lookup;
use crate::pass::conditions::{is_nothing, number};
use crate::pass::constants::kinds::Kinds;

/// How many comparisons are made for one schema to be lowered.
const MOST_STEPS: usize = 100_000;

/// How many of them for one pair of alternatives.
const MOST_FOR_PAIR: usize = 1_000;

/// How many elements of two arrays are compared.
const MOST_ELEMENTS: u64 = 8;

/// How many required properties of two objects are compared.
const MOST_NAMES: usize = 32;

type Members = Map<String, Value>;

/// Looks for reasons within an allowance.
pub(super) struct Proof<'s> {
    /// What references that were kept lead to.
    pub(super) definitions: &'s Value,
    left: usize,
}

impl<'s> Proof<'s> {
    pub(super) fn new(definitions: &'s Value) -> Self {
        Self {
            definitions,
            left: MOST_STEPS,
        }
    }

    /// Whether no value fits two of these, which stand in the schema `around` that speaks about the same value.
    pub(super) fn all_apart(&mut self, branches: &[Value], around: &Members) -> bool {
        if are_different_texts(branches) {
            return true;
        }
        let mut rest = branches;
        while let Some((first, others)) = rest.split_first() {
            for other in others {
                let left = self.left.min(MOST_FOR_PAIR);
                let mut pair = Pair {
                    definitions: self.definitions,
                    around,
                    left,
                };
                let apart = pair.apart(first, other, true);
                self.left -= left - pair.left;
                if !apart {
                    return false;
                }
            }
            rest = others;
        }
        true
    }
}

/// The quick way for long lists of described constants.
fn are_different_texts(branches: &[Value]) -> bool {
    let mut seen = HashSet::new();
    branches.iter().all(|branch| {
        let values = branch.as_object().and_then(listed).unwrap_or_default();
        let mut texts = values.iter().map(|value| value.as_str());
        let own: Option<HashSet<&str>> = texts.by_ref().collect();
        own.is_some_and(|own| !own.is_empty() && own.into_iter().all(|text| seen.insert(text)))
    })
}

struct Pair<'s> {
    definitions: &'s Value,
    around: &'s Members,
    left: usize,
}

impl Pair<'_> {
    /// Takes from the allowance.
    fn spend(&mut self, steps: usize) -> bool {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// `here` tells that both speak about the value the alternatives speak about, not about something in it.
    fn apart(&mut self, one: &Value, other: &Value, here: bool) -> bool {
        if is_nothing(one) || is_nothing(other) {
            return true;
        }
        let (Value::Object(a), Value::Object(b), true) = (one, other, self.spend(1)) else {
            return false;
        };
        self.by_own_words(a, b, here)
            || self.by_parts(a, other, here)
            || self.by_parts(b, one, here)
    }

    /// Through the schemas that one of the two is made of.
    fn by_parts(&mut self, members: &Members, other: &Value, here: bool) -> bool {
        let definitions = self.definitions;
        let target = members
            .find("$ref")
            .and_then(Value::as_str)
            .and_then(|name| definitions.get(name.strip_prefix("#/$defs/")?));
        if target.is_some_and(|target| self.apart(target, other, here)) {
            return true;
        }
        let list = |keyword: &str| members.find(keyword).and_then(Value::as_array);
        ["anyOf", "oneOf"]
            .into_iter()
            .filter_map(list)
            .any(|branches| {
                !branches.is_empty()
                    && branches
                        .iter()
                        .all(|branch| self.apart(branch, other, here))
            })
            || list("allOf")
                .is_some_and(|parts| parts.iter().any(|part| self.apart(part, other, here)))
    }

    fn by_own_words(&mut self, a: &Members, b: &Members, here: bool) -> bool {
        let mut shared = kinds(a).and(kinds(b));
        if here {
            shared = shared.and(kinds(self.around));
        }
        if let (Some(these), Some(those)) = (listed(a), listed(b))
            && self.spend(these.len().saturating_mul(those.len()) / 8)
            && !these
                .iter()
                .any(|this| those.iter().any(|that| cmp::equal(this, that)))
        {
            return true;
        }
        // Every kind that both admit needs its own reason.
        !shared.has(Kinds::NULL.or(Kinds::BOOLEAN))
            && (!shared.has(Kinds::STRING) || sizes_differ(a, b, "minLength", "maxLength"))
            && (!shared.has(Kinds::NUMBER) || ranges_differ(a, b))
            && (!shared.has(Kinds::ARRAY)
                || sizes_differ(a, b, "minItems", "maxItems")
                || self.elements(a, b))
            && (!shared.has(Kinds::OBJECT)
                || sizes_differ(a, b, "minProperties", "maxProperties")
                || self.properties(a, b, here))
    }

    /// A property that one requires, and on which the two do not agree.
    fn properties(&mut self, a: &Members, b: &Members, here: bool) -> bool {
        let around = if here { required(self.around) } else { &[] };
        let names = required(a).iter().chain(required(b)).chain(around);
        let names = names.filter_map(Value::as_str).take(MOST_NAMES);
        names.into_iter().any(|name| {
            let (one, other) = (property(a, name), property(b, name));
            one.is_some_and(is_nothing)
                || other.is_some_and(is_nothing)
                || matches!((one, other), (Some(one), Some(other)) if self.apart(one, other, false))
        })
    }

    /// An element that arrays of one must have, and on which the two do not agree.
    fn elements(&mut self, a: &Members, b: &Members) -> bool {
        let least = |members: &Members| members.find("minItems").and_then(number).unwrap_or(0);
        let sure = least(a).max(least(b)).min(MOST_ELEMENTS) as usize;
        (0..sure).any(|at| {
            let (one, other) = (element(a, at), element(b, at));
            one.is_some_and(is_nothing)
                || other.is_some_and(is_nothing)
                || matches!((one, other), (Some(one), Some(other)) if self.apart(one, other, false))
        })
    }
}

/// The kinds of values that a schema may admit.
fn kinds(members: &Members) -> Kinds {
    let by_type = members.find("type").map_or(Kinds::ALL, Kinds::named);
    match listed(members) {
        Some(values) => values
            .iter()
            .map(Kinds::of)
            .fold(Kinds::NONE, Kinds::or)
            .and(by_type),
        None => by_type,
    }
}

/// The only values that a schema may admit.
fn listed(members: &Members) -> Option<&[Value]> {
    match members.find("const") {
        Some(only) => Some(std::slice::from_ref(only)),
        None => Some(members.find("enum")?.as_array()?),
    }
}

fn required(members: &Members) -> &[Value] {
    let names = members.find("required").and_then(Value::as_array);
    names.map(Vec::as_slice).unwrap_or_default()
}

/// What a schema says about a property.
fn property<'s>(members: &'s Members, name: &str) -> Option<&'s Value> {
    let own = members
        .find("properties")
        .and_then(|properties| properties.get(name));
    let others = || match members.find("patternProperties") {
        Some(_) => None,
        None => members.find("additionalProperties"),
    };
    own.or_else(others)
}

/// What a schema says about an element.
fn element(members: &Members, at: usize) -> Option<&Value> {
    let places = |keyword: &str| members.find(keyword).and_then(Value::as_array);
    match (places("prefixItems"), places("items")) {
        (_, Some(places)) => places.get(at).or_else(|| members.find("additionalItems")),
        (Some(places), None) => places.get(at).or_else(|| members.find("items")),
        (None, None) => members.find("items"),
    }
}

fn sizes_differ(a: &Members, b: &Members, min: &str, max: &str) -> bool {
    let size = |members: &Members, keyword: &str| members.find(keyword).and_then(number);
    let below = |a: &Members, b: &Members| {
        let ends = (size(a, max), size(b, min));
        matches!(ends, (Some(most), Some(least)) if most < least)
    };
    below(a, b) || below(b, a)
}

fn ranges_differ(a: &Members, b: &Members) -> bool {
    below(a, b) || below(b, a)
}

/// Whether the numbers of one end before those of the other begin.
fn below(a: &Members, b: &Members) -> bool {
    let ends = ["maximum", "exclusiveMaximum"].map(|keyword| (keyword, a.find(keyword)));
    let starts = ["minimum", "exclusiveMinimum"].map(|keyword| (keyword, b.find(keyword)));
    ends.iter().any(|(at_end, end)| {
        starts.iter().any(|(at_start, start)| {
            let excluded = *at_end == "exclusiveMaximum" || *at_start == "exclusiveMinimum";
            match (end, start) {
                (Some(Value::Number(end)), Some(Value::Number(start))) => match order(end, start) {
                    Some(Ordering::Less) => true,
                    Some(Ordering::Equal) => excluded,
                    _ => false,
                },
                _ => false,
            }
        })
    })
}

/// How two numbers compare; `None` where floating point cannot tell.
fn order(a: &Number, b: &Number) -> Option<Ordering> {
    if cmp::equal_numbers(a, b) {
        return Some(Ordering::Equal);
    }
    // Rounding keeps the order, except that it may make equal.
    a.as_f64()?
        .partial_cmp(&b.as_f64()?)
        .filter(|order| order.is_ne())
}
