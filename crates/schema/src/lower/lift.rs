//! Arguments in a dialect's form, back to the canonical form, and the other way.
//!
//! A pass that changes the form of a value leaves a [`Mark`] in the schema. At the end the marks are taken out and become a
//! tree of their own beside the schema. Whoever follows it walks through both: what the tree does not say is in the schema.

mod build;

use std::sync::OnceLock;

use jsonschema::json::cmp;
use serde_json::{Map, Value, json};

use super::{Lookup, LookupMut};
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

/// One alternative, and what tells whether a value is meant.
#[derive(Debug)]
struct Branch {
    schema: OnceLock<Schema>,
    step: Step,
}

#[derive(Debug)]
struct Member {
    wire: String,
    /// The canonical name, where it is another.
    renamed: Option<String>,
    absent: bool,
    never_null: bool,
    step: Step,
}

impl Member {
    fn canonical(&self) -> &str {
        self.renamed.as_ref().unwrap_or(&self.wire)
    }
}

impl Lift {
    /// Takes the marks out of a schema.
    pub(crate) fn take(schema: &mut Value) -> Self {
        if !is_marked(schema) {
            return Self::default();
        }
        let lift = build::lift(schema);
        strip(schema);
        lift
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.root, Step::Nothing)
    }

    /// From the form of the dialect's schema to the canonical one.
    pub(crate) fn up(&self, schema: &Value, value: &mut Value) {
        let way = Way {
            lift: self,
            whole: schema,
            up: true,
        };
        way.follow(&self.root, schema, value);
    }

    /// From the canonical form to that of the dialect's schema.
    pub(crate) fn down(&self, schema: &Value, value: &mut Value) {
        let way = Way {
            lift: self,
            whole: schema,
            up: false,
        };
        way.follow(&self.root, schema, value);
    }
}

/// A lift in one direction, beside the schema whose marks it was made of.
struct Way<'l> {
    lift: &'l Lift,
    whole: &'l Value,
    up: bool,
}

