//! An object that declares no property: a map becomes pairs, anything else text.

use serde_json::{Map, Value, json};

use super::Rest;
use crate::lower::{LIFT, Lookup, LookupMut, Mark, Severity, Spot, mark};
use crate::pass::json_text;
use crate::pass::keywords::binds;
use crate::pass::subject::asserts;
use crate::pass::words::{short, words};

/// What else a value may be at the same place.
#[derive(Clone, Copy, Default)]
pub(super) struct Siblings {
    text: bool,
    array: bool,
}

/// The branches of a union, counted by what they may be.
#[derive(Default)]
pub(super) struct Branches {
    texts: usize,
    arrays: usize,
}

impl Branches {
    pub(super) fn add(&mut self, branch: &Value) {
        self.texts += usize::from(may_be(branch, "string"));
        self.arrays += usize::from(may_be(branch, "array"));
    }

    /// Takes one out, and returns what the others are.
    pub(super) fn without(&mut self, branch: &Value) -> Siblings {
        self.texts -= usize::from(may_be(branch, "string"));
        self.arrays -= usize::from(may_be(branch, "array"));
        Siblings {
            text: self.texts > 0,
            array: self.arrays > 0,
        }
    }
}

/// Where a reference leads to is not looked up.
fn may_be(branch: &Value, wanted: &str) -> bool {
    match branch.find("type") {
        Some(kind) => kind == wanted,
        None => branch.find("$ref").is_some(),
    }
}

pub(super) fn undeclared(
    members: &mut Map<String, Value>,
    spot: &mut Spot<'_>,
    rest: &Rest,
    siblings: Siblings,
) {
    match rest {
        Rest::Refused => empty(members, spot, siblings),
        Rest::Ruled if !siblings.array => pairs(members, spot),
        _ => text(members, spot),
    }
}

fn text(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let told = Value::Object(std::mem::take(members));
    let words = format!("{}, as JSON text", short(&told));
    if let Value::Object(told) = told {
        *members = told;
    }
    json_text::write(members, &words);
    spot.lose("type", Severity::Wider, Some(words));
}

/// The one object without properties.
fn empty(members: &mut Map<String, Value>, spot: &mut Spot<'_>, siblings: Siblings) {
    if spot.rules.empty_objects {
        return;
    }
    give_up(members, spot);
    if siblings.text {
        return text(members, spot);
    }
    members.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT));
    members.put("type", json!("string"));
    members.put("enum", json!(["{}"]));
    mark(members, Mark::Texts(vec![json!({})]));
}

/// A map as `[{"key": …, "value": …}]`.
fn pairs(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let value = members.take_out("additionalProperties");
    let least = members.take_out("minProperties");
    let most = members.take_out("maxProperties");
    give_up(members, spot);
    members.retain(|keyword, _| matches!(keyword.as_str(), "description" | LIFT));
    members.put("type", json!("array"));
    let mut items = json!({
        "type": "object",
        "properties": {},
        "required": ["key", "value"],
        "additionalProperties": false,
    });
    if let Some(Value::Object(properties)) = items.find_mut("properties") {
        properties.put("key", json!({"type": "string"}));
        properties.put("value", value.unwrap_or_default());
    }
    members.put("items", items);
    if let Some(least) = least.filter(|least| least.as_f64() != Some(0.0)) {
        members.put("minItems", least);
    }
    if let Some(most) = most {
        members.put("maxItems", most);
    }
    // An array cannot say that a key comes once; one that comes twice is refused when it comes back.
    let words = "each entry is a key, given once, and its value";
    spot.spill(members, "additionalProperties", words.to_owned());
    mark(members, Mark::Pairs);
}

/// Tells whatever else the schema asks of its value.
fn give_up(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let said = ["type", "properties", "additionalProperties"];
    let others: Vec<(String, Value)> = members
        .iter()
        .filter(|(keyword, value)| {
            !said.contains(&keyword.as_str()) && asserts(keyword) && binds(keyword, value)
        })
        .map(|(keyword, value)| (keyword.clone(), value.clone()))
        .collect();
    for (keyword, value) in others {
        members.take_out(&keyword);
        match words(&keyword, &value) {
            Some(words) => spot.spill(members, &keyword, words),
            None => spot.lose(&keyword, Severity::Wider, None),
        }
    }
}
