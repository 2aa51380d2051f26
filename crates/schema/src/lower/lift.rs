//! Converts arguments between a dialect's form and the canonical form.
//!
//! A pass that changes the form of a value leaves a [`LiftMark`] in the schema. At the end the marks are removed from the
//! schema and become a tree beside it. A conversion walks both: what the tree does not contain is in the schema.

mod build;

use std::sync::OnceLock;

use jsonschema::json::cmp;
use serde_json::{Value, json};

use super::{KeywordLookup, any_object, for_each_object_mut};
use crate::{InputLimits, JsonObject, Schema, Tape, type_set::TypeSet};

/// The keyword that holds the marks while passes run; it is removed from the input first.
pub(crate) const LIFT_KEYWORD: &str = "\u{1}lift";

/// How a value's form differs from the canonical one.
pub(crate) enum LiftMark {
    /// On a property: `null` means that it is absent.
    NullMeansAbsent,
    /// On an optional property: the dialect has no null, so a null is omitted.
    OmitNull,
    /// On a property: its canonical name.
    CanonicalName(String),
    /// On a string: it contains the value as JSON.
    JsonText,
    /// On an array of `{key, value}`: the members of an object.
    KeyValuePairs,
    /// On a string `enum`: the canonical values, in the same order as the strings.
    EnumAsText(Vec<Value>),
}

/// Adds a mark to a schema.
pub(crate) fn add_lift_mark(schema: &mut JsonObject, mark: LiftMark) {
    let marks = schema.entry(LIFT_KEYWORD).or_insert_with(|| json!({}));
    let (name, value) = match mark {
        LiftMark::NullMeansAbsent => ("absent", Value::Bool(true)),
        LiftMark::OmitNull => ("never_null", Value::Bool(true)),
        LiftMark::CanonicalName(name) => ("name", Value::String(name)),
        LiftMark::JsonText => ("json", Value::Bool(true)),
        LiftMark::KeyValuePairs => ("pairs", Value::Bool(true)),
        LiftMark::EnumAsText(values) => ("texts", Value::Array(values)),
    };
    if let Value::Object(marks) = marks {
        marks.insert(name.to_owned(), value);
    }
}

/// The conversion between the two forms of a value.
#[derive(Debug, Default)]
pub(crate) struct LiftPlan {
    root_step: LiftStep,
    /// The steps of `#/$defs/…`, for recursive schemas.
    definition_steps: Vec<(String, LiftStep)>,
}

#[derive(Debug, Default)]
enum LiftStep {
    #[default]
    Identity,
    JsonText,
    EnumAsText(Vec<(Value, Value)>),
    KeyValuePairs(Box<LiftStep>),
    Object {
        members: Vec<LiftProperty>,
        rest: Box<LiftStep>,
    },
    Array {
        first: Vec<LiftStep>,
        rest: Box<LiftStep>,
    },
    AnyOf(Vec<LiftBranch>),
    Definition(String),
}

/// One alternative of a union, and what identifies its values.
#[derive(Debug)]
struct LiftBranch {
    schema: OnceLock<Schema>,
    step: LiftStep,
}

#[derive(Debug)]
struct LiftProperty {
    wire_name: String,
    /// The canonical name, if it differs.
    canonical_name: Option<String>,
    null_means_absent: bool,
    omit_null: bool,
    step: LiftStep,
}

impl LiftProperty {
    fn canonical_name_or_wire(&self) -> &str {
        self.canonical_name.as_ref().unwrap_or(&self.wire_name)
    }
}

impl LiftPlan {
    /// Removes the marks from a schema and builds the plan from them.
    pub(crate) fn extract(schema: &mut Value) -> Self {
        if !any_object(schema, &mut |members| members.has_keyword(LIFT_KEYWORD)) {
            return Self::default();
        }
        let lift = build::build_plan(schema);
        remove_lift_marks(schema);
        lift
    }

    pub(crate) fn is_identity(&self) -> bool {
        matches!(self.root_step, LiftStep::Identity)
    }

