//! What two schemas say under one keyword in, what both say out.

use std::cmp::Ordering;

use jsonschema::json::cmp;
use serde_json::{Number, Value, json};

use super::Merge;
use crate::lower::Lookup;
use crate::pass::subject::asserts;

/// How many alternatives two unions may multiply to.
const MOST_BRANCHES: usize = 32;

/// What became of two values of a keyword.
pub(super) enum Joined {
    To(Value),
    /// No value can satisfy both.
    Nothing,
    /// It cannot be said in one keyword.
    Not,
}

impl Merge<'_> {
    pub(super) fn joined(&mut self, keyword: &str, ours: &Value, theirs: &Value) -> Joined {
        let tighter = |wanted: Ordering| match compared(ours, theirs) {
            Some(order) => Joined::To(if order == wanted {
                ours.clone()
            } else {
                theirs.clone()
            }),
            None => Joined::Not,
        };
        match keyword {
            "type" => match types(ours, theirs).as_slice() {
                [] => Joined::Nothing,
                [one] => Joined::To(json!(one)),
                several => Joined::To(json!(several)),
            },
            "enum" => {
                let theirs = theirs.as_array().map(Vec::as_slice).unwrap_or_default();
                let both: Vec<&Value> = ours
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|value| theirs.iter().any(|other| cmp::equal(other, value)))
                    .collect();
                if both.is_empty() {
                    Joined::Nothing
                } else {
                    Joined::To(json!(both))
                }
            }
            "const" if cmp::equal(ours, theirs) => Joined::To(ours.clone()),
            "const" => Joined::Nothing,
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                tighter(Ordering::Greater)
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                tighter(Ordering::Less)
            }
            "multipleOf" => {
                multiple(ours, theirs).map_or(Joined::Not, |value| Joined::To(Value::Number(value)))
            }
            "uniqueItems" => Joined::To(Value::Bool(true)),
            "required" => {
                let mut names: Vec<&Value> = ours.as_array().into_iter().flatten().collect();
                for name in theirs.as_array().into_iter().flatten() {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                Joined::To(json!(names))
            }
            "not" => Joined::To(json!({"anyOf": [ours, theirs]})),
            "propertyNames" => Joined::To(self.values(ours, theirs)),
            "dependentRequired" | "dependentSchemas" => match (ours, theirs) {
                (Value::Object(ours), Value::Object(theirs))
                    if !theirs.keys().any(|name| ours.contains_key(name)) =>
                {
                    Joined::To(Value::Object(
                        ours.iter()
                            .chain(theirs)
                            .map(|(k, v)| (k.clone(), v.clone()))
                            .collect(),
                    ))
                }
                _ => Joined::Not,
            },
            "anyOf" => self.product(ours, theirs),
            keyword if asserts(keyword) => Joined::Not,
            "description" => Joined::To(told(ours, theirs)),
            // Of two things that only inform, the outer one is kept.
            _ => Joined::To(ours.clone()),
        }
    }

    /// Each alternative of one with each of the other.
    fn product(&mut self, ours: &Value, theirs: &Value) -> Joined {
        let (Value::Array(ours), Value::Array(theirs)) = (ours, theirs) else {
            return Joined::Not;
        };
        if ours.len() * theirs.len() > MOST_BRANCHES {
            return Joined::Not;
        }
        let mut pairs = Vec::new();
        for one in ours {
            for other in theirs {
                let pair = self.values(one, other);
                if pair.find("not").is_none_or(|not| *not != json!({})) {
                    pairs.push(pair);
                }
            }
        }
        if pairs.is_empty() {
            Joined::Nothing
        } else {
            Joined::To(Value::Array(pairs))
        }
    }
}

fn compared(one: &Value, other: &Value) -> Option<Ordering> {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn whole(value: &Value) -> Option<i128> {
    value
        .as_i64()
        .map(i128::from)
        .or(value.as_u64().map(i128::from))
}

fn told(ours: &Value, theirs: &Value) -> Value {
    match (ours.as_str(), theirs.as_str()) {
        (Some(""), Some(_)) => theirs.clone(),
        (Some(ours), Some(theirs)) if !theirs.is_empty() && !ours.contains(theirs) => {
            json!(format!("{ours} {theirs}"))
        }
        _ => ours.clone(),
    }
}

/// The names of types that both admit.
fn types<'s>(one: &'s Value, other: &'s Value) -> Vec<&'s str> {
    let names = |value: &'s Value| -> Vec<&'s str> {
        match value {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    };
    let (one, other) = (names(one), names(other));
    let has = |names: &[&str], name: &str| {
        names.contains(&name) || name == "integer" && names.contains(&"number")
    };
    let mut both: Vec<&str> = one
        .iter()
        .copied()
        .filter(|name| has(&other, name))
        .collect();
    for name in other {
        if has(&one, name) && !both.contains(&name) {
            both.push(name);
        }
    }
    both
}

/// The least common multiple of two whole numbers.
fn multiple(one: &Value, other: &Value) -> Option<Number> {
    let (a, b) = (
        one.as_u64().filter(|n| *n > 0)?,
        other.as_u64().filter(|n| *n > 0)?,
    );
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x.checked_rem(y)?);
    }
    Some(Number::from(a.checked_div(x)?.checked_mul(b)?))
}
