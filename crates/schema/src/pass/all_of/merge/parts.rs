//! Properties and elements of two schemas in, those of both out.

use serde_json::{Map, Value, json};

use super::{Merge, nothing};
use crate::lower::{Lookup, LookupMut};

impl Merge<'_> {
    /// Joins what two schemas say about properties.
    pub(super) fn objects(&mut self, one: &mut Map<String, Value>, other: &mut Map<String, Value>) {
        const OURS: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];
        let speaks = |schema: &Map<String, Value>| OURS.iter().any(|keyword| schema.has(keyword));
        if !speaks(one) || !speaks(other) {
            return;
        }
        let patterned = one.has("patternProperties") || other.has("patternProperties");
        let limited = one.has("additionalProperties") || other.has("additionalProperties");
        if patterned
            && limited
            && OURS
                .iter()
                .any(|keyword| one.find(keyword) != other.find(keyword))
        {
            // Which pattern covers which name cannot be told from here.
            for keyword in OURS {
                if let Some(value) = other.take_out(keyword) {
                    self.conflict(keyword, value);
                }
            }
            return;
        }
        let (rest_one, rest_other) = (
            one.take_out("additionalProperties"),
            other.take_out("additionalProperties"),
        );
        let ours = object(one.take_out("properties"));
        let theirs = object(other.take_out("properties"));
        let mut all = Map::new();
        for (name, value) in &ours {
            let theirs = theirs.get(name).or(rest_other.as_ref());
            all.insert(name.clone(), self.both(value, theirs));
        }
        for (name, value) in &theirs {
            if !ours.contains_key(name) {
                all.insert(name.clone(), self.both(value, rest_one.as_ref()));
            }
        }
        if !all.is_empty() {
            one.put("properties", Value::Object(all));
        }
        let rest = match (rest_one, rest_other) {
            (Some(one), Some(other)) => Some(self.values(&one, &other)),
            (one, other) => one.or(other),
        };
        if let Some(rest) = rest {
            one.put("additionalProperties", rest);
        }
        if let (Some(Value::Object(ours)), Some(Value::Object(theirs))) = (
            one.find_mut("patternProperties"),
            other.find("patternProperties"),
        ) {
            for (pattern, value) in theirs {
                let joined = self.both(value, ours.get(pattern));
                ours.insert(pattern.clone(), joined);
            }
            other.take_out("patternProperties");
        }
    }

    /// A schema and another one, if there is one; what a closed object does not list cannot be given.
    fn both(&mut self, one: &Value, other: Option<&Value>) -> Value {
        match other {
            Some(Value::Bool(false)) => Value::Object(nothing()),
            Some(other) => self.values(one, other),
            None => one.clone(),
        }
    }

    /// Joins what two schemas say about elements.
    pub(super) fn arrays(&mut self, one: &mut Map<String, Value>, other: &mut Map<String, Value>) {
        const OURS: [&str; 2] = ["prefixItems", "items"];
        let speaks = |schema: &Map<String, Value>| OURS.iter().any(|keyword| schema.has(keyword));
        let older = |schema: &Map<String, Value>| schema.find("items").is_some_and(Value::is_array);
        if !speaks(one) || !speaks(other) || older(one) || older(other) {
            return;
        }
        let list = |schema: &mut Map<String, Value>| match schema.take_out("prefixItems") {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        let (first_one, first_other) = (list(one), list(other));
        let (rest_one, rest_other) = (one.take_out("items"), other.take_out("items"));
        let mut first = Vec::new();
        for at in 0..first_one.len().max(first_other.len()) {
            let ours = first_one.get(at).or(rest_one.as_ref());
            let theirs = first_other.get(at).or(rest_other.as_ref());
            first.push(match (ours, theirs) {
                (Some(Value::Bool(false)), _) | (_, Some(Value::Bool(false))) => {
                    Value::Object(nothing())
                }
                (Some(ours), Some(theirs)) => self.values(ours, theirs),
                (ours, theirs) => ours.or(theirs).cloned().unwrap_or_else(|| json!({})),
            });
        }
        if !first.is_empty() {
            one.put("prefixItems", Value::Array(first));
        }
        let rest = match (rest_one, rest_other) {
            (Some(one), Some(other)) => Some(self.values(&one, &other)),
            (one, other) => one.or(other),
        };
        if let Some(rest) = rest {
            one.put("items", rest);
        }
    }
}

fn object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}
