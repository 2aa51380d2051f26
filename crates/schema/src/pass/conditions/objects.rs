//! Conditions on the properties of objects.

use serde_json::{Map, Value, json};

use super::phrase::{self, noun};
use super::{is_anything, is_nothing, number, required, take};
use crate::lower::{Severity, Spot};
use crate::pass::subject::asserts;
use crate::pass::words::words;

/// More names are not written out as properties.
const MOST_NAMES: usize = 64;

/// Keywords through which another schema speaks about the same value.
const IN_PLACE: [&str; 10] = [
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "allOf",
    "anyOf",
    "dependentSchemas",
    "else",
    "if",
    "oneOf",
    "then",
];

/// `unevaluatedProperties` speaks of the same properties as `additionalProperties` where nothing else evaluates any.
pub(super) fn unevaluated(members: &mut Map<String, Value>, spot: &mut Spot) {
    let Some(rest) = take(members, spot, "unevaluatedProperties") else {
        return;
    };
    if is_anything(&rest) || members.contains_key("additionalProperties") {
        return;
    }
    let elsewhere = IN_PLACE.iter().any(|keyword| {
        let part = members.get(*keyword);
        part.is_some_and(|part| evaluates_below(keyword, part))
    });
    if !elsewhere {
        members.insert("additionalProperties".to_owned(), rest);
    } else if is_nothing(&rest) {
        spot.spill(
            members,
            "unevaluatedProperties",
            "no other properties".to_owned(),
        );
    } else {
        let words = format!("each other property is {}", noun(&rest));
        spot.spill(members, "unevaluatedProperties", words);
    }
}

fn evaluates_below(keyword: &str, part: &Value) -> bool {
    match (keyword, part) {
        ("dependentSchemas", Value::Object(parts)) => parts.values().any(evaluates),
        (_, Value::Array(parts)) => parts.iter().any(evaluates),
        (_, part) => evaluates(part),
    }
}

/// Whether a schema names properties, itself or through others.
fn evaluates(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(keyword, part)| match keyword.as_str() {
                "additionalProperties"
                | "patternProperties"
                | "properties"
                | "unevaluatedProperties" => true,
                keyword => IN_PLACE.contains(&keyword) && evaluates_below(keyword, part),
            }),
        // A boolean evaluates nothing; what a reference leads to is not known here.
        other => !other.is_boolean(),
    }
}

/// What a property asks for when it is given.
enum Demand {
    Names(Vec<String>),
    Schema(Value),
}

/// `dependentRequired`, `dependentSchemas`, and `dependencies`, which is both.
pub(super) fn dependent(members: &mut Map<String, Value>, spot: &mut Spot) {
    let mut demands: Vec<(&str, String, Demand)> = Vec::new();
    for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
        if let Some(Value::Object(given)) = take(members, spot, keyword) {
            demands.extend(
                given
                    .into_iter()
                    .map(|(name, value)| (keyword, name, demand(value))),
            );
        }
    }
    // What a required property asks for is required too, and may ask for more in turn.
    loop {
        let met = demands.iter().position(|(_, name, demand)| {
            matches!(demand, Demand::Names(_)) && required(members).any(|other| other == name)
        });
        let Some((_, _, Demand::Names(names))) = met.map(|at| demands.remove(at)) else {
            break;
        };
        require(members, names);
    }
    for (keyword, name, demand) in demands {
        let words = match demand {
            Demand::Names(names) => {
                let known =
                    |other: &&str| *other != name && !required(members).any(|one| one == *other);
                let missing: Vec<&str> = names.iter().map(String::as_str).filter(known).collect();
                if missing.is_empty() {
                    continue;
                }
                format!(
                    "if `{name}` is given, {} must be given too",
                    phrase::names(missing)
                )
            }
            Demand::Schema(schema) if is_anything(&schema) => continue,
            Demand::Schema(schema) if is_nothing(&schema) => format!("`{name}` must not be given"),
            Demand::Schema(schema) => {
                format!("if `{name}` is given, then {}", phrase::demand(&schema))
            }
        };
        spot.spill(members, keyword, words);
    }
}

fn demand(value: Value) -> Demand {
    let only_names = value.as_object().is_some_and(|schema| {
        schema
            .keys()
            .all(|keyword| keyword == "required" || !asserts(keyword))
    });
    let list = match &value {
        Value::Object(schema) if only_names => schema.get("required").and_then(Value::as_array),
        Value::Array(list) => Some(list),
        _ => None,
    };
    match list {
        Some(list) => Demand::Names(
            list.iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        ),
        None => Demand::Schema(value),
    }
}

fn require(members: &mut Map<String, Value>, names: Vec<String>) {
    let list = members.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(list) = list {
        for name in names {
            if !list.iter().any(|other| *other == name) {
                list.push(Value::String(name));
            }
        }
    }
}

