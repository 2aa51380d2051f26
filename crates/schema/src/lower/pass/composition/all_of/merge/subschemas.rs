//! Merges the properties and items of two schemas.

use serde_json::{Map, Value, json};

use super::{SchemaMerger, never_schema};
use crate::lower::{KeywordLookup, KeywordLookupMut};

impl SchemaMerger<'_> {
    /// Merges the properties of two schemas.
    pub(super) fn merge_properties(
        &mut self,
        one: &mut Map<String, Value>,
        other: &mut Map<String, Value>,
    ) {
        const OURS: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];
        let has_keywords =
            |schema: &Map<String, Value>| OURS.iter().any(|keyword| schema.has_keyword(keyword));
        if !has_keywords(one) || !has_keywords(other) {
            return;
        }
        let patterned =
            one.has_keyword("patternProperties") || other.has_keyword("patternProperties");
        let limited =
            one.has_keyword("additionalProperties") || other.has_keyword("additionalProperties");
        if patterned
            && limited
            && OURS.iter().any(|keyword| one.keyword(keyword) != other.keyword(keyword))
        {
            // It is unknown which pattern matches which name.
            for keyword in OURS {
                if let Some(value) = other.remove_keyword(keyword) {
                    self.add_conflict(keyword, value);
                }
            }
            return;
        }
        let (rest_one, rest_other) = (
            one.remove_keyword("additionalProperties"),
            other.remove_keyword("additionalProperties"),
        );
        let ours = into_object(one.remove_keyword("properties"));
        let theirs = into_object(other.remove_keyword("properties"));
        let mut all = Map::new();
        for (name, value) in &ours {
            let theirs = theirs.get(name).or(rest_other.as_ref());
            all.insert(name.clone(), self.merge_optional(value, theirs));
        }
        for (name, value) in &theirs {
            if !ours.contains_key(name) {
                all.insert(name.clone(), self.merge_optional(value, rest_one.as_ref()));
            }
        }
        if !all.is_empty() {
            one.set_keyword("properties", Value::Object(all));
        }
        let rest = match (rest_one, rest_other) {
            (Some(one), Some(other)) => Some(self.merge_values(&one, &other)),
            (one, other) => one.or(other),
        };
        if let Some(rest) = rest {
            one.set_keyword("additionalProperties", rest);
        }
        if let (Some(Value::Object(ours)), Some(Value::Object(theirs))) =
            (one.keyword_mut("patternProperties"), other.keyword("patternProperties"))
        {
            for (pattern, value) in theirs {
                let joined = self.merge_optional(value, ours.get(pattern));
                ours.insert(pattern.clone(), joined);
            }
            other.remove_keyword("patternProperties");
        }
    }

    /// Merges two schemas of a property; a property that a closed object does not declare is never valid.
    fn merge_optional(&mut self, one: &Value, other: Option<&Value>) -> Value {
        match other {
            Some(Value::Bool(false)) => Value::Object(never_schema()),
            Some(other) => self.merge_values(one, other),
            None => one.clone(),
        }
    }

    /// Merges the items of two schemas.
    pub(super) fn merge_items(
        &mut self,
        one: &mut Map<String, Value>,
        other: &mut Map<String, Value>,
    ) {
        const OURS: [&str; 2] = ["prefixItems", "items"];
        let has_keywords =
            |schema: &Map<String, Value>| OURS.iter().any(|keyword| schema.has_keyword(keyword));
        let older =
            |schema: &Map<String, Value>| schema.keyword("items").is_some_and(Value::is_array);
        if !has_keywords(one) || !has_keywords(other) || older(one) || older(other) {
            return;
        }
        let list = |schema: &mut Map<String, Value>| match schema.remove_keyword("prefixItems") {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        let (first_one, first_other) = (list(one), list(other));
        let (rest_one, rest_other) = (one.remove_keyword("items"), other.remove_keyword("items"));
        let mut first = Vec::new();
        for at in 0..first_one.len().max(first_other.len()) {
            let ours = first_one.get(at).or(rest_one.as_ref());
            let theirs = first_other.get(at).or(rest_other.as_ref());
            first.push(match (ours, theirs) {
                (Some(Value::Bool(false)), _) | (_, Some(Value::Bool(false))) => {
                    Value::Object(never_schema())
                }
                (Some(ours), Some(theirs)) => self.merge_values(ours, theirs),
                (ours, theirs) => ours.or(theirs).cloned().unwrap_or_else(|| json!({})),
            });
        }
        if !first.is_empty() {
            one.set_keyword("prefixItems", Value::Array(first));
        }
        let rest = match (rest_one, rest_other) {
            (Some(one), Some(other)) => Some(self.merge_values(&one, &other)),
            (one, other) => one.or(other),
        };
        if let Some(rest) = rest {
            one.set_keyword("items", rest);
        }
    }
}

fn into_object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}
