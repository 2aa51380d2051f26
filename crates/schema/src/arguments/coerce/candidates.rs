//! What else a value could have been meant as.

use serde_json::{Number, Value};

use super::subschema_path::{enum_strings, type_names};
use crate::{InputLimits, Tape};

/// Another way to read a value.
pub(super) enum Candidate {
    Converted(Value),
    /// The value as the only element of an array.
    Wrapped(Value),
}

/// Every lossless reading of a value as a kind that the schema names; which of them fit is for the validator to say.
///
/// A schema without `type` admits an array as well as an object: that it admits a reading does not mean it asks for it.
pub(super) fn candidates(root: &Value, place: &str, value: &Value) -> Vec<Candidate> {
    let kinds = type_names(root, place);
    let named = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(_) => kinds.contains(&"boolean"),
        Value::Number(_) => kinds.contains(&"number") || kinds.contains(&"integer"),
        Value::String(_) => kinds.contains(&"string"),
        Value::Array(_) => kinds.contains(&"array"),
        Value::Object(_) => kinds.contains(&"object"),
    };
    let mut found = Vec::new();
    if let Value::String(text) = value {
        found.extend(matching_enum_member(root, place, text).map(Candidate::Converted));
    }
    if named(value) {
        return found;
    }
    let spelled = match value {
        Value::String(text) => [
            parse_number(text),
            parse_bool(text),
            parse_json_container(text),
        ],
        Value::Number(_) | Value::Bool(_) => [to_plain_string(value), None, None],
        _ => [const { None }; 3],
    };
    // Text that spells an array was hardly meant as its only element.
    let spells_array = spelled.iter().flatten().any(Value::is_array);
    found.extend(
        spelled
            .into_iter()
            .flatten()
            .filter(|reading| named(reading))
            .map(Candidate::Converted),
    );
    if !value.is_null() && !spells_array && kinds.contains(&"array") {
        found.push(Candidate::Wrapped(Value::Array(vec![value.clone()])));
    }
    found
}

/// Only if writing the number again gives the same text: `007`, `+7`, `1e3` and what has too many digits stay text.
fn parse_number(text: &str) -> Option<Value> {
    let number: Number = if text.len() <= 32 {
        text.parse().ok()?
    } else {
        return None;
    };
    (number.to_string() == text).then_some(Value::Number(number))
}

fn parse_bool(text: &str) -> Option<Value> {
    match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// Text that holds an object or an array: encoded twice.
fn parse_json_container(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    Some(Tape::parse(text, &InputLimits::default()).ok()?.to_value())
}

fn matching_enum_member(root: &Value, place: &str, text: &str) -> Option<Value> {
    let lower = text.to_lowercase();
    let mut same = enum_strings(root, place)
        .into_iter()
        .filter(|option| option.to_lowercase() == lower);
    let only = same.next()?;
    same.all(|other| other == only).then(|| Value::from(only))
}

fn to_plain_string(value: &Value) -> Option<Value> {
    let text = value.to_string();
    (!value.is_number() || !text.contains(['e', 'E'])).then_some(Value::String(text))
}

/// `5.0` as `5`, if no digit and no sign is lost.
pub(super) fn as_integer(value: &Value) -> Option<Value> {
    let float = value.as_f64().filter(|_| value.is_f64())?;
    let whole = float as i64;
    // Past 2^53 a float stands for several integers.
    let exact = whole.unsigned_abs() <= 1 << 53 && (whole as f64).to_bits() == float.to_bits();
    exact.then(|| Value::from(whole))
}
