//! Converts the values of keywords that expect a number, a boolean or text.

use serde_json::Value;

use super::{
    Members, NormaliseResult, Normaliser,
    keyword_table::{KeywordValue, keyword_value},
};
use crate::arguments::coerce;

/// Converts the value of every keyword to its type, or rejects it.
pub(super) fn normalise_values(
    normaliser: &mut Normaliser,
    members: &mut Members,
) -> NormaliseResult {
    let mut empty = Vec::new();
    for (keyword, value) in members.iter_mut() {
        let read = match keyword_value(keyword) {
            Some(holds) if !is_exclusive_flag(keyword, value) => convert(holds, value),
            _ => continue,
        };
        match read {
            Conversion::Valid => {}
            Conversion::Invalid(_) if value.is_null() => {
                normaliser.add_fix(format!("`{keyword}: null` dropped"));
                empty.push(keyword.clone());
            }
            Conversion::Invalid(wanted) => {
                let message = format!("expected {wanted}, got {}", normaliser.excerpt(value));
                return Err(normaliser.error_at(keyword, message));
            }
            Conversion::Converted(read) => {
                let (from, to) = (normaliser.excerpt(value), normaliser.excerpt(&read));
                normaliser.add_fix(format!("`{keyword}: {from}` read as {to}"));
                *value = read;
            }
        }
    }
    for keyword in empty {
        members.shift_remove(&keyword);
    }
    Ok(())
}

enum Conversion {
    Valid,
    Converted(Value),
    /// The value is not of the type that is named here.
    Invalid(&'static str),
}

fn convert(holds: KeywordValue, value: &Value) -> Conversion {
    let (fits, found, wanted) = match holds {
        KeywordValue::Prose => (value.is_string(), to_prose(value), "text"),
        KeywordValue::Text => (value.is_string(), None, "text"),
        KeywordValue::Number => (value.is_number(), parse_number(value), "a number"),
        KeywordValue::NonNegativeInteger => {
            let found = parse_number(value).filter(Value::is_u64);
            (value.is_number(), found, "a whole number")
        }
        KeywordValue::Boolean => (value.is_boolean(), parse_bool(value), "true or false"),
        _ => return Conversion::Valid,
    };
    match found {
        _ if fits => Conversion::Valid,
        Some(found) => Conversion::Converted(found),
        None => Conversion::Invalid(wanted),
    }
}

/// Draft 4 has `exclusiveMinimum: true` beside a `minimum`.
fn is_exclusive_flag(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "exclusiveMinimum" | "exclusiveMaximum")
        && (value.is_boolean() || parse_bool(value).is_some())
}

/// Text from a list of lines, a number, or an object of translations.
fn to_prose(value: &Value) -> Option<Value> {
    let lines = |value: &Value| -> Option<String> {
        let lines: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
        Some(lines?.join("\n"))
    };
    match value {
        Value::Null | Value::String(_) => None,
        // It may be a schema, for a parameter with that name.
        Value::Object(members) if members.keys().any(|key| keyword_value(key).is_some()) => None,
        _ => Some(Value::from(lines(value).unwrap_or_else(|| value.to_string()))),
    }
}

/// The number in a text, if it is written back as the same text.
pub(super) fn parse_number(value: &Value) -> Option<Value> {
    coerce::parse_number(value.as_str()?.trim())
}

/// The boolean in a text.
pub(super) fn parse_bool(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("true") || is("yes") {
        Some(Value::Bool(true))
    } else {
        (is("false") || is("no")).then_some(Value::Bool(false))
    }
}
