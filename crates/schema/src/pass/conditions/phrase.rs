//! A schema in, a sentence about a value out.

use serde_json::{Map, Value};

use super::{is_anything, is_nothing};
use crate::lower::Lookup;
use crate::pass::subject::asserts;
use crate::pass::words::{cut, one_of, short};

/// Longer words are cut.
const MOST: usize = 200;

/// What a value is: `a string`, `one of "a", "b"`.
pub(crate) fn noun(schema: &Value) -> String {
    match schema.find("enum").and_then(Value::as_array) {
        _ if is_nothing(schema) => "nothing".to_owned(),
        Some(listed) => values(listed),
        None => short(schema),
    }
}

/// `"a"`, or `one of "a", "b"`.
pub(super) fn values(values: &[Value]) -> String {
    match values {
        [one] => cut(&one.to_string(), MOST),
        several => one_of(several),
    }
}

/// `` `a`, `b` and `c` ``.
pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    cut(&listed(&names, "and"), MOST)
}

/// What holds of a value: `` `a` is given and `b` is a string ``.
pub(super) fn clause(schema: &Value) -> String {
    cut(&sentence(schema, Mood::Is), MOST)
}

/// What has to hold of a value: `` `a` must be given and `b` must be a string ``.
pub(super) fn demand(schema: &Value) -> String {
    cut(&sentence(schema, Mood::Must), MOST)
}

#[derive(Clone, Copy)]
enum Mood {
    Is,
    Must,
}

impl Mood {
    fn verb(self, several: bool) -> &'static str {
        match self {
            Self::Is if several => "are",
            Self::Is => "is",
            Self::Must => "must be",
        }
    }
}

fn listed(parts: &[String], last: &str) -> String {
    match parts {
        [most @ .., end] if !most.is_empty() => format!("{} {last} {end}", most.join(", ")),
        _ => parts.concat(),
    }
}

fn sentence(schema: &Value, mood: Mood) -> String {
    let asserted: Vec<(&str, &Value)> = schema
        .as_object()
        .into_iter()
        .flatten()
        .map(|(keyword, value)| (keyword.as_str(), value))
        .filter(|(keyword, _)| asserts(keyword))
        .collect();
    if let [("anyOf" | "oneOf", Value::Array(branches))] = asserted.as_slice() {
        let branches: Vec<String> = branches
            .iter()
            .map(|branch| sentence(branch, mood))
            .collect();
        return listed(&branches, "or");
    }
    let of_properties = |(keyword, value): &(&str, &Value)| match *keyword {
        "type" => *value == "object",
        "additionalProperties" => value.is_boolean(),
        keyword => matches!(keyword, "properties" | "required"),
    };
    if let (Value::Object(members), true) = (schema, asserted.iter().all(of_properties)) {
        let told = properties(members, mood);
        if !told.is_empty() {
            return listed(&told, "and");
        }
    }
    format!("it {} {}", mood.verb(false), noun(schema))
}

fn properties(members: &Map<String, Value>, mood: Mood) -> Vec<String> {
    let properties = members.find("properties").and_then(Value::as_object);
    let mut told = Vec::new();
    for (name, part) in properties.into_iter().flatten() {
        match mood {
            _ if is_anything(part) => {}
            Mood::Is if is_nothing(part) => told.push(format!("`{name}` is not given")),
            Mood::Must if is_nothing(part) => told.push(format!("`{name}` must not be given")),
            _ => told.push(format!("`{name}` {} {}", mood.verb(false), noun(part))),
        }
    }
    let untold = |name: &&str| {
        let part = properties.and_then(|properties| properties.get(*name));
        part.is_none_or(is_anything)
    };
    let given: Vec<&str> = super::required(members).filter(untold).collect();
    if !given.is_empty() {
        let verb = mood.verb(given.len() > 1);
        told.push(format!("{} {verb} given", names(given)));
    }
    told
}
