//! A type as a programmer thinks of it in, the schema that says the same out.

use serde_json::{Map, Value, json};

use super::words::Kind;

/// A type in the words of a programming language.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Plain(Kind),
    Array(Box<Type>),
    Tuple(Vec<Type>),
    Map(Box<Type>),
    Union(Vec<Type>),
    Literal(Value),
}

impl Type {
    /// The schema that says the same.
    pub(super) fn schema(self) -> Map<String, Value> {
        let schema = match self {
            Self::Plain(kind) => kind
                .word()
                .map_or_else(|| json!({}), |word| json!({"type": word})),
            Self::Array(element) => match element.schema() {
                any if any.is_empty() => json!({"type": "array"}),
                items => json!({"type": "array", "items": items}),
            },
            Self::Tuple(elements) => {
                let least = elements.len();
                let each: Vec<_> = elements.into_iter().map(Self::schema).collect();
                json!({"type": "array", "prefixItems": each, "items": false, "minItems": least})
            }
            Self::Map(value) => match value.schema() {
                any if any.is_empty() => json!({"type": "object"}),
                values => json!({"type": "object", "additionalProperties": values}),
            },
            Self::Literal(value) => json!({"enum": [value]}),
            Self::Union(branches) => union(branches),
        };
        match schema {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

fn union(branches: Vec<Type>) -> Value {
    let mut flat = Vec::new();
    flatten(branches, &mut flat);
    if flat.contains(&Type::Plain(Kind::Any)) {
        return json!({});
    }
    let words: Option<Vec<&str>> = flat.iter().map(plain_word).collect();
    let options: Option<Vec<&Value>> = flat.iter().map(literal).collect();
    match (words, options) {
        (Some(words), _) => match words.as_slice() {
            [one] => json!({"type": one}),
            several => json!({"type": several}),
        },
        (_, Some(options)) => json!({"enum": options}),
        _ => match <[Type; 1]>::try_from(flat) {
            Ok([one]) => Value::Object(one.schema()),
            Err(flat) => {
                let each: Vec<_> = flat.into_iter().map(Type::schema).collect();
                json!({"anyOf": each})
            }
        },
    }
}

fn flatten(branches: Vec<Type>, flat: &mut Vec<Type>) {
    for branch in branches {
        match branch {
            Type::Union(inner) => flatten(inner, flat),
            one if flat.contains(&one) => {}
            one => flat.push(one),
        }
    }
}

fn plain_word(branch: &Type) -> Option<&'static str> {
    match branch {
        Type::Plain(kind) => kind.word(),
        _ => None,
    }
}

/// An option of an enum; `null` is one as good as any.
fn literal(branch: &Type) -> Option<&Value> {
    match branch {
        Type::Literal(value) => Some(value),
        Type::Plain(Kind::Null) => Some(&Value::Null),
        _ => None,
    }
}
