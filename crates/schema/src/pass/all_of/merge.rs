//! Two schemas in, the one that admits what both admit out.

mod keyword;
mod parts;

use serde_json::{Map, Value, json};

use self::keyword::Joined;
use crate::lower::{Lookup, LookupMut};
use crate::pass::subject::asserts;

/// How many references may be opened within each other.
const MOST_OPENED: usize = 2;

/// An assertion of the second schema that could not be joined to the first.
pub(crate) struct Conflict {
    pub(crate) keyword: String,
    pub(crate) value: Value,
}

/// The schema that admits nothing.
pub(crate) fn nothing() -> Map<String, Value> {
    let mut nothing = Map::new();
    nothing.put("not", json!({}));
    nothing
}

/// Keywords that mean something only together.
const GROUPS: [&[&str]; 2] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
];

/// Keywords that speak of what the rest of their own schema leaves open.
const REST: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Joins schemas, and remembers what stood in the way.
pub(crate) struct Merge<'d> {
    /// What references that were kept lead to.
    definitions: &'d Value,
    /// How many references have been opened around the schemas at hand.
    opened: usize,
    pub(crate) conflicts: Vec<Conflict>,
}

impl<'d> Merge<'d> {
    pub(crate) fn new(definitions: &'d Value) -> Self {
        Self {
            definitions,
            opened: 0,
            conflicts: Vec::new(),
        }
    }

    /// Joins schemas without opening any reference.
    pub(crate) fn closed(definitions: &'d Value) -> Self {
        Self {
            opened: MOST_OPENED,
            ..Self::new(definitions)
        }
    }

    fn conflict(&mut self, keyword: &str, value: Value) {
        self.conflicts.push(Conflict {
            keyword: keyword.to_owned(),
            value,
        });
    }

    /// Joins two schemas; what cannot be joined is left out of the second.
    pub(crate) fn merge(
        &mut self,
        one: Map<String, Value>,
        other: Map<String, Value>,
    ) -> Map<String, Value> {
        let refers = |schema: &Map<String, Value>| schema.has("$ref");
        if one == other || !refers(&one) && !refers(&other) {
            return self.join(one, other);
        }
        // Two schemas that contain themselves would be opened in each other for ever.
        if self.opened == MOST_OPENED {
            self.conflict("$ref", Value::Object(other));
            return one;
        }
        self.opened += 1;
        let (one, other) = (self.open(one), self.open(other));
        let both = self.join(one, other);
        self.opened -= 1;
        both
    }

    /// What a reference leads to.
    fn open(&mut self, schema: Map<String, Value>) -> Map<String, Value> {
        let mut schema = schema;
        // A definition may itself be only a reference; where these lead nowhere, nothing is known.
        for _ in 0..8 {
            let target = schema
                .find("$ref")
                .and_then(Value::as_str)
                .and_then(|name| self.definitions.get(name.strip_prefix("#/$defs/")?))
                .and_then(Value::as_object);
            let Some(target) = target else { break };
            schema = target.clone();
        }
        if let Some(reference) = schema.take_out("$ref") {
            self.conflict("$ref", reference);
        }
        schema
    }

    fn join(
        &mut self,
        mut one: Map<String, Value>,
        mut other: Map<String, Value>,
    ) -> Map<String, Value> {
        for side in [&mut one, &mut other] {
            super::settle(side);
            for keyword in REST {
                if let Some(value) = side.take_out(keyword) {
                    self.conflict(keyword, value);
                }
            }
        }
        for group in GROUPS {
            let speaks =
                |schema: &Map<String, Value>| group.iter().any(|keyword| schema.has(keyword));
            if speaks(&one) && speaks(&other) {
                for keyword in group {
                    if let Some(value) = other.take_out(keyword) {
                        self.conflict(keyword, value);
                    }
                }
            }
        }
        self.objects(&mut one, &mut other);
        self.arrays(&mut one, &mut other);
        for (keyword, theirs) in other {
            let Some(ours) = one.get(&keyword) else {
                one.insert(keyword, theirs);
                continue;
            };
            if *ours == theirs {
                continue;
            }
            match self.joined(&keyword, ours, &theirs) {
                Joined::To(value) => {
                    one.insert(keyword, value);
                }
                Joined::Nothing => {
                    one.retain(|keyword, _| !asserts(keyword));
                    one.extend(nothing());
                    return one;
                }
                Joined::Not => self.conflict(&keyword, theirs),
            }
        }
        one
    }

    fn values(&mut self, one: &Value, other: &Value) -> Value {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                Value::Object(self.merge(one.clone(), other.clone()))
            }
            (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
            (Value::Bool(true), other) | (other, _) => other.clone(),
        }
    }
}
