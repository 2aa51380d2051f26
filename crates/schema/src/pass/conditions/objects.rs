//! Conditions on the properties of objects.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::phrase::{self, noun};
use super::{is_anything, is_nothing, number, required, take, tell};
use crate::lower::{Lookup, LookupMut, Severity, Spot};
use crate::pass::subject::asserts;
use crate::pass::words::words;

/// More names are not written out as properties, more alternatives not as a union.
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
pub(super) fn unevaluated(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let Some(rest) = take(members, spot, "unevaluatedProperties") else {
        return;
    };
    if is_anything(&rest) || members.has("additionalProperties") {
        return;
    }
    let elsewhere = IN_PLACE.iter().any(|keyword| {
        let part = members.find(keyword);
        part.is_some_and(|part| evaluates_below(keyword, part))
    });
    if !elsewhere {
        members.put("additionalProperties", rest);
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

impl Demand {
    fn of(value: Value) -> Self {
        let only_names = |schema: &Map<String, Value>| {
            schema
                .keys()
                .all(|keyword| keyword == "required" || !asserts(keyword))
        };
        let list = match &value {
            Value::Object(schema) if only_names(schema) => schema.find("required"),
            other => Some(other),
        };
        match list.and_then(Value::as_array) {
            Some(list) => {
                let names = list.iter().filter_map(Value::as_str);
                Self::Names(names.map(str::to_owned).collect())
            }
            None => Self::Schema(value),
        }
    }

    /// What is asked for, unless the properties that are given anyway see to it.
    fn words(&self, name: &str, sure: &HashSet<String>) -> Option<String> {
        match self {
            Self::Names(names) => {
                let missing = names.iter().map(String::as_str);
                let missing: Vec<&str> = missing
                    .filter(|other| *other != name && !sure.contains(*other))
                    .collect();
                let missing = (!missing.is_empty()).then(|| phrase::names(missing))?;
                Some(format!("if `{name}` is given, {missing} must be given too"))
            }
            Self::Schema(schema) if is_anything(schema) => None,
            Self::Schema(schema) if is_nothing(schema) => {
                Some(format!("`{name}` must not be given"))
            }
            Self::Schema(schema) => Some(format!(
                "if `{name}` is given, then {}",
                phrase::demand(schema)
            )),
        }
    }
}

/// `dependentRequired`, `dependentSchemas`, and `dependencies`, which is both.
pub(super) fn dependent(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let mut demands: Vec<(&str, String, Demand)> = Vec::new();
    for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
        if let Some(Value::Object(given)) = take(members, spot, keyword) {
            let given = given.into_iter();
            demands.extend(given.map(|(name, value)| (keyword, name, Demand::of(value))));
        }
    }
    if demands.is_empty() {
        return;
    }
    let sure = require(members, &demands);
    for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
        let told = demands.iter().filter(|(from, ..)| *from == keyword);
        let told = told.filter_map(|(_, name, demand)| demand.words(name, &sure));
        tell(members, spot, keyword, told.collect());
    }
}

/// Requires what a required property asks for, and what that asks for in turn; returns all that is required then.
fn require(
    members: &mut Map<String, Value>,
    demands: &[(&str, String, Demand)],
) -> HashSet<String> {
    let mut asked: HashMap<&str, Vec<&String>> = HashMap::new();
    for (_, name, demand) in demands {
        if let Demand::Names(names) = demand {
            asked.entry(name).or_default().extend(names);
        }
    }
    let mut sure: HashSet<String> = required(members).map(str::to_owned).collect();
    let mut next: Vec<String> = required(members).map(str::to_owned).collect();
    let mut added = Vec::new();
    while let Some(name) = next.pop() {
        for other in asked.remove(name.as_str()).into_iter().flatten() {
            if sure.insert(other.clone()) {
                next.push(other.clone());
                added.push(Value::String(other.clone()));
            }
        }
    }
    if let (Some(Value::Array(list)), false) = (members.find_mut("required"), added.is_empty()) {
        list.append(&mut added);
    }
    sure
}

/// `propertyNames`; returns whether a schema was copied to several names.
pub(super) fn names(members: &mut Map<String, Value>, spot: &mut Spot<'_>) -> bool {
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
        match (keywords.as_slice(), rule.find("enum"), rule.find("const")) {
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
        && !members.has("patternProperties")
    {
        name_all(members, &allowed);
        return true;
    }
    let words = match (keywords.as_slice(), rule.find("pattern")) {
        (["pattern"], Some(Value::String(pattern))) => format!("property names match `{pattern}`"),
        _ => format!("the name of each property is {}", noun(&rule)),
    };
    spot.spill(members, "propertyNames", words);
    false
}

/// Closes an object to the names it may have, each with the schema that it had.
fn name_all(members: &mut Map<String, Value>, allowed: &[&str]) {
    let rest = members.put("additionalProperties", Value::Bool(false));
    let mut old = match members.take_out("properties") {
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
    members.put("properties", Value::Object(properties));
}

/// `patternProperties`: where other properties are limited, what the patterns admitted must stay admitted.
pub(super) fn patterns(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let Some(Value::Object(patterns)) = take(members, spot, "patternProperties") else {
        return;
    };
    let every = |pattern: &str| matches!(pattern, "" | "^" | ".*" | "^.*");
    if patterns.len() == 1
        && !members.has("properties")
        && patterns.keys().all(|pattern| every(pattern))
    {
        // No name is left that would be additional.
        members.take_out("additionalProperties");
        members.extend(
            patterns
                .into_iter()
                .map(|(_, part)| ("additionalProperties".to_owned(), part)),
        );
        return;
    }
    let rest = members
        .find("additionalProperties")
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
            Some(rest) => members.put("additionalProperties", rest),
            None => members.take_out("additionalProperties"),
        };
    }
    tell(members, spot, "patternProperties", told);
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
        if distinct.len() > MOST_NAMES {
            return None;
        }
    }
    match distinct.len() {
        0 => Some(Value::Bool(false)),
        1 => distinct.pop(),
        _ => Some(json!({"anyOf": distinct})),
    }
}

/// `minProperties` and `maxProperties`, unless other keywords see to it.
pub(super) fn counts(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let closed = members.find("additionalProperties") == Some(&Value::Bool(false))
        && !members.has("patternProperties");
    let properties = members.find("properties").and_then(Value::as_object);
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
