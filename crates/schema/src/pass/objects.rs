//! Objects get declared properties and no others; values without any become pairs or text.
//!
//! A map becomes an array of pairs, which is wider: an array in which a key comes twice is no map, stays an array when
//! arguments are lifted, and is refused.

mod undeclared;

use serde_json::{Map, Value, json};

use self::undeclared::{Branches, Siblings, undeclared};
use super::enums;
use super::json_text::{self, kind};
use super::keywords::{give_up_parts, give_up_unread};
use super::subject::admits_all;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Part, Seen, Severity, Spot, describe};

/// A schema that more names follow is not copied to each of them.
const MOST_COPIES: usize = 64;

/// For dialects that can only express declared properties: gives a form to everything else.
pub(crate) fn declare(draft: &mut Draft) -> Result<(), Impossible> {
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        if members.has("anyOf") {
            union(members, spot);
        } else {
            single(members, spot, Siblings::default());
        }
    });
    draft.adds(Seen::of(&[
        "additionalProperties",
        "enum",
        "items",
        "maxItems",
        "minItems",
    ]));
    Ok(())
}

/// For strict modes: every object is closed and names its properties, if only to say that there are none.
pub(crate) fn close(draft: &mut Draft) -> Result<(), Impossible> {
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        if kind(members) != Some("object") {
            return;
        }
        if !members.has("properties") {
            members.put("properties", json!({}));
        }
        let closed = Value::Bool(false);
        if members.find("additionalProperties") != Some(&closed) {
            members.put("additionalProperties", closed);
            spot.lose("additionalProperties", Severity::Narrower, None);
        }
    });
    draft.adds(Seen::of(&["additionalProperties"]));
    Ok(())
}

/// The branches are given their forms together: two of them must not look alike.
fn union(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let Some(Value::Array(branches)) = members.find_mut("anyOf") else {
        return;
    };
    let mut all = Branches::default();
    branches.iter().for_each(|branch| all.add(branch));
    for (at, branch) in branches.iter_mut().enumerate() {
        let siblings = all.without(branch);
        if let Value::Object(branch) = branch {
            single(branch, &mut spot.below("anyOf", Part::At(at)), siblings);
        }
        all.add(branch);
    }
    json_text::absorb(members);
}

fn single(members: &mut Map<String, Value>, spot: &mut Spot<'_>, siblings: Siblings) {
    match kind(members) {
        Some("object") => {
            object(members, spot, siblings);
            give_up_parts(members, spot);
        }
        Some("array") => {
            // Its items may be given another form, in which no listed value would fit.
            enums::give_up(members, spot);
            give_up_parts(members, spot);
        }
        None if !spot.path.is_root() && !members.has("$ref") => {
            // What is left of a contradiction has no type either.
            give_up_unread(members, spot);
            if admits_all(members) {
                json_text::write(members, "any value, as JSON text");
            }
        }
        _ => {}
    }
}

/// What an object says about properties that it does not declare.
#[derive(PartialEq)]
enum Rest {
    Refused,
    Open,
    /// Each has a schema to follow.
    Ruled,
}

impl Rest {
    fn of(members: &Map<String, Value>) -> Self {
        match members.find("additionalProperties") {
            Some(Value::Bool(false)) => Self::Refused,
            Some(Value::Object(rule)) if !admits_all(rule) => Self::Ruled,
            _ => Self::Open,
        }
    }
}

fn object(members: &mut Map<String, Value>, spot: &mut Spot<'_>, siblings: Siblings) {
    enums::give_up(members, spot);
    let closes = spot.rules.keeps("additionalProperties");
    let rest = Rest::of(members);
    let missing = missing(members, spot);
    if declares_none(members) && !spot.path.is_root() {
        // Where objects stay open, declaring what is required is all it takes.
        let declarable = !closes && rest == Rest::Open && !missing.is_empty();
        if !declarable {
            return undeclared(members, spot, &rest, siblings);
        }
    }
    if !missing.is_empty() {
        let properties = members.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            properties.extend(missing);
        }
    }
    if closes && rest == Rest::Ruled {
        let words = "no further properties";
        members.put("additionalProperties", Value::Bool(false));
        describe(members, words);
        spot.lose(
            "additionalProperties",
            Severity::Narrower,
            Some(words.to_owned()),
        );
    }
}

fn declares_none(members: &Map<String, Value>) -> bool {
    let properties = members.find("properties").and_then(Value::as_object);
    properties.is_none_or(Map::is_empty)
}

/// What is required but not declared, with the schema that it has to follow.
fn missing(members: &mut Map<String, Value>, spot: &mut Spot<'_>) -> Vec<(String, Value)> {
    let Some(Value::Array(required)) = members.find("required") else {
        return Vec::new();
    };
    let declared = members.find("properties").and_then(Value::as_object);
    let is_declared = |name: &str| declared.is_some_and(|declared| declared.has(name));
    let names = required.iter().filter_map(Value::as_str);
    let missing: Vec<&str> = names.filter(|name| !is_declared(name)).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let rule = match members.find("additionalProperties") {
        Some(Value::Bool(false)) => {
            // Required and refused: the object is impossible, which no dialect can say.
            let possible = required
                .iter()
                .filter(|name| name.as_str().is_some_and(is_declared));
            let possible = possible.cloned().collect();
            members.put("required", possible);
            spot.lose("required", Severity::Wider, None);
            return Vec::new();
        }
        Some(rule @ Value::Object(_)) if missing.len() <= MOST_COPIES => rule,
        Some(Value::Object(_)) => {
            spot.lose("additionalProperties", Severity::Wider, None);
            &json!({})
        }
        _ => &json!({}),
    };
    let follow = |name: &str| (name.to_owned(), rule.clone());
    missing.into_iter().map(follow).collect()
}
