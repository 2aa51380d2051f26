//! Keywords that want a number, a flag or text, and hold it in another shape.

use serde_json::{Number, Value};

use super::{
    Members, Outcome, Walker,
    vocabulary::{Holds, holds},
};

/// Longer text is no number.
const LONGEST_NUMBER: usize = 32;

/// Gives every plain keyword a value of its shape, or refuses it.
pub(super) fn mend(walker: &mut Walker, members: &mut Members) -> Outcome {
    let mut empty = Vec::new();
    for (keyword, value) in members.iter_mut() {
        let read = match holds(keyword) {
            Some(holds) if !is_exclusive_flag(keyword, value) => read(holds, value),
            _ => continue,
        };
        match read {
            Read::Fits => {}
            Read::Not(_) if value.is_null() => {
                walker.note(format!("`{keyword}: null` dropped"));
                empty.push(keyword.clone());
            }
            Read::Not(wanted) => {
                let message = format!("expected {wanted}, got {}", walker.show(value));
                return Err(walker.error_at(keyword, message));
            }
            Read::As(read) => {
                let (from, to) = (walker.show(value), walker.show(&read));
                walker.note(format!("`{keyword}: {from}` read as {to}"));
                *value = read;
            }
        }
    }
    for keyword in empty {
        members.shift_remove(&keyword);
    }
    Ok(())
}

enum Read {
    Fits,
    As(Value),
    /// It is not what is named here.
    Not(&'static str),
}

fn read(holds: Holds, value: &Value) -> Read {
    let (fits, found, wanted) = match holds {
        Holds::Prose => (value.is_string(), prose(value), "text"),
        Holds::Text => (value.is_string(), None, "text"),
        Holds::Number => (value.is_number(), number(value), "a number"),
        Holds::Count => {
            let found = number(value).filter(Value::is_u64);
            (value.is_number(), found, "a whole number")
        }
        Holds::Flag => (value.is_boolean(), flag(value), "true or false"),
        _ => return Read::Fits,
    };
    match found {
        _ if fits => Read::Fits,
        Some(found) => Read::As(found),
        None => Read::Not(wanted),
    }
}

/// Draft 4 says `exclusiveMinimum: true` beside a `minimum`.
fn is_exclusive_flag(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "exclusiveMinimum" | "exclusiveMaximum")
        && (value.is_boolean() || flag(value).is_some())
}

/// Words, from whatever they were put in: lines in a list, a bare number, an object of translations.
fn prose(value: &Value) -> Option<Value> {
    let lines = |value: &Value| -> Option<String> {
        let lines: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
        Some(lines?.join("\n"))
    };
    match value {
        Value::Null | Value::String(_) => None,
        // It may be a schema, and its name that of a parameter.
        Value::Object(members) if members.keys().any(|key| holds(key).is_some()) => None,
        _ => Some(Value::from(
            lines(value).unwrap_or_else(|| value.to_string()),
        )),
    }
}

/// The number that a text spells, if writing it again gives the same text.
pub(super) fn number(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let number: Number = (text.len() <= LONGEST_NUMBER).then(|| text.parse().ok())??;
    (number.to_string() == text).then_some(Value::Number(number))
}

/// The flag that a text spells.
pub(super) fn flag(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("true") || is("yes") {
        Some(Value::Bool(true))
    } else {
        (is("false") || is("no")).then_some(Value::Bool(false))
    }
}
