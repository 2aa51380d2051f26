//! Conditions on the elements of arrays.

use serde_json::{Map, Value};

use super::phrase::noun;
use super::{at_least, at_most, is_anything, is_nothing, number, take};
use crate::lower::{Lookup, LookupMut, Spot};

/// Keywords through which another schema may evaluate elements.
const EVALUATING: [&str; 10] = [
    "$dynamicRef",
    "$ref",
    "allOf",
    "anyOf",
    "contains",
    "dependentSchemas",
    "else",
    "if",
    "oneOf",
    "then",
];

/// `unevaluatedItems` speaks of the same elements as `items` where nothing else evaluates any.
pub(super) fn unevaluated(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let Some(rest) = take(members, spot, "unevaluatedItems") else {
        return;
    };
    if is_anything(&rest) || members.has("items") {
        return;
    }
    if !EVALUATING.iter().any(|keyword| members.has(keyword)) {
        members.put("items", rest);
    } else if is_nothing(&rest) {
        spot.spill(members, "unevaluatedItems", "no other items".to_owned());
    } else {
        let words = format!("each other item is {}", noun(&rest));
        spot.spill(members, "unevaluatedItems", words);
    }
}

/// An array ends before an element that nothing can be.
pub(super) fn end_at_nothing(members: &mut Map<String, Value>) {
    let Some(Value::Array(first)) = members.find_mut("prefixItems") else {
        return;
    };
    let Some(end) = first.iter().position(is_nothing) else {
        return;
    };
    first.truncate(end);
    if end == 0 {
        members.take_out("prefixItems");
    }
    members.take_out("items");
    at_most(members, "maxItems", end as u64);
}

/// `contains`, and how often.
pub(super) fn contains(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let [sought, least, most] =
        ["contains", "minContains", "maxContains"].map(|keyword| take(members, spot, keyword));
    let Some(sought) = sought else {
        return;
    };
    let least = least.as_ref().and_then(number).unwrap_or(1);
    let most = most.as_ref().and_then(number);
    if is_anything(&sought) {
        if least > 0 {
            at_least(members, "minItems", least);
        }
        if let Some(most) = most {
            at_most(members, "maxItems", most);
        }
        return;
    }
    let often = match (least, most) {
        (0, None) => return,
        (_, Some(0)) => "no".to_owned(),
        (0, Some(most)) => format!("at most {most}"),
        (least, None) => format!("at least {least}"),
        (least, Some(most)) if least == most => format!("exactly {most}"),
        (least, Some(most)) => format!("{least} to {most}"),
    };
    let items = match most.unwrap_or(least) {
        0 | 1 => "item is",
        _ => "items are",
    };
    let words = format!("{often} {items} {}", noun(&sought));
    spot.spill(members, "contains", words);
}

pub(super) fn unique(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let Some(Value::Bool(true)) = take(members, spot, "uniqueItems") else {
        return;
    };
    if members
        .find("maxItems")
        .and_then(number)
        .is_none_or(|most| most > 1)
    {
        spot.spill(members, "uniqueItems", "no item comes twice".to_owned());
    }
}
