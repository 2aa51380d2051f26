//! Sentences about the values that a schema accepts.

use serde_json::{Map, Value};

use super::{admits_anything, admits_nothing};
use crate::lower::KeywordLookup;
use crate::lower::pass::applies_to::is_assertion;
use crate::lower::pass::describe::{describe_enum, describe_schema, truncated};

/// Longer text is truncated.
const MAX_CHARS: usize = 200;

/// A description of a value: `a string`, `one of "a", "b"`.
pub(crate) fn describe_value(schema: &Value) -> String {
    match schema.keyword("enum").and_then(Value::as_array) {
        _ if admits_nothing(schema) => "nothing".to_owned(),
        Some(listed) => describe_values(listed),
        None => describe_schema(schema),
    }
}

/// What unevaluated properties or items must be.
pub(super) fn describe_rest(schema: &Value, one: &str, many: &str) -> String {
    match super::admits_nothing(schema) {
        true => format!("no other {many}"),
        false => format!("each other {one} is {}", describe_value(schema)),
    }
}

/// `"a"`, or `one of "a", "b"`.
pub(super) fn describe_values(values: &[Value]) -> String {
    match values {
        [one] => truncated(&one.to_string(), MAX_CHARS),
        several => describe_enum(several),
    }
}

/// `` `a`, `b` and `c` ``.
pub(super) fn join_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    truncated(&join_list(&names, "and"), MAX_CHARS)
}

/// What is true of a value: `` `a` is given and `b` is a string ``.
pub(super) fn describe_condition(schema: &Value) -> String {
    truncated(&constraint_sentence(schema, GrammaticalMood::Is), MAX_CHARS)
}

/// What must be true of a value: `` `a` must be given and `b` must be a string ``.
pub(super) fn describe_requirement(schema: &Value) -> String {
    truncated(&constraint_sentence(schema, GrammaticalMood::Must), MAX_CHARS)
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
}

fn join_list(subschemas: &[String], last: &str) -> String {
    match subschemas {
        [first @ .., end] if !first.is_empty() => format!("{} {last} {end}", first.join(", ")),
        _ => subschemas.concat(),
    }
}

fn constraint_sentence(schema: &Value, mood: GrammaticalMood) -> String {
    let asserted: Vec<(&str, &Value)> = schema
        .as_object()
        .into_iter()
        .flatten()
        .map(|(keyword, value)| (keyword.as_str(), value))
        .filter(|(keyword, _)| is_assertion(keyword))
        .collect();
    if let [("anyOf" | "oneOf", Value::Array(branches))] = asserted.as_slice() {
        let branches: Vec<String> =
            branches.iter().map(|branch| constraint_sentence(branch, mood)).collect();
        return join_list(&branches, "or");
    }
    let of_properties = |(keyword, value): &(&str, &Value)| match *keyword {
        "type" => *value == "object",
        "additionalProperties" => value.is_boolean(),
        keyword => matches!(keyword, "properties" | "required"),
    };
    if let (Value::Object(members), true) = (schema, asserted.iter().all(of_properties)) {
        let sentences = describe_properties(members, mood);
        if !sentences.is_empty() {
            return join_list(&sentences, "and");
        }
    }
    format!("it {} {}", mood.verb(false), describe_value(schema))
}

fn describe_properties(members: &Map<String, Value>, mood: GrammaticalMood) -> Vec<String> {
    let properties = members.keyword("properties").and_then(Value::as_object);
    let mut sentences = Vec::new();
    for (name, subschema) in properties.into_iter().flatten() {
        match mood {
            _ if admits_anything(subschema) => {}
            GrammaticalMood::Is if admits_nothing(subschema) => {
                sentences.push(format!("`{name}` is not given"))
            }
            GrammaticalMood::Must if admits_nothing(subschema) => {
                sentences.push(format!("`{name}` must not be given"))
            }
            _ => sentences.push(format!(
                "`{name}` {} {}",
                mood.verb(false),
                describe_value(subschema)
            )),
        }
    }
    let is_undescribed = |name: &&str| {
        let subschema = properties.and_then(|properties| properties.get(*name));
        subschema.is_none_or(admits_anything)
    };
    let present: Vec<&str> = super::required_names(members).filter(is_undescribed).collect();
    if !present.is_empty() {
        let verb = mood.verb(present.len() > 1);
        sentences.push(format!("{} {verb} given", join_names(present)));
    }
    sentences
}