impl Way<'_> {
    /// Changes the form of one value, to which a step and a schema belong.
    fn follow(&self, step: &Step, schema: &Value, value: &mut Value) {
        let schema = within_single(schema);
        let part = |keyword: &str| schema.find(keyword).unwrap_or(&Value::Null);
        match (step, &mut *value) {
            (Step::Json, Value::String(text)) if self.up => {
                let held = Tape::parse(text, &Limits::default()).map(|tape| tape.to_value());
                if let Ok(held) = held {
                    *value = held;
                }
            }
            (Step::Json, other) if !self.up => *value = Value::String(other.to_string()),
            (Step::Texts(texts), _) => {
                let other = texts.iter().find_map(|(wire, canonical)| match self.up {
                    true => (wire == value).then_some(canonical),
                    false => cmp::equal(canonical, value).then_some(wire),
                });
                if let Some(other) = other {
                    *value = other.clone();
                }
            }
            (Step::Pairs(inner), Value::Array(pairs)) if self.up => {
                if let Some(mut members) = joined(pairs) {
                    let part = build::value_of_pair(schema).unwrap_or(&Value::Null);
                    members
                        .values_mut()
                        .for_each(|member| self.follow(inner, part, member));
                    *value = Value::Object(members);
                }
            }
            (Step::Pairs(inner), Value::Object(members)) if !self.up => {
                let part = build::value_of_pair(schema).unwrap_or(&Value::Null);
                members
                    .values_mut()
                    .for_each(|member| self.follow(inner, part, member));
                *value = std::mem::take(members)
                    .into_iter()
                    .map(|(key, value)| json!({"key": key, "value": value}))
                    .collect();
            }
            (Step::Object { members, rest }, Value::Object(object)) => {
                self.object(members, rest, schema, object);
            }
            (Step::Array { first, rest }, Value::Array(elements)) => {
                let places = part("prefixItems").as_array();
                for (at, element) in elements.iter_mut().enumerate() {
                    let place = places.and_then(|places| places.get(at));
                    let place = place.unwrap_or_else(|| part("items"));
                    self.follow(first.get(at).unwrap_or(rest), place, element);
                }
            }
            (Step::Any(branches), _) => {
                let schemas = part("anyOf").as_array().into_iter().flatten();
                self.any(branches.iter().zip(schemas), value);
            }
            (Step::Named(name), _) => {
                let mut named = self.lift.named.iter();
                if let Some((_, step)) = named.find(|(known, _)| known == name) {
                    let schema = self.definitions().and_then(|all| all.get(name));
                    self.follow(step, schema.unwrap_or(&Value::Null), value);
                }
            }
            _ => {}
        }
    }

    fn definitions(&self) -> Option<&Value> {
        self.whole.find("$defs")
    }

    fn object(
        &self,
        members: &[Member],
        rest: &Step,
        schema: &Value,
        object: &mut Map<String, Value>,
    ) {
        let properties = schema.find("properties");
        let others = schema.find("additionalProperties");
        let given = std::mem::take(object);
        for (name, mut value) in given {
            let member = members.iter().find(|member| match self.up {
                true => member.wire == name,
                false => member.canonical() == name,
            });
            match member {
                Some(member) if self.up && member.absent && value.is_null() => {}
                Some(member) if !self.up && member.never_null && value.is_null() => {}
                Some(member) => {
                    let part = properties.and_then(|parts| parts.get(&member.wire));
                    self.follow(&member.step, part.unwrap_or(&Value::Null), &mut value);
                    let other = match self.up {
                        true => member.canonical(),
                        false => &member.wire,
                    };
                    object.insert(other.to_owned(), value);
                }
                None => {
                    self.follow(rest, others.unwrap_or(&Value::Null), &mut value);
                    object.insert(name, value);
                }
            }
        }
        if !self.up {
            for member in members.iter().filter(|member| member.absent) {
                object.entry(member.wire.as_str()).or_insert(Value::Null);
            }
        }
    }

    fn any<'b>(&self, branches: impl Iterator<Item = (&'b Branch, &'b Value)>, value: &mut Value) {
        let likely: Vec<(&Branch, &Value)> = branches
            .filter(|(_, schema)| !self.up || may_mean(schema, value))
            .collect();
        if let ([(only, schema)], true) = (likely.as_slice(), self.up) {
            return self.follow(&only.step, schema, value);
        }
        for (branch, schema) in likely {
            let mut other = value.clone();
            self.follow(&branch.step, schema, &mut other);
            let wire = if self.up { &*value } else { &other };
            if branch.means(schema, wire, self.definitions()) {
                *value = other;
                return;
            }
        }
    }
}

/// A union of one is that one.
fn within_single(schema: &Value) -> &Value {
    match schema.find("anyOf") {
        Some(Value::Array(branches)) => match branches.as_slice() {
            [only] if !schema.has("$ref") => within_single(only),
            _ => schema,
        },
        _ => schema,
    }
}

/// Whether a value has an alternative's type.
fn may_mean(schema: &Value, value: &Value) -> bool {
    // `nullable` admits two.
    let Some(Value::String(kind)) = schema.find("type").filter(|_| !is_nullable(schema)) else {
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

fn is_nullable(schema: &Value) -> bool {
    schema.find("nullable") == Some(&Value::Bool(true))
}

impl Branch {
    fn means(&self, schema: &Value, value: &Value, definitions: Option<&Value>) -> bool {
        let schema = self.schema.get_or_init(|| {
            let mut whole = schema.clone();
            read_flags(&mut whole);
            if let (Value::Object(members), Some(definitions)) = (&mut whole, definitions) {
                members.put("$defs", definitions.clone());
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
        let key = pair.find("key")?.as_str()?;
        if members
            .insert(key.to_owned(), pair.find("value")?.clone())
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
        Value::Object(members) => members.has(LIFT) || members.values().any(is_marked),
        _ => false,
    }
}

pub(crate) fn strip(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(strip),
        Value::Object(members) => {
            members.take_out(LIFT);
            members.values_mut().for_each(strip);
        }
        _ => {}
    }
}

/// Says `nullable`, which a validator does not read, in JSON Schema's own words.
fn read_flags(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(read_flags),
        Value::Object(members) => {
            members.values_mut().for_each(read_flags);
            if members.find("nullable") == Some(&Value::Bool(true)) {
                members.take_out("nullable");
                let inner = std::mem::take(members);
                members.put("anyOf", json!([inner, {"type": "null"}]));
            }
        }
        _ => {}
    }
}
