//! An object that declares no property: a map becomes pairs, anything else text.

use serde_json::{Map, Value, json};

use super::Rest;
use crate::lower::{LIFT, Mark, Severity, Spot, mark};
use crate::pass::formats::looks_around;
use crate::pass::json_text::{self, kind};
use crate::pass::keywords::binds;
use crate::pass::subject::asserts;
use crate::pass::words::{short, words};

/// What else a value may be at the same place.
#[derive(Clone, Copy, Default)]
pub(super) struct Siblings {
    text: bool,
    array: bool,
}

impl Siblings {
    /// The other branches of a union; where a reference leads to is not looked up.
    pub(super) fn of(branches: &[Value], own: usize) -> Self {
        let others = || branches.iter().enumerate().filter(|(at, _)| *at != own);
        let any = |wanted: &str| {
            others().any(|(_, branch)| match branch.get("type") {
                Some(kind) => kind == wanted,
                None => branch.get("$ref").is_some(),
            })
        };
        Self {
            text: any("string"),
            array: any("array"),
        }
    }
}

pub(super) fn undeclared(
    members: &mut Map<String, Value>,
    spot: &mut Spot,
    rest: &Rest,
    siblings: Siblings,
) {
    let one_pattern = || {
        let patterns = members.get("patternProperties")?.as_object()?;
        let (pattern, part) = patterns.iter().next()?;
        (patterns.len() == 1).then(|| (pattern.clone(), part.clone()))
    };
    let patterns = super::count(members, "patternProperties");
    match (rest, patterns) {
        (Rest::Refused, 0) => empty(members, spot, siblings),
        (Rest::Ruled, 0) if !siblings.array => {
            let value = members
                .shift_remove("additionalProperties")
                .unwrap_or_default();
            pairs(members, None, value, spot);
        }
        (Rest::Refused, 1) if !siblings.array => {
            if let Some((pattern, value)) = one_pattern() {
                members.shift_remove("patternProperties");
                pairs(members, Some(pattern), value, spot);
            }
        }
        _ => text(members, spot),
    }
}

fn text(members: &mut Map<String, Value>, spot: &mut Spot) {
    let told = Value::Object(std::mem::take(members));
    let words = format!("{}, as JSON text", short(&told));
    if let Value::Object(told) = told {
        *members = told;
    }
    json_text::write(members, &words);
    spot.lose("type", Severity::Wider, Some(words));
}

/// The one object without properties.
fn empty(members: &mut Map<String, Value>, spot: &mut Spot, siblings: Siblings) {
    if spot.rules.empty_objects {
        return;
    }
    give_up(
        members,
        &["type", "properties", "additionalProperties"],
        spot,
    );
    if siblings.text {
        return text(members, spot);
    }
    members.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT));
    members.insert("type".to_owned(), json!("string"));
    members.insert("enum".to_owned(), json!(["{}"]));
    mark(members, Mark::Texts(vec![json!({})]));
}

/// A map as `[{"key": …, "value": …}]`.
fn pairs(members: &mut Map<String, Value>, pattern: Option<String>, value: Value, spot: &mut Spot) {
    let key = key(members, pattern, spot);
    let least = members.shift_remove("minProperties");
    let most = members.shift_remove("maxProperties");
    give_up(
        members,
        &["type", "properties", "additionalProperties"],
        spot,
    );
    members.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT));
    members.insert("type".to_owned(), json!("array"));
    let mut items = json!({
        "type": "object",
        "properties": {},
        "required": ["key", "value"],
        "additionalProperties": false,
    });
    if let Some(Value::Object(properties)) = items.get_mut("properties") {
        properties.insert("key".to_owned(), key);
        properties.insert("value".to_owned(), value);
    }
    members.insert("items".to_owned(), items);
    if let Some(least) = least.filter(|least| least.as_f64() != Some(0.0)) {
        members.insert("minItems".to_owned(), least);
    }
    if let Some(most) = most {
        members.insert("maxItems".to_owned(), most);
    }
    // An array cannot say that a key comes once; one that comes twice is refused when it comes back.
    let words = "each entry is a key, given once, and its value";
    spot.spill(members, "additionalProperties", words.to_owned());
    mark(members, Mark::Pairs);
}

/// The schema of a map's keys.
fn key(members: &mut Map<String, Value>, pattern: Option<String>, spot: &mut Spot) -> Value {
    let named =
        |names: &Map<String, Value>| kind(names) == Some("string") && !names.contains_key(LIFT);
    let mut key = match members.get("propertyNames") {
        Some(Value::Object(names)) if named(names) => {
            let names = names.clone();
            members.shift_remove("propertyNames");
            names
        }
        _ => Map::from_iter([("type".to_owned(), json!("string"))]),
    };
    if let Some(pattern) = pattern {
        let taken = key.contains_key("pattern") || looks_around(&pattern);
        let pattern = Value::from(pattern);
        match words("pattern", &pattern).filter(|_| taken) {
            Some(words) => spot.spill(&mut key, "patternProperties", words),
            None => {
                key.insert("pattern".to_owned(), pattern);
            }
        }
    }
    Value::Object(key)
}

/// Tells whatever else the schema asks of its value.
fn give_up(members: &mut Map<String, Value>, said: &[&str], spot: &mut Spot) {
    let others: Vec<(String, Value)> = members
        .iter()
        .filter(|(keyword, value)| {
            !said.contains(&keyword.as_str()) && asserts(keyword) && binds(keyword, value)
        })
        .map(|(keyword, value)| (keyword.clone(), value.clone()))
        .collect();
    for (keyword, value) in others {
        members.shift_remove(&keyword);
        match words(&keyword, &value) {
            Some(words) => spot.spill(members, &keyword, words),
            None => spot.lose(&keyword, Severity::Wider, None),
        }
    }
}