/// `propertyNames`; returns whether a schema was copied to several names.
pub(super) fn names(members: &mut Map<String, Value>, spot: &mut Spot) -> bool {
    let Some(rule) = take(members, spot, "propertyNames") else {
        return false;
    };
    let says_more = |(keyword, value): &(&String, &Value)| {
        // Every name is a string anyway.
        asserts(keyword) && !(*keyword == "type" && *value == "string")
    };
    let said = rule.as_object().into_iter().flatten().filter(says_more);
    let keywords: Vec<&str> = said.map(|(keyword, _)| keyword.as_str()).collect();
    let allowed: Option<Vec<&str>> =
        match (keywords.as_slice(), rule.get("enum"), rule.get("const")) {
            _ if is_nothing(&rule) => Some(Vec::new()),
            ([], ..) => return false,
            (["enum"], Some(Value::Array(list)), _) => {
                Some(list.iter().filter_map(Value::as_str).collect())
            }
            (["const"], _, Some(only)) => Some(only.as_str().into_iter().collect()),
            _ => None,
        };
    if let Some(allowed) = allowed
        && allowed.len() <= MOST_NAMES
        && !members.contains_key("patternProperties")
    {
        name_all(members, &allowed);
        return true;
    }
    let words = match (keywords.as_slice(), rule.get("pattern")) {
        (["pattern"], Some(Value::String(pattern))) => format!("property names match `{pattern}`"),
        _ => format!("the name of each property is {}", noun(&rule)),
    };
    spot.spill(members, "propertyNames", words);
    false
}

/// Closes an object to the names it may have, each with the schema that it had.
fn name_all(members: &mut Map<String, Value>, allowed: &[&str]) {
    let rest = members.insert("additionalProperties".to_owned(), Value::Bool(false));
    let mut old = match members.shift_remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let mut properties = Map::new();
    // Names that were described keep their order.
    old.retain(|name, _| allowed.contains(&name.as_str()));
    properties.append(&mut old);
    if rest != Some(Value::Bool(false)) {
        let rest = rest.unwrap_or_else(|| json!({}));
        for name in allowed {
            properties.entry(*name).or_insert_with(|| rest.clone());
        }
    }
    members.insert("properties".to_owned(), Value::Object(properties));
}

/// `patternProperties`: where other properties are limited, what the patterns admitted must stay admitted.
pub(super) fn patterns(members: &mut Map<String, Value>, spot: &mut Spot) {
    let Some(Value::Object(patterns)) = take(members, spot, "patternProperties") else {
        return;
    };
    let every = |pattern: &str| matches!(pattern, "" | "^" | ".*" | "^.*");
    if patterns.len() == 1
        && !members.contains_key("properties")
        && patterns.keys().all(|pattern| every(pattern))
    {
        // No name is left that would be additional.
        members.shift_remove("additionalProperties");
        members.extend(
            patterns
                .into_iter()
                .map(|(_, part)| ("additionalProperties".to_owned(), part)),
        );
        return;
    }
    let rest = members
        .get("additionalProperties")
        .filter(|rest| !is_anything(rest))
        .cloned();
    let closed = rest.as_ref().is_some_and(is_nothing);
    if rest.is_none() && patterns.values().all(is_anything)
        || closed && patterns.values().all(is_nothing)
    {
        return;
    }
    let mut told: Vec<String> = patterns
        .iter()
        .map(|(pattern, part)| match is_nothing(part) {
            true => format!("no property name matches `{pattern}`"),
            false if closed && patterns.len() == 1 || is_anything(part) => {
                format!("property names match `{pattern}`")
            }
            false => format!(
                "each property whose name matches `{pattern}` is {}",
                noun(part)
            ),
        })
        .collect();
    if let Some(rest) = rest {
        if !closed {
            told.push(format!("each other property is {}", noun(&rest)));
        }
        match any_of(std::iter::once(rest).chain(patterns.into_iter().map(|(_, part)| part))) {
            Some(rest) => members.insert("additionalProperties".to_owned(), rest),
            None => members.shift_remove("additionalProperties"),
        };
    }
    for words in told {
        spot.spill(members, "patternProperties", words);
    }
}

/// The schema of what fits one of several; `None` for anything.
fn any_of(parts: impl Iterator<Item = Value>) -> Option<Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for part in parts.filter(|part| !is_nothing(part)) {
        if is_anything(&part) {
            return None;
        }
        if !distinct.contains(&part) {
            distinct.push(part);
        }
    }
    match distinct.len() {
        0 => Some(Value::Bool(false)),
        1 => distinct.pop(),
        _ => Some(json!({"anyOf": distinct})),
    }
}

/// `minProperties` and `maxProperties`, unless other keywords see to it.
pub(super) fn counts(members: &mut Map<String, Value>, spot: &mut Spot) {
    let closed = members.get("additionalProperties") == Some(&Value::Bool(false))
        && !members.contains_key("patternProperties");
    let properties = members.get("properties").and_then(Value::as_object);
    let most = properties.map_or(0, Map::len) as u64;
    let least = required(members).count() as u64;
    for keyword in ["minProperties", "maxProperties"] {
        let Some(value) = take(members, spot, keyword) else {
            continue;
        };
        let sure = match (keyword, number(&value)) {
            (_, None) => true,
            ("minProperties", Some(bound)) => bound <= least,
            (_, Some(bound)) => closed && most <= bound,
        };
        match words(keyword, &value) {
            _ if sure => {}
            Some(words) => spot.spill(members, keyword, words),
            None => spot.lose(keyword, Severity::Wider, None),
        }
    }
}
