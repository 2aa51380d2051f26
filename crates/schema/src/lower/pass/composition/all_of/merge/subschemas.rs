//! Merges the properties and items of two schemas.

use serde_json::{Value, json};

use super::{SchemaMerger, never_schema};
use crate::lower::{JsonObject, KeywordLookup};

impl SchemaMerger<'_> {
    /// Merges the properties of two schemas.
    pub(super) fn merge_properties(&mut self, one: &mut JsonObject, other: &mut JsonObject) {
        const OURS: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];
        if !one.has_any_keyword(&OURS) || !other.has_any_keyword(&OURS) {
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
            return self.take_conflicts(other, &OURS);
        }
        let (rest_one, rest_other) = (
            one.remove_keyword("additionalProperties"),
            other.remove_keyword("additionalProperties"),
        );
        let ours = one.take_object("properties");
        let theirs = other.take_object("properties");
        let mut all = JsonObject::new();
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
        self.set_merged_rest(one, "additionalProperties", rest_one, rest_other);
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
    pub(super) fn merge_items(&mut self, one: &mut JsonObject, other: &mut JsonObject) {
        let mergeable = |schema: &JsonObject| {
            schema.has_any_keyword(&["prefixItems", "items"]) && schema.list("items").is_none()
        };
        if !mergeable(one) || !mergeable(other) {
            return;
        }
        let list = |schema: &mut JsonObject| match schema.remove_keyword("prefixItems") {
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
        self.set_merged_rest(one, "items", rest_one, rest_other);
    }

    /// Sets the keyword for the properties or items that no other keyword covers.
    fn set_merged_rest(
        &mut self,
        merged: &mut JsonObject,
        keyword: &str,
        one: Option<Value>,
        other: Option<Value>,
    ) {
        let rest = match (one, other) {
            (Some(one), Some(other)) => Some(self.merge_values(&one, &other)),
            (one, other) => one.or(other),
        };
        if let Some(rest) = rest {
            merged.set_keyword(keyword, rest);
        }
    }
}
