//! Arrays whose elements differ by place become arrays of any of them, or take the form of Draft 7.

use serde_json::{Map, Value, json};

use super::conditions::{at_most, is_anything, is_nothing, noun, number};
use super::subject::asserts;
use super::words::cut;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Seen, Severity, Spot, describe};

/// More places are not described.
const TOLD: usize = 8;

/// Longer descriptions of one place are cut.
const SHOWN: usize = 80;

/// More alternatives are not offered.
const MOST_BRANCHES: usize = 64;

/// For dialects without `prefixItems`.
pub(crate) fn widen(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.has(Seen::LIST.or(Seen::of(&["additionalItems", "not", "prefixItems"]))) {
        return Ok(());
    }
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        let concerns = |(keyword, value): (&String, &Value)| match keyword.as_str() {
            "additionalItems" | "prefixItems" => true,
            "items" => value.is_array() || is_nothing(value),
            _ => false,
        };
        if members.iter().any(concerns) {
            by_place_to_any(members, spot);
        }
    });
    draft.adds(Seen::of(&["anyOf", "items", "maxItems"]));
    Ok(())
}

/// For dialects with `prefixItems`, where nothing after it is said by the length.
pub(crate) fn end(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.has(Seen::LIST.or(Seen::of(&["not"]))) {
        return Ok(());
    }
    draft.walk(|schema, _| {
        let Value::Object(members) = schema else {
            return;
        };
        if members.find("items").is_some_and(is_nothing) {
            members.take_out("items");
            let places = members
                .find("prefixItems")
                .and_then(Value::as_array)
                .map_or(0, Vec::len);
            at_most(members, "maxItems", places as u64);
        }
    });
    draft.adds(Seen::of(&["maxItems"]));
    Ok(())
}

fn by_place_to_any(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let (mut places, rest) = taken(members);
    // Nothing follows an element that nothing can be.
    let end = places.iter().position(is_nothing);
    places.truncate(end.unwrap_or(places.len()));
    if end.is_some() || rest.as_ref().is_some_and(is_nothing) {
        at_most(members, "maxItems", places.len() as u64);
    }
    let most = members
        .find("maxItems")
        .and_then(number)
        .unwrap_or(u64::MAX);
    let rest = match most > places.len() as u64 {
        true => Some(rest.unwrap_or_else(|| json!({}))),
        false => None,
    };
    places.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    if places.is_empty() {
        if let Some(rest) = rest.filter(|rest| !is_anything(rest)) {
            members.put("items", rest);
        }
        return;
    }
    let words = in_order(&places, rest.as_ref());
    let all: Vec<Value> = places.into_iter().chain(rest).collect();
    if let Some((first, others)) = all.split_first()
        && others.iter().all(|other| other == first)
    {
        if !is_anything(first) {
            members.put("items", first.clone());
        }
        return;
    }
    let same = all
        .first()
        .map(bare)
        .is_some_and(|first| all.iter().all(|other| bare(other) == first));
    if let Some(items) = any_of(all, same) {
        members.put("items", items);
    }
    describe(members, &words);
    let severity = if same {
        Severity::Note
    } else {
        Severity::Wider
    };
    spot.lose("prefixItems", severity, Some(words));
}

/// Takes out the schemas by place, and the one of the elements after them.
fn taken(members: &mut Map<String, Value>) -> (Vec<Value>, Option<Value>) {
    let [first, items, additional] =
        ["prefixItems", "items", "additionalItems"].map(|keyword| members.take_out(keyword));
    match (first, items) {
        (_, Some(Value::Array(places))) => (places, additional),
        (Some(Value::Array(places)), rest) => (places, rest),
        (_, rest) => (Vec::new(), rest),
    }
}

/// A schema without what only informs.
fn bare(schema: &Value) -> Vec<(&String, &Value)> {
    let members = schema.as_object().into_iter().flatten();
    members.filter(|(keyword, _)| asserts(keyword)).collect()
}

/// The schema of an element at any place; `None` for anything.
fn any_of(all: Vec<Value>, same: bool) -> Option<Value> {
    if all.iter().any(is_anything) {
        return None;
    }
    let mut distinct: Vec<Value> = Vec::new();
    for part in all {
        if !distinct.contains(&part) {
            distinct.push(part);
        }
        if distinct.len() > MOST_BRANCHES && !same {
            return None;
        }
    }
    if same || distinct.len() == 1 {
        let mut one = distinct.into_iter().next()?;
        // What it informs of is only true of its own place.
        if let (true, Some(members)) = (same, one.as_object_mut()) {
            members.retain(|keyword, _| asserts(keyword));
        }
        return Some(one);
    }
    Some(json!({"anyOf": distinct}))
}

/// `in this order: a string, then an integer`.
fn in_order(places: &[Value], rest: Option<&Value>) -> String {
    let mut told: Vec<String> = places.iter().take(TOLD).map(told).collect();
    if places.len() > TOLD {
        told.push("…".to_owned());
    }
    match rest {
        Some(rest) if is_anything(rest) => told.push("anything after that".to_owned()),
        Some(rest) => told.push(format!("each further item {}", self::told(rest))),
        None => {}
    }
    format!("in this order: {}", told.join(", then "))
}

fn told(element: &Value) -> String {
    match element.find("description").and_then(Value::as_str) {
        Some(description) => format!("{} ({})", noun(element), cut(description.trim(), SHOWN)),
        None => noun(element),
    }
}

/// For a dialect that reads schemas as Draft 7.
pub(crate) fn as_draft_7(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["prefixItems"]) {
        return Ok(());
    }
    draft.walk(|schema, _| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(Value::Array(places)) = members.take_out("prefixItems") else {
            return;
        };
        // Draft 7 does not know `prefixItems` and wants no empty list; beside a list, it meant nothing before.
        if places.is_empty() || members.find("items").is_some_and(Value::is_array) {
            return;
        }
        members.take_out("additionalItems");
        if let Some(rest) = members.put("items", Value::Array(places)) {
            members.put("additionalItems", rest);
        }
    });
    draft.changed();
    Ok(())
}
