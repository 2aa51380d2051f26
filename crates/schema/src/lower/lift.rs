//! Arguments in a dialect's form, back to the canonical form, and the other way.
//!
//! A pass that changes the form of a value leaves a [`Mark`] in the schema. At the end the marks are taken out and become a
//! tree of their own beside the schema.

use std::sync::OnceLock;

use jsonschema::json::cmp;
use serde_json::{Map, Value, json};

use crate::{Limits, Schema, Tape};

/// The keyword marks are kept under while passes run; a schema that brings it along loses it first.
pub(crate) const LIFT: &str = "\u{1}lift";

/// How a value's form differs from the canonical one.
pub(crate) enum Mark {
    /// On a property: `null` stands for leaving it out.
    Absent,
    /// On a property that may be left out: the dialect has no null, so that null is left out.
    NeverNull,
    /// On a property: its canonical name.
    Name(String),
    /// On text: it holds the value as JSON.
    Json,
    /// On an array of `{key, value}`: the members of an object.
    Pairs,
    /// On text with an `enum`: the values that stand behind the texts, in order.
    Texts(Vec<Value>),
}

/// Leaves a mark in a schema.
pub(crate) fn mark(schema: &mut Map<String, Value>, mark: Mark) {
    let marks = schema.entry(LIFT).or_insert_with(|| json!({}));
    let (name, value) = match mark {
        Mark::Absent => ("absent", Value::Bool(true)),
        Mark::NeverNull => ("never_null", Value::Bool(true)),
        Mark::Name(name) => ("name", Value::String(name)),
        Mark::Json => ("json", Value::Bool(true)),
        Mark::Pairs => ("pairs", Value::Bool(true)),
        Mark::Texts(values) => ("texts", Value::Array(values)),
    };
    if let Value::Object(marks) = marks {
        marks.insert(name.to_owned(), value);
    }
}

/// The way between the two forms of a value.
#[derive(Debug, Default)]
pub(crate) struct Lift {
    root: Step,
    /// What `#/$defs/…` leads to, for schemas that contain themselves.
    named: Vec<(String, Step)>,
    definitions: Value,
}

#[derive(Debug, Default)]
enum Step {
    #[default]
    Nothing,
    Json,
    Texts(Vec<(Value, Value)>),
    Pairs(Box<Step>),
    Object {
        members: Vec<Member>,
        rest: Box<Step>,
    },
    Array {
        first: Vec<Step>,
        rest: Box<Step>,
    },
    Any(Vec<Branch>),
    Named(String),
}

/// One alternative, and the schema that tells whether a value is meant.
#[derive(Debug)]
struct Branch {
    plain: Value,
    schema: OnceLock<Schema>,
    step: Step,
}

#[derive(Debug)]
struct Member {
    wire: String,
    canonical: String,
    absent: bool,
    never_null: bool,
    step: Step,
}

