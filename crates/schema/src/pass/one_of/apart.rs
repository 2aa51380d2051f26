//! Two schemas in, whether no value can fit both out.
//!
//! The answer is a proof or "not known": every rule here finds a reason why a value that fits one is refused by the other.

use std::cmp::Ordering;

use jsonschema::json::cmp;
use serde_json::{Map, Number, Value};

use crate::pass::conditions::{is_nothing, number};
use crate::pass::constants::kinds::Kinds;

/// How many schemas are compared for one pair of alternatives.
const MOST_STEPS: usize = 256;

/// How many elements of two arrays are compared.
const MOST_ELEMENTS: u64 = 8;

type Members = Map<String, Value>;

pub(super) struct Apart<'s> {
    definitions: &'s Value,
    /// The schema that the alternatives stand in: it speaks about the same value.
    around: &'s Members,
    left: usize,
}

impl<'s> Apart<'s> {
    pub(super) fn new(definitions: &'s Value, around: &'s Members) -> Self {
        Self {
            definitions,
            around,
            left: 0,
        }
    }

    /// Whether no value fits two of these.
    pub(super) fn all(mut self, branches: &[Value]) -> bool {
        let mut rest = branches;
        while let Some((first, others)) = rest.split_first() {
            for other in others {
                self.left = MOST_STEPS;
                if !self.apart(first, other, true) {
                    return false;
                }
            }
            rest = others;
        }
        true
    }

    /// `here` tells that both speak about the value the alternatives speak about, not about something in it.
    fn apart(&mut self, one: &Value, other: &Value, here: bool) -> bool {
        if is_nothing(one) || is_nothing(other) {
            return true;
        }
        let (Value::Object(a), Value::Object(b), Some(left)) =
            (one, other, self.left.checked_sub(1))
        else {
            return false;
        };
        self.left = left;
        self.by_own_words(a, b, here)
            || self.by_parts(a, other, here)
            || self.by_parts(b, one, here)
    }

    /// Through the schemas that one of the two is made of.
    fn by_parts(&mut self, members: &Members, other: &Value, here: bool) -> bool {
        let definitions = self.definitions;
        let target = members
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|name| definitions.get(name.strip_prefix("#/$defs/")?));
        if target.is_some_and(|target| self.apart(target, other, here)) {
            return true;
        }
        let list = |keyword: &str| members.get(keyword).and_then(Value::as_array);
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
        names.filter_map(Value::as_str).any(|name| {
            let (one, other) = (property(a, name), property(b, name));
            one.is_some_and(is_nothing)
                || other.is_some_and(is_nothing)
                || matches!((one, other), (Some(one), Some(other)) if self.apart(one, other, false))
        })
    }

    /// An element that arrays of one must have, and on which the two do not agree.
    fn elements(&mut self, a: &Members, b: &Members) -> bool {
        let least = |members: &Members| members.get("minItems").and_then(number).unwrap_or(0);
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
    let by_type = members.get("type").map_or(Kinds::ALL, Kinds::named);
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
    match members.get("const") {
        Some(only) => Some(std::slice::from_ref(only)),
        None => Some(members.get("enum")?.as_array()?),
    }
}

fn required(members: &Members) -> &[Value] {
    let names = members.get("required").and_then(Value::as_array);
    names.map(Vec::as_slice).unwrap_or_default()
}

/// What a schema says about a property.
fn property<'s>(members: &'s Members, name: &str) -> Option<&'s Value> {
    let own = members
        .get("properties")
        .and_then(|properties| properties.get(name));
    let others = || match members.get("patternProperties") {
        Some(_) => None,
        None => members.get("additionalProperties"),
    };
    own.or_else(others)
}

/// What a schema says about an element.
fn element(members: &Members, at: usize) -> Option<&Value> {
    let places = |keyword: &str| members.get(keyword).and_then(Value::as_array);
    match (places("prefixItems"), places("items")) {
        (_, Some(places)) => places.get(at).or_else(|| members.get("additionalItems")),
        (Some(places), None) => places.get(at).or_else(|| members.get("items")),
        (None, None) => members.get("items"),
    }
}

fn sizes_differ(a: &Members, b: &Members, min: &str, max: &str) -> bool {
    let size = |members: &Members, keyword: &str| members.get(keyword).and_then(number);
    let below = |a: &Members, b: &Members| matches!((size(a, max), size(b, min)), (Some(most), Some(least)) if most < least);
    below(a, b) || below(b, a)
}

fn ranges_differ(a: &Members, b: &Members) -> bool {
    let bound = |members: &'_ Members, keyword: &str| {
        members.get(keyword).and_then(Value::as_number).cloned()
    };
    let below = |a: &Members, b: &Members| {
        let (most, less) = (bound(a, "maximum"), bound(a, "exclusiveMaximum"));
        let (least, more) = (bound(b, "minimum"), bound(b, "exclusiveMinimum"));
        let ends = [(most.as_ref(), false), (less.as_ref(), true)];
        let starts = [(least.as_ref(), false), (more.as_ref(), true)];
        ends.iter().any(|(end, end_excluded)| {
            starts
                .iter()
                .any(|(start, start_excluded)| match (end, start) {
                    (Some(end), Some(start)) => match order(end, start) {
                        Some(Ordering::Less) => true,
                        Some(Ordering::Equal) => *end_excluded || *start_excluded,
                        _ => false,
                    },
                    _ => false,
                })
        })
    };
    below(a, b) || below(b, a)
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
