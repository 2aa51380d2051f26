//! Converts the values of keywords that expect a number, a boolean or text.

use serde_json::Value;

use super::{
    JsonObject, NormaliseResult, Normaliser,
    keyword_table::{KeywordValue, keyword_value},
};
use crate::arguments::coerce;

/// Converts the value of every keyword to its type, or rejects it.
pub(super) fn normalise_values(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    let mut empty = Vec::new();
    for (keyword, value) in members.iter_mut() {
        let Some(holds) = keyword_value(keyword).filter(|_| !is_exclusive_flag(keyword, value))
        else {
            continue;
        };
        let (fits, converted, wanted) = match holds {
            KeywordValue::Prose => (value.is_string(), to_prose(value), "text"),
            KeywordValue::Text => (value.is_string(), None, "text"),
            KeywordValue::Number => (value.is_number(), parse_number(value), "a number"),
            KeywordValue::NonNegativeInteger => {
                let converted = parse_number(value).filter(Value::is_u64);
                (value.is_number(), converted, "a whole number")
            }
            KeywordValue::Boolean => (value.is_boolean(), parse_bool(value), "true or false"),
            _ => continue,
        };
        match converted {
            _ if fits => {}
            Some(converted) => {
                let (from, to) = (normaliser.excerpt(value), normaliser.excerpt(&converted));
                normaliser.add_fix(format!("`{keyword}: {from}` read as {to}"));
                *value = converted;
            }
            None if value.is_null() => {
                normaliser.add_fix(format!("`{keyword}: null` dropped"));
                empty.push(keyword.clone());
            }
            None => return Err(normaliser.expected(keyword, wanted, value)),
        }
    }
    for keyword in empty {
        members.shift_remove(&keyword);
    }
    Ok(())
}

/// Draft 4 has `exclusiveMinimum: true` beside a `minimum`.
fn is_exclusive_flag(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "exclusiveMinimum" | "exclusiveMaximum")
        && (value.is_boolean() || parse_bool(value).is_some())
}

/// Text from a list of lines, a number, or an object of translations.
fn to_prose(value: &Value) -> Option<Value> {
    match value {
        Value::Null | Value::String(_) => None,
        // It may be a schema, for a parameter with that name.
        Value::Object(members) if members.keys().any(|key| keyword_value(key).is_some()) => None,
        _ => {
            let lines: Option<Vec<&str>> =
                value.as_array().and_then(|lines| lines.iter().map(Value::as_str).collect());
            Some(Value::from(lines.map_or_else(|| value.to_string(), |lines| lines.join("\n"))))
        }
    }
}

/// The number in a text, if it is written back as the same text.
pub(super) fn parse_number(value: &Value) -> Option<Value> {
    coerce::parse_number(value.as_str()?.trim())
}

/// The boolean in a text.
pub(super) fn parse_bool(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let words = [("true", true), ("yes", true), ("false", false), ("no", false)];
    let found = words.into_iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
    found.map(|(_, flag)| Value::Bool(flag))
}
