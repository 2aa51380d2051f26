//! Two schemas in, the one that admits what both admit out.

use std::cmp::Ordering;

use jsonschema::json::cmp;
use serde_json::{Map, Number, Value, json};

use crate::pass::subject::asserts;

/// How many alternatives two unions may multiply to.
const MOST_BRANCHES: usize = 32;

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
    nothing.insert("not".to_owned(), json!({}));
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
        let refers = |schema: &Map<String, Value>| schema.contains_key("$ref");
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
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|name| self.definitions.get(name.strip_prefix("#/$defs/")?))
                .and_then(Value::as_object);
            let Some(target) = target else { break };
            schema = target.clone();
        }
        if let Some(reference) = schema.shift_remove("$ref") {
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
                if let Some(value) = side.shift_remove(keyword) {
                    self.conflict(keyword, value);
                }
            }
        }
        for group in GROUPS {
            let speaks = |schema: &Map<String, Value>| {
                group.iter().any(|keyword| schema.contains_key(*keyword))
            };
            if speaks(&one) && speaks(&other) {
                for keyword in group {
                    if let Some(value) = other.shift_remove(*keyword) {
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

    fn joined(&mut self, keyword: &str, ours: &Value, theirs: &Value) -> Joined {
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
                if pair.get("not").is_none_or(|not| *not != json!({})) {
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

    /// Joins what two schemas say about properties.
    fn objects(&mut self, one: &mut Map<String, Value>, other: &mut Map<String, Value>) {
        const OURS: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];
        let speaks =
            |schema: &Map<String, Value>| OURS.iter().any(|keyword| schema.contains_key(*keyword));
        if !speaks(one) || !speaks(other) {
            return;
        }
        let patterned =
            one.contains_key("patternProperties") || other.contains_key("patternProperties");
        let limited =
            one.contains_key("additionalProperties") || other.contains_key("additionalProperties");
        if patterned
            && limited
            && OURS
                .iter()
                .any(|keyword| one.get(*keyword) != other.get(*keyword))
        {
            // Which pattern covers which name cannot be told from here.
            for keyword in OURS {
                if let Some(value) = other.shift_remove(keyword) {
                    self.conflict(keyword, value);
                }
            }
            return;
        }
        let (rest_one, rest_other) = (
            one.shift_remove("additionalProperties"),
            other.shift_remove("additionalProperties"),
        );
        let ours = object(one.shift_remove("properties"));
        let theirs = object(other.shift_remove("properties"));
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
            one.insert("properties".to_owned(), Value::Object(all));
        }
        let rest = match (rest_one, rest_other) {
            (Some(one), Some(other)) => Some(self.values(&one, &other)),
            (one, other) => one.or(other),
        };
        if let Some(rest) = rest {
            one.insert("additionalProperties".to_owned(), rest);
        }
        if let (Some(Value::Object(ours)), Some(Value::Object(theirs))) = (
            one.get_mut("patternProperties"),
            other.get("patternProperties"),
        ) {
            for (pattern, value) in theirs {
                let joined = self.both(value, ours.get(pattern));
                ours.insert(pattern.clone(), joined);
            }
            other.shift_remove("patternProperties");
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
    fn arrays(&mut self, one: &mut Map<String, Value>, other: &mut Map<String, Value>) {
        const OURS: [&str; 2] = ["prefixItems", "items"];
        let speaks =
            |schema: &Map<String, Value>| OURS.iter().any(|keyword| schema.contains_key(*keyword));
        let older = |schema: &Map<String, Value>| schema.get("items").is_some_and(Value::is_array);
        if !speaks(one) || !speaks(other) || older(one) || older(other) {
            return;
        }
        let list = |schema: &mut Map<String, Value>| match schema.shift_remove("prefixItems") {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        let (first_one, first_other) = (list(one), list(other));
        let (rest_one, rest_other) = (one.shift_remove("items"), other.shift_remove("items"));
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
            one.insert("prefixItems".to_owned(), Value::Array(first));
        }
        let rest = match (rest_one, rest_other) {
            (Some(one), Some(other)) => Some(self.values(&one, &other)),
            (one, other) => one.or(other),
        };
        if let Some(rest) = rest {
            one.insert("items".to_owned(), rest);
        }
    }
}

enum Joined {
    To(Value),
    /// No value can satisfy both.
    Nothing,
    /// It cannot be said in one keyword.
    Not,
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

fn object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}
