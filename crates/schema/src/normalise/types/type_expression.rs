//! A type of a programming language, and the equivalent schema.

use serde_json::{Value, json};

use crate::JsonObject;

use super::type_names::ANY;

/// A type of a programming language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TypeExpression {
    Plain(&'static str),
    Array(Box<TypeExpression>),
    Tuple(Vec<TypeExpression>),
    Map(Box<TypeExpression>),
    Union(Vec<TypeExpression>),
    Literal(Value),
}

impl TypeExpression {
    /// The equivalent schema.
    pub(crate) fn into_schema(self) -> JsonObject {
        let schema = match self {
            Self::Plain(ANY) => json!({}),
            Self::Plain(json_type) => json!({"type": json_type}),
            Self::Array(element) => match element.into_schema() {
                any if any.is_empty() => json!({"type": "array"}),
                items => json!({"type": "array", "items": items}),
            },
            Self::Tuple(elements) => {
                let min_items = elements.len();
                let each: Vec<_> = elements.into_iter().map(Self::into_schema).collect();
                json!({"type": "array", "prefixItems": each, "items": false, "minItems": min_items})
            }
            Self::Map(value) => match value.into_schema() {
                any if any.is_empty() => json!({"type": "object"}),
                values => json!({"type": "object", "additionalProperties": values}),
            },
            Self::Literal(value) => json!({"enum": [value]}),
            Self::Union(branches) => union_schema(branches),
        };
        match schema {
            Value::Object(members) => members,
            _ => JsonObject::new(),
        }
    }
}

fn union_schema(branches: Vec<TypeExpression>) -> Value {
    let mut flat = Vec::new();
    flatten_union(branches, &mut flat);
    if flat.contains(&TypeExpression::Plain(ANY)) {
        return json!({});
    }
    let word = |branch: &TypeExpression| match branch {
        TypeExpression::Plain(json_type) => Some(*json_type),
        _ => None,
    };
    let words: Option<Vec<&str>> = flat.iter().map(word).collect();
    let options: Option<Vec<&Value>> = flat.iter().map(literal_value).collect();
    match (words, options) {
        (Some(words), _) => match words.as_slice() {
            [one] => json!({"type": one}),
            several => json!({"type": several}),
        },
        (_, Some(options)) => json!({"enum": options}),
        _ => match <[TypeExpression; 1]>::try_from(flat) {
            Ok([one]) => Value::Object(one.into_schema()),
            Err(flat) => {
                let each: Vec<_> = flat.into_iter().map(TypeExpression::into_schema).collect();
                json!({"anyOf": each})
            }
        },
    }
}

fn flatten_union(branches: Vec<TypeExpression>, flat: &mut Vec<TypeExpression>) {
    for branch in branches {
        match branch {
            TypeExpression::Union(inner) => flatten_union(inner, flat),
            one if flat.contains(&one) => {}
            one => flat.push(one),
        }
    }
}

/// An option of an enum; `null` counts as one.
fn literal_value(branch: &TypeExpression) -> Option<&Value> {
    match branch {
        TypeExpression::Literal(value) => Some(value),
        TypeExpression::Plain("null") => Some(&Value::Null),
        _ => None,
    }
}