impl Lift {
    /// Takes the marks out of a schema.
    pub(crate) fn take(schema: &mut Value) -> Self {
        if !is_marked(schema) {
            return Self::default();
        }
        let mut definitions = schema.get("$defs").cloned().unwrap_or_default();
        strip(&mut definitions);
        let named = schema.get("$defs").and_then(Value::as_object);
        let lift = Self {
            root: step(schema),
            named: named
                .into_iter()
                .flatten()
                .map(|(name, part)| (name.clone(), step(part)))
                .collect(),
            definitions,
        };
        strip(schema);
        lift
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.root, Step::Nothing)
    }

    /// From the dialect's form to the canonical one.
    pub(crate) fn up(&self, value: &mut Value) {
        self.follow(&self.root, value, true);
    }

    /// From the canonical form to the dialect's.
    pub(crate) fn down(&self, value: &mut Value) {
        self.follow(&self.root, value, false);
    }

    fn follow(&self, step: &Step, value: &mut Value, up: bool) {
        match (step, &mut *value) {
            (Step::Json, Value::String(text)) if up => {
                let held = Tape::parse(text, &Limits::default()).map(|tape| tape.to_value());
                if let Ok(held) = held {
                    *value = held;
                }
            }
            (Step::Json, other) if !up => *value = Value::String(other.to_string()),
            (Step::Texts(texts), _) => {
                let other = texts.iter().find_map(|(wire, canonical)| match up {
                    true => (wire == value).then_some(canonical),
                    false => cmp::equal(canonical, value).then_some(wire),
                });
                if let Some(other) = other {
                    *value = other.clone();
                }
            }
            (Step::Pairs(inner), Value::Array(pairs)) if up => {
                if let Some(mut members) = joined(pairs) {
                    members
                        .values_mut()
                        .for_each(|member| self.follow(inner, member, up));
                    *value = Value::Object(members);
                }
            }
            (Step::Pairs(inner), Value::Object(members)) if !up => {
                members
                    .values_mut()
                    .for_each(|member| self.follow(inner, member, up));
                *value = std::mem::take(members)
                    .into_iter()
                    .map(|(key, value)| json!({"key": key, "value": value}))
                    .collect();
            }
            (Step::Object { members, rest }, Value::Object(object)) => {
                self.object(members, rest, object, up)
            }
            (Step::Array { first, rest }, Value::Array(elements)) => {
                for (at, element) in elements.iter_mut().enumerate() {
                    self.follow(first.get(at).unwrap_or(rest), element, up);
                }
            }
            (Step::Any(branches), _) => self.any(branches, value, up),
            (Step::Named(name), _) => {
                if let Some((_, step)) = self.named.iter().find(|(known, _)| known == name) {
                    self.follow(step, value, up);
                }
            }
            _ => {}
        }
    }

    fn object(&self, members: &[Member], rest: &Step, object: &mut Map<String, Value>, up: bool) {
        let given = std::mem::take(object);
        for (name, mut value) in given {
            let member = members.iter().find(|member| match up {
                true => member.wire == name,
                false => member.canonical == name,
            });
            match member {
                Some(member) if up && member.absent && value.is_null() => {}
                Some(member) if !up && member.never_null && value.is_null() => {}
                Some(member) => {
                    self.follow(&member.step, &mut value, up);
                    let other = if up { &member.canonical } else { &member.wire };
                    object.insert(other.clone(), value);
                }
                None => {
                    self.follow(rest, &mut value, up);
                    object.insert(name, value);
                }
            }
        }
        if !up {
            for member in members.iter().filter(|member| member.absent) {
                object.entry(member.wire.as_str()).or_insert(Value::Null);
            }
        }
    }

    fn any(&self, branches: &[Branch], value: &mut Value, up: bool) {
        let likely: Vec<&Branch> = branches
            .iter()
            .filter(|branch| !up || branch.may_mean(value))
            .collect();
        if let ([only], true) = (likely.as_slice(), up) {
            return self.follow(&only.step, value, up);
        }
        for branch in likely {
            let mut other = value.clone();
            self.follow(&branch.step, &mut other, up);
            let wire = if up { &*value } else { &other };
            if branch.means(wire, &self.definitions) {
                *value = other;
                return;
            }
        }
    }
}

impl Branch {
    /// Whether the value has this alternative's type.
    fn may_mean(&self, value: &Value) -> bool {
        let Some(Value::String(kind)) = self.plain.get("type") else {
            return true;
        };
        match value {
            Value::Null => kind == "null",
            Value::Bool(_) => kind == "boolean",
            Value::Number(_) => kind == "number" || kind == "integer",
            Value::String(_) => kind == "string",
            Value::Array(_) => kind == "array",
            Value::Object(_) => kind == "object",
        }
    }

    fn means(&self, value: &Value, definitions: &Value) -> bool {
        let schema = self.schema.get_or_init(|| {
            let mut whole = self.plain.clone();
            if let (Value::Object(members), false) = (&mut whole, definitions.is_null()) {
                members.insert("$defs".to_owned(), definitions.clone());
            }
            Schema::trusted(whole)
        });
        schema.is_valid(Tape::of(value).root())
    }
}

/// Reads `[{"key": …, "value": …}]` as an object, unless a key comes twice or something else is said.
fn joined(pairs: &[Value]) -> Option<Map<String, Value>> {
    let mut members = Map::new();
    for pair in pairs {
        let pair = pair.as_object().filter(|pair| pair.len() == 2)?;
        let key = pair.get("key")?.as_str()?;
        if members
            .insert(key.to_owned(), pair.get("value")?.clone())
            .is_some()
        {
            return None;
        }
    }
    Some(members)
}

