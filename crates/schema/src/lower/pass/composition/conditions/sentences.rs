//! Sentences about the values that a schema accepts.

use serde_json::Value;

use crate::JsonObject;

use super::{admits_anything, admits_nothing};
use crate::lower::KeywordLookup;
use crate::lower::pass::applies_to::is_assertion;
use crate::lower::pass::describe::{describe_enum, describe_schema};
use crate::text::english::{join_words, truncated};

/// Longer text is truncated.
const MAX_CHARS: usize = 200;

/// A description of a value: `a string`, `one of "a", "b"`.
pub(crate) fn describe_value(schema: &Value) -> String {
    match schema.list("enum") {
        _ if admits_nothing(schema) => "nothing".to_owned(),
        Some(listed) => describe_values(listed),
        None => describe_schema(schema),
    }
}

/// `"a"`, or `one of "a", "b"`.
pub(super) fn describe_values(values: &[Value]) -> String {
    match values {
        [one] => truncated(one.to_string(), MAX_CHARS),
        several => describe_enum(several),
    }
}

/// `` `a`, `b` and `c` ``.
pub(super) fn join_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    truncated(join_words(&names, "and"), MAX_CHARS)
}

/// What is true of a value: `` `a` is given and `b` is a string ``.
pub(super) fn describe_condition(schema: &Value) -> String {
    truncated(constraint_sentence(schema, GrammaticalMood::Is), MAX_CHARS)
}

/// What must be true of a value: `` `a` must be given and `b` must be a string ``.
pub(super) fn describe_requirement(schema: &Value) -> String {
    truncated(constraint_sentence(schema, GrammaticalMood::Must), MAX_CHARS)
}

#[derive(Clone, Copy)]
enum GrammaticalMood {
    Is,
    Must,
}

impl GrammaticalMood {
    fn verb(self, several: bool) -> &'static str {
        match self {
            Self::Is if several => "are",
            Self::Is => "is",
            Self::Must => "must be",
        }
    }

    fn negated_verb(self) -> &'static str {
        match self {
            Self::Is => "is not",
            Self::Must => "must not be",
        }
    }
}

fn constraint_sentence(schema: &Value, mood: GrammaticalMood) -> String {
    let members = schema.as_object().into_iter().flatten();
    let members = members.map(|(keyword, value)| (keyword.as_str(), value));
    let asserted: Vec<(&str, &Value)> =
        members.filter(|(keyword, _)| is_assertion(keyword)).collect();
    if let [("anyOf" | "oneOf", Value::Array(branches))] = asserted.as_slice() {
        let branches: Vec<String> =
            branches.iter().map(|branch| constraint_sentence(branch, mood)).collect();
        return join_words(&branches, "or");
    }
    let of_properties = |(keyword, value): &(&str, &Value)| match *keyword {
        "type" => *value == "object",
        "additionalProperties" => value.is_boolean(),
        keyword => matches!(keyword, "properties" | "required"),
    };
    if let (Value::Object(members), true) = (schema, asserted.iter().all(of_properties)) {
        let sentences = describe_properties(members, mood);
        if !sentences.is_empty() {
            return join_words(&sentences, "and");
        }
    }
    format!("it {} {}", mood.verb(false), describe_value(schema))
}

fn describe_properties(members: &JsonObject, mood: GrammaticalMood) -> Vec<String> {
    let properties = members.object("properties");
    let mut sentences = Vec::new();
    for (name, subschema) in properties.into_iter().flatten() {
        if admits_nothing(subschema) {
            sentences.push(format!("`{name}` {} given", mood.negated_verb()));
        } else if !admits_anything(subschema) {
            let verb = mood.verb(false);
            sentences.push(format!("`{name}` {verb} {}", describe_value(subschema)));
        }
    }
    let is_undescribed = |name: &&str| {
        let subschema = properties.and_then(|properties| properties.get(*name));
        subschema.is_none_or(admits_anything)
    };
    let present: Vec<&str> = members.required_names().filter(is_undescribed).collect();
    if !present.is_empty() {
        let verb = mood.verb(present.len() > 1);
        sentences.push(format!("{} {verb} given", join_names(present)));
    }
    sentences
}
