//! Objects get declared properties and no others; values without any become pairs or text.
//!
//! A map becomes an array of pairs, which is wider: an array in which a key comes twice is no map, stays an array when
//! arguments are lifted, and is refused.

mod undeclared;

use serde_json::{Map, Value, json};

use self::undeclared::{Siblings, undeclared};
use super::enums;
use super::json_text::{self, kind};
use super::keywords::{give_up_parts, settle};
use super::subject::admits_all;
use super::words::words;
use crate::lower::{Draft, Impossible, Severity, Spot, describe};
use crate::{Schema, Tape};

/// For dialects that can only express declared properties: gives a form to everything else.
pub(crate) fn declare(draft: &mut Draft) -> Result<(), Impossible> {
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        if members.contains_key("anyOf") {
            union(members, spot);
        } else {
            single(members, spot, Siblings::default());
        }
    });
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
        if !members.contains_key("properties") {
            members.insert("properties".to_owned(), json!({}));
        }
        let closed = Value::Bool(false);
        if members.get("additionalProperties") != Some(&closed) {
            members.insert("additionalProperties".to_owned(), closed);
            spot.lose("additionalProperties", Severity::Narrower, None);
        }
    });
    Ok(())
}

/// The branches are given their forms together: two of them must not look alike.
fn union(members: &mut Map<String, Value>, spot: &mut Spot) {
    let Some(Value::Array(branches)) = members.get_mut("anyOf") else {
        return;
    };
    for at in 0..branches.len() {
        let siblings = Siblings::of(branches, at);
        if let Some(Value::Object(branch)) = branches.get_mut(at) {
            spot.below("anyOf", Some(&at.to_string()), |spot| {
                single(branch, spot, siblings)
            });
        }
    }
    json_text::absorb(members);
}

fn single(members: &mut Map<String, Value>, spot: &mut Spot, siblings: Siblings) {
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
        None if !spot.path.is_empty() && admits_all(members) => {
            json_text::write(members, "any value, as JSON text");
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
        match members.get("additionalProperties") {
            Some(Value::Bool(false)) => Self::Refused,
            Some(Value::Object(rule)) if !admits_all(rule) => Self::Ruled,
            _ => Self::Open,
        }
    }
}

fn object(members: &mut Map<String, Value>, spot: &mut Spot, siblings: Siblings) {
    settle(members);
    enums::give_up(members, spot);
    let closes = spot.rules.keeps("additionalProperties");
    let rest = Rest::of(members);
    let missing = missing(members, spot);
    if count(members, "properties") == 0 && !spot.path.is_empty() {
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
    if closes {
        refuse_patterns(members, spot);
    }
    if closes && rest == Rest::Ruled {
        let words = "no further properties";
        members.insert("additionalProperties".to_owned(), Value::Bool(false));
        describe(members, words);
        spot.lose(
            "additionalProperties",
            Severity::Narrower,
            Some(words.to_owned()),
        );
    }
}

fn count(members: &Map<String, Value>, keyword: &str) -> usize {
    let parts = members.get(keyword).and_then(Value::as_object);
    parts.map_or(0, Map::len)
}

/// What is required but not declared, with the schema that it has to follow.
fn missing(members: &mut Map<String, Value>, spot: &mut Spot) -> Vec<(String, Value)> {
    let Some(Value::Array(required)) = members.get("required") else {
        return Vec::new();
    };
    let declared = members.get("properties").and_then(Value::as_object);
    let missing: Vec<String> = required
        .iter()
        .filter_map(Value::as_str)
        .filter(|name| declared.is_none_or(|declared| !declared.contains_key(*name)))
        .map(str::to_owned)
        .collect();
    let mut followed = Vec::with_capacity(missing.len());
    for name in missing {
        if let Some(part) = followed_by(members, &name) {
            followed.push((name, part));
        } else if let Some(Value::Array(required)) = members.get_mut("required") {
            // Required and refused: the object is impossible, which no dialect can say.
            required.retain(|other| *other != name);
            spot.lose("required", Severity::Wider, None);
        }
    }
    followed
}

/// The schema of a property that is not declared; `None` if it is refused.
fn followed_by(members: &Map<String, Value>, name: &str) -> Option<Value> {
    let patterns = members.get("patternProperties").and_then(Value::as_object);
    let mut matching = patterns
        .into_iter()
        .flatten()
        .filter(|(pattern, _)| matches(name, pattern));
    match (matching.next(), matching.next()) {
        (Some((_, part)), None) => return Some(part.clone()),
        (Some(_), Some(_)) => return Some(json!({})),
        (None, _) => {}
    }
    match members.get("additionalProperties") {
        Some(Value::Bool(false)) => None,
        Some(rule @ Value::Object(_)) => Some(rule.clone()),
        _ => Some(json!({})),
    }
}

fn matches(name: &str, pattern: &str) -> bool {
    let name = Value::from(name);
    Schema::trusted(json!({ "pattern": pattern })).is_valid(Tape::of(&name).root())
}

/// A closed object has no room for names that only match a pattern.
fn refuse_patterns(members: &mut Map<String, Value>, spot: &mut Spot) {
    let Some(Value::Object(patterns)) = members.shift_remove("patternProperties") else {
        return;
    };
    if patterns.is_empty() {
        return;
    }
    spot.lose("patternProperties", Severity::Narrower, None);
    // A declared property that matches had to follow both schemas.
    let declared = members.get("properties").and_then(Value::as_object);
    let both = declared.into_iter().flatten().any(|(name, _)| {
        let mut names = patterns.keys();
        names.any(|pattern| matches(name, pattern))
    });
    if both && let Some(words) = words("patternProperties", &Value::Object(patterns)) {
        spot.spill(members, "patternProperties", words);
    }
}