fn is_marked(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(is_marked),
        Value::Object(members) => members.contains_key(LIFT) || members.values().any(is_marked),
        _ => false,
    }
}

pub(crate) fn strip(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(strip),
        Value::Object(members) => {
            members.shift_remove(LIFT);
            members.values_mut().for_each(strip);
        }
        _ => {}
    }
}

fn branch(schema: &Value, step: Step) -> Branch {
    let mut plain = schema.clone();
    strip(&mut plain);
    read_flags(&mut plain);
    Branch {
        plain,
        schema: OnceLock::new(),
        step,
    }
}

/// Says `nullable`, which a validator does not read, in JSON Schema's own words.
fn read_flags(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(read_flags),
        Value::Object(members) => {
            members.values_mut().for_each(read_flags);
            if members.get("nullable") == Some(&Value::Bool(true)) {
                members.shift_remove("nullable");
                let inner = std::mem::take(members);
                members.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
            }
        }
        _ => {}
    }
}

/// Builds the way for one schema.
fn step(schema: &Value) -> Step {
    let Value::Object(members) = schema else {
        return Step::Nothing;
    };
    // Only recursive schemas keep references, and those are followed whatever they hold.
    if let Some(name) = members.get("$ref").and_then(Value::as_str) {
        let name = name.strip_prefix("#/$defs/").unwrap_or(name);
        return Step::Named(name.to_owned());
    }
    if let Some(Value::Array(branches)) = members.get("anyOf") {
        return any(branches);
    }
    if let Some(marks) = members.get(LIFT) {
        if marks.get("json").is_some() {
            return Step::Json;
        }
        if let (Some(Value::Array(values)), Some(Value::Array(texts))) =
            (marks.get("texts"), members.get("enum"))
        {
            return Step::Texts(texts.iter().cloned().zip(values.iter().cloned()).collect());
        }
        if marks.get("pairs").is_some() {
            let value = schema.pointer("/items/properties/value");
            return Step::Pairs(Box::new(value.map(step).unwrap_or_default()));
        }
    }
    let rest = members
        .get("additionalProperties")
        .map(step)
        .unwrap_or_default();
    if let Some(Value::Object(properties)) = members.get("properties") {
        return object(properties, rest);
    }
    if !matches!(rest, Step::Nothing) {
        return Step::Object {
            members: Vec::new(),
            rest: Box::new(rest),
        };
    }
    let first = members.get("prefixItems").and_then(Value::as_array);
    let first: Vec<Step> = first.into_iter().flatten().map(step).collect();
    let rest = members.get("items").map(step).unwrap_or_default();
    if first
        .iter()
        .chain([&rest])
        .all(|step| matches!(step, Step::Nothing))
    {
        return Step::Nothing;
    }
    Step::Array {
        first,
        rest: Box::new(rest),
    }
}

fn any(branches: &[Value]) -> Step {
    if let [only] = branches {
        return step(only);
    }
    let steps: Vec<Step> = branches.iter().map(step).collect();
    if steps.iter().all(|step| matches!(step, Step::Nothing)) {
        return Step::Nothing;
    }
    let each = branches.iter().zip(steps);
    Step::Any(each.map(|(schema, step)| branch(schema, step)).collect())
}

fn object(properties: &Map<String, Value>, rest: Step) -> Step {
    let others = matches!(rest, Step::Nothing);
    let mut members = Vec::new();
    for (wire, part) in properties {
        let marks = part.get(LIFT);
        let name = marks
            .and_then(|marks| marks.get("name"))
            .and_then(Value::as_str);
        let marked = |mark: &str| marks.is_some_and(|marks| marks.get(mark).is_some());
        let (absent, never_null) = (marked("absent"), marked("never_null"));
        let step = step(part);
        // Whatever is not listed is left alone, unless the rest is not.
        if others && name.is_none() && !absent && !never_null && matches!(step, Step::Nothing) {
            continue;
        }
        members.push(Member {
            wire: wire.clone(),
            canonical: name.unwrap_or(wire).to_owned(),
            absent,
            never_null,
            step,
        });
    }
    if others && members.is_empty() {
        return Step::Nothing;
    }
    Step::Object {
        members,
        rest: Box::new(rest),
    }
}