    /// Converts a value to the canonical form (`lifting`) or to the dialect's.
    pub(crate) fn transform(&self, schema: &Value, value: &mut Value, lifting: bool) {
        let run = LiftRun { plan: self, root_schema: schema, lifting };
        run.transform(&self.root_step, schema, value);
    }
}

/// A conversion in one direction.
struct LiftRun<'l> {
    plan: &'l LiftPlan,
    root_schema: &'l Value,
    lifting: bool,
}

impl LiftRun<'_> {
    /// Converts one value by its step and its schema.
    fn transform(&self, step: &LiftStep, schema: &Value, value: &mut Value) {
        let schema = unwrap_single_any_of(schema);
        let subschema = |keyword: &str| schema.keyword(keyword).unwrap_or(&Value::Null);
        match (step, &mut *value) {
            (LiftStep::JsonText, Value::String(text)) if self.lifting => {
                let held = Tape::parse(text, &InputLimits::default()).map(|tape| tape.to_value());
                if let Ok(held) = held {
                    *value = held;
                }
            }
            (LiftStep::JsonText, other) if !self.lifting => {
                *value = Value::String(other.to_string())
            }
            (LiftStep::EnumAsText(texts), _) => {
                let other = texts.iter().find_map(|(wire, canonical)| match self.lifting {
                    true => (wire == value).then_some(canonical),
                    false => cmp::equal(canonical, value).then_some(wire),
                });
                if let Some(other) = other {
                    *value = other.clone();
                }
            }
            (LiftStep::KeyValuePairs(inner), Value::Array(pairs)) if self.lifting => {
                if let Some(mut members) = object_from_pairs(pairs) {
                    self.transform_pair_values(inner, schema, &mut members);
                    *value = Value::Object(members);
                }
            }
            (LiftStep::KeyValuePairs(inner), Value::Object(members)) if !self.lifting => {
                self.transform_pair_values(inner, schema, members);
                *value = std::mem::take(members)
                    .into_iter()
                    .map(|(key, value)| json!({"key": key, "value": value}))
                    .collect();
            }
            (LiftStep::Object { members, rest }, Value::Object(object)) => {
                self.transform_object(members, rest, schema, object);
            }
            (LiftStep::Array { first, rest }, Value::Array(elements)) => {
                let prefix = subschema("prefixItems").as_array();
                for (at, element) in elements.iter_mut().enumerate() {
                    let element_schema = prefix.and_then(|prefix| prefix.get(at));
                    let element_schema = element_schema.unwrap_or_else(|| subschema("items"));
                    self.transform(first.get(at).unwrap_or(rest), element_schema, element);
                }
            }
            (LiftStep::AnyOf(branches), _) => {
                let schemas = subschema("anyOf").as_array().into_iter().flatten();
                self.transform_any_of(branches.iter().zip(schemas), value);
            }
            (LiftStep::Definition(name), _) => {
                let mut named = self.plan.definition_steps.iter();
                if let Some((_, step)) = named.find(|(candidate, _)| candidate == name) {
                    let schema = self.definitions().and_then(|all| all.get(name));
                    self.transform(step, schema.unwrap_or(&Value::Null), value);
                }
            }
            _ => {}
        }
    }

    fn transform_pair_values(&self, step: &LiftStep, schema: &Value, members: &mut JsonObject) {
        let value_schema = build::pair_value_schema(schema).unwrap_or(&Value::Null);
        members.values_mut().for_each(|member| self.transform(step, value_schema, member));
    }

    fn definitions(&self) -> Option<&Value> {
        self.root_schema.keyword("$defs")
    }

    fn transform_object(
        &self,
        members: &[LiftProperty],
        rest: &LiftStep,
        schema: &Value,
        object: &mut JsonObject,
    ) {
        let properties = schema.keyword("properties");
        let others = schema.keyword("additionalProperties");
        let input = std::mem::take(object);
        for (name, mut value) in input {
            let member = members.iter().find(|member| match self.lifting {
                true => member.wire_name == name,
                false => member.canonical_name_or_wire() == name,
            });
            match member {
                Some(member) if self.lifting && member.null_means_absent && value.is_null() => {}
                Some(member) if !self.lifting && member.omit_null && value.is_null() => {}
                Some(member) => {
                    let subschema =
                        properties.and_then(|subschemas| subschemas.get(&member.wire_name));
                    self.transform(&member.step, subschema.unwrap_or(&Value::Null), &mut value);
                    let other = match self.lifting {
                        true => member.canonical_name_or_wire(),
                        false => &member.wire_name,
                    };
                    object.insert(other.to_owned(), value);
                }
                None => {
                    self.transform(rest, others.unwrap_or(&Value::Null), &mut value);
                    object.insert(name, value);
                }
            }
        }
        if !self.lifting {
            for member in members.iter().filter(|member| member.null_means_absent) {
                object.entry(member.wire_name.as_str()).or_insert(Value::Null);
            }
        }
    }

    fn transform_any_of<'b>(
        &self,
        branches: impl Iterator<Item = (&'b LiftBranch, &'b Value)>,
        value: &mut Value,
    ) {
        let likely: Vec<(&LiftBranch, &Value)> = branches
            .filter(|(_, schema)| !self.lifting || has_matching_type(schema, value))
            .collect();
        if let ([(only, schema)], true) = (likely.as_slice(), self.lifting) {
            return self.transform(&only.step, schema, value);
        }
        for (branch, schema) in likely {
            let mut other = value.clone();
            self.transform(&branch.step, schema, &mut other);
            let wire = if self.lifting { &*value } else { &other };
            if branch.admits(schema, wire, self.definitions()) {
                *value = other;
                return;
            }
        }
    }
}

