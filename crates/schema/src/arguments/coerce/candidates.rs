//! The values that a value of the wrong type can be converted to without loss.

use serde_json::{Number, Value};

use super::subschema_path::{enum_strings, type_names};
use crate::type_set::TypeSet;
use crate::{InputLimits, Tape};

/// Every lossless conversion of a value to a type that the schema names; the validator decides which are valid.
///
/// The flag is true if the value was wrapped as the only element of an array.
///
/// Without `type` there are none: such a schema accepts arrays and objects alike and asks for neither.
pub(super) fn candidates(root: &Value, path: &str, value: &Value) -> Vec<(Value, bool)> {
    let types = TypeSet::from_names(type_names(root, path));
    let named = |value: &Value| !value.is_null() && types.intersects(TypeSet::json_type_of(value));
    let mut found = Vec::new();
    if let Value::String(text) = value {
        found.extend(matching_enum_member(root, path, text).map(|member| (member, false)));
    }
    if named(value) {
        return found;
    }
    let spelled = match value {
        Value::String(text) => {
            [parse_number(text), text.parse().ok().map(Value::Bool), parse_json_container(text)]
        }
        Value::Number(_) | Value::Bool(_) => [to_plain_string(value), None, None],
        _ => [const { None }; 3],
    };
    // Text that contains an array is decoded, not wrapped as an element.
    let spells_array = spelled.iter().flatten().any(Value::is_array);
    let converted = spelled.into_iter().flatten().filter(|option| named(option));
    found.extend(converted.map(|option| (option, false)));
    if !value.is_null() && !spells_array && types.intersects(TypeSet::ARRAY) {
        found.push((Value::Array(vec![value.clone()]), true));
    }
    found
}

/// Longer text is not parsed as a number.
const MAX_NUMBER_LENGTH: usize = 32;

/// Only if the number is written back as the same text: `007`, `+7`, `1e3` and numbers with too many digits stay text.
pub(crate) fn parse_number(text: &str) -> Option<Value> {
    let number: Number = (text.len() <= MAX_NUMBER_LENGTH).then(|| text.parse().ok())??;
    (number.to_string() == text).then_some(Value::Number(number))
}

/// The object or array in a text that was encoded twice.
pub(crate) fn parse_json_container(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    Some(Tape::parse(text, &InputLimits::default()).ok()?.to_value())
}

fn matching_enum_member(root: &Value, path: &str, text: &str) -> Option<Value> {
    let lower = text.to_lowercase();
    let mut same =
        enum_strings(root, path).into_iter().filter(|option| option.to_lowercase() == lower);
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
