//! Merges the values of one keyword in two schemas.

use std::cmp::Ordering;

use jsonschema::json::cmp;
use serde_json::{Value, json};

use super::SchemaMerger;
use crate::lower::KeywordLookup;
use crate::lower::pass::applies_to::is_assertion;
use crate::type_set::as_integer;

/// How many branches the product of two unions may have.
const MAX_BRANCHES: usize = 32;

/// The result of merging two values of a keyword.
pub(super) enum KeywordMerge {
    Merged(Value),
    /// No value can satisfy both.
    Unsatisfiable,
    /// One keyword cannot express both.
    Inexpressible,
}

impl KeywordMerge {
    /// A list of values or alternatives; an empty one accepts nothing.
    fn unless_empty(list: Vec<Value>) -> Self {
        if list.is_empty() { Self::Unsatisfiable } else { Self::Merged(Value::Array(list)) }
    }
}

impl SchemaMerger<'_> {
    pub(super) fn merge_keyword(
        &mut self,
        keyword: &str,
        ours: &Value,
        theirs: &Value,
    ) -> KeywordMerge {
        let tighter = |wanted: Ordering| match compare_numbers(ours, theirs) {
            Some(order) => {
                KeywordMerge::Merged(if order == wanted { ours.clone() } else { theirs.clone() })
            }
            None => KeywordMerge::Inexpressible,
        };
        match keyword {
            "type" => match common_types(ours, theirs).as_slice() {
                [] => KeywordMerge::Unsatisfiable,
                [one] => KeywordMerge::Merged(json!(one)),
                several => KeywordMerge::Merged(json!(several)),
            },
            "enum" => {
                let listed =
                    |value: &&Value| elements(theirs).any(|other| cmp::equal(other, value));
                KeywordMerge::unless_empty(elements(ours).filter(listed).cloned().collect())
            }
            "const" if cmp::equal(ours, theirs) => KeywordMerge::Merged(ours.clone()),
            "const" => KeywordMerge::Unsatisfiable,
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                tighter(Ordering::Greater)
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                tighter(Ordering::Less)
            }
            "multipleOf" => least_common_multiple(ours, theirs)
                .map_or(KeywordMerge::Inexpressible, KeywordMerge::Merged),
            "uniqueItems" => KeywordMerge::Merged(Value::Bool(true)),
            "required" => {
                let mut names: Vec<&Value> = elements(ours).collect();
                for name in elements(theirs) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                KeywordMerge::Merged(json!(names))
            }
            "not" => KeywordMerge::Merged(json!({"anyOf": [ours, theirs]})),
            "propertyNames" => KeywordMerge::Merged(self.merge_values(ours, theirs)),
            "dependentRequired" | "dependentSchemas" => match (ours, theirs) {
                (Value::Object(ours), Value::Object(theirs))
                    if !theirs.keys().any(|name| ours.contains_key(name)) =>
                {
                    KeywordMerge::Merged(Value::Object(
                        ours.iter().chain(theirs).map(|(k, v)| (k.clone(), v.clone())).collect(),
                    ))
                }
                _ => KeywordMerge::Inexpressible,
            },
            "anyOf" => self.union_product(ours, theirs),
            keyword if is_assertion(keyword) => KeywordMerge::Inexpressible,
            "description" => KeywordMerge::Merged(merge_descriptions(ours, theirs)),
            // Of two annotations the outer one is kept.
            _ => KeywordMerge::Merged(ours.clone()),
        }
    }

    /// Each branch of one union merged with each of the other.
    fn union_product(&mut self, ours: &Value, theirs: &Value) -> KeywordMerge {
        let (Value::Array(ours), Value::Array(theirs)) = (ours, theirs) else {
            return KeywordMerge::Inexpressible;
        };
        if ours.len() * theirs.len() > MAX_BRANCHES {
            return KeywordMerge::Inexpressible;
        }
        let mut pairs = Vec::new();
        for one in ours {
            for other in theirs {
                let pair = self.merge_values(one, other);
                if pair.keyword("not").is_none_or(|not| *not != json!({})) {
                    pairs.push(pair);
                }
            }
        }
        KeywordMerge::unless_empty(pairs)
    }
}

/// The elements of a list.
fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn compare_numbers(one: &Value, other: &Value) -> Option<Ordering> {
    match (as_integer(one), as_integer(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn merge_descriptions(ours: &Value, theirs: &Value) -> Value {
    match (ours.as_str(), theirs.as_str()) {
        (Some(""), Some(_)) => theirs.clone(),
        (Some(ours), Some(theirs)) if !theirs.is_empty() && !ours.contains(theirs) => {
            json!(format!("{ours} {theirs}"))
        }
        _ => ours.clone(),
    }
}

/// The names of types that both accept.
fn common_types<'s>(one: &'s Value, other: &'s Value) -> Vec<&'s str> {
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
    let mut both: Vec<&str> = one.iter().copied().filter(|name| has(&other, name)).collect();
    for name in other {
        if has(&one, name) && !both.contains(&name) {
            both.push(name);
        }
    }
    both
}

/// The least common multiple of two integers.
fn least_common_multiple(one: &Value, other: &Value) -> Option<Value> {
    let (a, b) = (one.as_u64().filter(|n| *n > 0)?, other.as_u64().filter(|n| *n > 0)?);
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x.checked_rem(y)?);
    }
    Some(Value::from(a.checked_div(x)?.checked_mul(b)?))
}