/// A union with one branch is that branch.
fn unwrap_single_any_of(schema: &Value) -> &Value {
    match schema.list("anyOf") {
        Some([only]) if !schema.has_keyword("$ref") => unwrap_single_any_of(only),
        _ => schema,
    }
}

/// Returns true if a value has the type of an alternative.
fn has_matching_type(schema: &Value, value: &Value) -> bool {
    // `nullable` accepts two types.
    let json_type = schema.text("type").filter(|_| !is_nullable(schema));
    json_type.is_none_or(|name| TypeSet::from_name(name).intersects(TypeSet::json_type_of(value)))
}

fn is_nullable(schema: &impl KeywordLookup) -> bool {
    schema.keyword("nullable") == Some(&Value::Bool(true))
}

impl LiftBranch {
    fn admits(&self, schema: &Value, value: &Value, definitions: Option<&Value>) -> bool {
        let schema = self.schema.get_or_init(|| {
            let mut whole = schema.clone();
            replace_nullable_keyword(&mut whole);
            if let (Value::Object(members), Some(definitions)) = (&mut whole, definitions) {
                members.set_keyword("$defs", definitions.clone());
            }
            Schema::trusted(whole)
        });
        schema.is_valid(Tape::from_value(value).root())
    }
}

/// Reads `[{"key": …, "value": …}]` as an object; `None` if a key is repeated or there are other members.
fn object_from_pairs(pairs: &[Value]) -> Option<JsonObject> {
    let mut members = JsonObject::new();
    for pair in pairs {
        let pair = pair.as_object().filter(|pair| pair.len() == 2)?;
        let key = pair.keyword("key")?.as_str()?;
        if members.insert(key.to_owned(), pair.keyword("value")?.clone()).is_some() {
            return None;
        }
    }
    Some(members)
}

pub(crate) fn remove_lift_marks(value: &mut Value) {
    for_each_object_mut(value, &mut |members| drop(members.remove_keyword(LIFT_KEYWORD)));
}

/// Replaces `nullable`, which validators ignore, by the type `null`.
fn replace_nullable_keyword(value: &mut Value) {
    for_each_object_mut(value, &mut |members| {
        if is_nullable(members) {
            members.remove_keyword("nullable");
            let inner = std::mem::take(members);
            members.set_keyword("anyOf", json!([inner, {"type": "null"}]));
        }
    });
}
