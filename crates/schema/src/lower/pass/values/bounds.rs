//! Rewrites numeric bounds that a dialect does not support with those it does.

use serde_json::{Map, Number, Value};

use super::json_text::single_type;
use crate::lower::pass::describe::describe_keyword;
use crate::lower::{
    KeywordLookup, KeywordLookupMut, KeywordSet, LowerError, LoweringState, SchemaCursor,
};

/// Above it, adjacent integers are the same float.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

const BOUND_KEYWORDS: [&str; 11] = [
    "exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "uniqueItems",
];

/// Makes the bounds of integers inclusive and whole; drops those without effect.
pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&BOUND_KEYWORDS) {
        return Ok(());
    }
    state.visit_top_down(|schema, cursor| {
        let Value::Object(members) = schema else {
            return;
        };
        match single_type(members) {
            Some("integer") => normalise_integer_bounds(members, cursor),
            Some("string") => {
                remove_if(members, "minLength", is_zero);
                normalise_count(members, "minLength");
                normalise_count(members, "maxLength");
            }
            Some("array") => {
                remove_if(members, "minItems", is_zero);
                remove_if(members, "uniqueItems", |value| *value == Value::Bool(false));
                normalise_count(members, "minItems");
                normalise_count(members, "maxItems");
            }
            Some("object") => {
                remove_if(members, "minProperties", is_zero);
                normalise_count(members, "minProperties");
                normalise_count(members, "maxProperties");
            }
            _ => {}
        }
    });
    state.note_added_keywords(KeywordSet::from_keywords(&["maximum", "minimum"]));
    Ok(())
}

/// Writes `2.0` as `2`.
fn normalise_count(members: &mut Map<String, Value>, keyword: &str) {
    if let Some(value) = members.keyword_mut(keyword)
        && value.is_f64()
        && let Some(whole) = value
            .as_f64()
            .filter(|value| value.fract() == 0.0 && (0.0..MAX_EXACT_INTEGER).contains(value))
    {
        *value = Value::from(whole as u64);
    }
}

/// For dialects whose `minItems` is 0 or 1.
pub(crate) fn limit_min_items_to_one(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["minItems"]) {
        return Ok(());
    }
    state.visit_top_down(|schema, cursor| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(min) = members.keyword("minItems").and_then(Value::as_f64) else {
            return;
        };
        if min > 1.0
            && let Some(value) = members.set_keyword("minItems", Value::from(1))
            && let Some(words) = describe_keyword("minItems", &value)
        {
            cursor.move_to_description(members, "minItems", words);
        }
    });
    Ok(())
}

fn normalise_integer_bounds(members: &mut Map<String, Value>, cursor: &SchemaCursor<'_>) {
    // Greater than 2.5 and greater than 2 both mean at least 3.
    let above = |value: &Value| round_to_integer(value, f64::floor)?.checked_add(1);
    let below = |value: &Value| round_to_integer(value, f64::ceil)?.checked_sub(1);
    if !cursor.rules.allows_keyword("exclusiveMinimum") {
        make_inclusive(members, "exclusiveMinimum", "minimum", above, |old, new| old < new);
    }
    if !cursor.rules.allows_keyword("exclusiveMaximum") {
        make_inclusive(members, "exclusiveMaximum", "maximum", below, |old, new| old > new);
    }
    round_bound(members, "minimum", f64::ceil);
    round_bound(members, "maximum", f64::floor);
}

/// Replaces an exclusive bound by an inclusive one, unless the schema has a tighter one.
fn make_inclusive(
    members: &mut Map<String, Value>,
    exclusive: &str,
    inclusive: &str,
    step: impl Fn(&Value) -> Option<i128>,
    looser: impl Fn(i128, i128) -> bool,
) {
    let Some(new) = members.keyword(exclusive).and_then(step) else {
        return;
    };
    let tighter = match members.keyword(inclusive) {
        None => true,
        Some(old) => {
            let toward = if inclusive == "minimum" { f64::ceil } else { f64::floor };
            match round_to_integer(old, toward) {
                Some(old) => looser(old, new),
                None => return,
            }
        }
    };
    if tighter {
        let Some(number) = integer_to_number(new) else {
            return;
        };
        members.set_keyword(inclusive, Value::Number(number));
    }
    members.remove_keyword(exclusive);
}

/// Rounds a bound with a fraction.
fn round_bound(members: &mut Map<String, Value>, bound: &str, toward: fn(f64) -> f64) {
    if let Some(value) = members.keyword_mut(bound)
        && value.as_f64().is_some_and(|number| number.fract() != 0.0)
        && let Some(number) = round_to_integer(value, toward).and_then(integer_to_number)
    {
        *value = Value::Number(number);
    }
}

fn round_to_integer(value: &Value, toward: fn(f64) -> f64) -> Option<i128> {
    let number = value.as_number()?;
    if let Some(number) = number.as_i64() {
        return Some(number.into());
    }
    if let Some(number) = number.as_u64() {
        return Some(number.into());
    }
    let number = toward(number.as_f64()?);
    (number.abs() < MAX_EXACT_INTEGER).then_some(number as i128)
}

fn integer_to_number(whole: i128) -> Option<Number> {
    i64::try_from(whole).map(Number::from).or_else(|_| u64::try_from(whole).map(Number::from)).ok()
}

fn is_zero(value: &Value) -> bool {
    value.as_f64() == Some(0.0)
}

fn remove_if(members: &mut Map<String, Value>, keyword: &str, nothing: fn(&Value) -> bool) {
    if members.keyword(keyword).is_some_and(nothing) {
        members.remove_keyword(keyword);
    }
}
