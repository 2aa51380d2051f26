//! Rewrites numeric bounds that a dialect does not support with those it does.

use serde_json::Value;

use crate::lower::pass::conditions::as_count;
use crate::lower::pass::describe::describe_keyword;
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LowerError, LoweringState, SchemaCursor,
};
use crate::type_set::as_integer;

/// Above it, adjacent integers are the same float.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

type Rounding = fn(f64) -> f64;

const BOUND_KEYWORDS: [&str; 11] = [
    "exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "uniqueItems",
];

/// Makes the bounds of integers inclusive and whole; drops those without effect.
pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&BOUND_KEYWORDS) {
        return Ok(());
    }
    state.visit_top_down(|members, cursor| match members.text("type") {
        Some("integer") => normalise_integer_bounds(members, cursor),
        Some("string") => normalise_counts(members, "minLength", "maxLength"),
        Some("array") => {
            normalise_counts(members, "minItems", "maxItems");
            if members.is_false("uniqueItems") {
                members.remove_keyword("uniqueItems");
            }
        }
        Some("object") => normalise_counts(members, "minProperties", "maxProperties"),
        _ => {}
    });
    state.note_added_keywords(KeywordSet::from_keywords(&["maximum", "minimum"]));
    Ok(())
}

/// Drops a minimum of 0, and writes `2.0` as `2`.
fn normalise_counts(members: &mut JsonObject, min: &str, max: &str) {
    if members.keyword(min).and_then(Value::as_f64) == Some(0.0) {
        members.remove_keyword(min);
    }
    for keyword in [min, max] {
        if let Some(value) = members.keyword_mut(keyword)
            && value.is_f64()
            && let Some(count) = as_count(value).filter(|count| *count < MAX_EXACT_INTEGER as u64)
        {
            *value = Value::from(count);
        }
    }
}

/// For dialects whose `minItems` is 0 or 1.
pub(crate) fn limit_min_items_to_one(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["minItems"]) {
        return Ok(());
    }
    state.visit_top_down(|members, cursor| {
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

fn normalise_integer_bounds(members: &mut JsonObject, cursor: &SchemaCursor<'_>) {
    if !cursor.rules.allows_keyword("exclusiveMinimum") {
        make_inclusive(members, "exclusiveMinimum", "minimum", 1, (f64::floor, f64::ceil));
    }
    if !cursor.rules.allows_keyword("exclusiveMaximum") {
        make_inclusive(members, "exclusiveMaximum", "maximum", -1, (f64::ceil, f64::floor));
    }
    round_bound(members, "minimum", f64::ceil);
    round_bound(members, "maximum", f64::floor);
}

/// Replaces an exclusive bound by the integer that is one `step` further, unless the schema has a tighter bound.
fn make_inclusive(
    members: &mut JsonObject,
    exclusive: &str,
    inclusive: &str,
    step: i128,
    (outward, inward): (Rounding, Rounding),
) {
    // Greater than 2.5 and greater than 2 both mean at least 3.
    let next = |value: &Value| round_to_integer(value, outward)?.checked_add(step);
    let Some(new) = members.keyword(exclusive).and_then(next) else {
        return;
    };
    let old = members.keyword(inclusive).map(|old| round_to_integer(old, inward));
    let tighter = match old {
        None => true,
        Some(Some(old)) => (new - old) * step > 0,
        Some(None) => return,
    };
    if tighter {
        let Some(number) = integer_to_value(new) else {
            return;
        };
        members.set_keyword(inclusive, number);
    }
    members.remove_keyword(exclusive);
}

/// Rounds a bound with a fraction.
fn round_bound(members: &mut JsonObject, bound: &str, toward: Rounding) {
    if let Some(value) = members.keyword_mut(bound)
        && value.as_f64().is_some_and(|number| number.fract() != 0.0)
        && let Some(number) = round_to_integer(value, toward).and_then(integer_to_value)
    {
        *value = number;
    }
}

fn round_to_integer(value: &Value, toward: Rounding) -> Option<i128> {
    as_integer(value).or_else(|| {
        let number = toward(value.as_f64()?);
        (number.abs() < MAX_EXACT_INTEGER).then_some(number as i128)
    })
}

fn integer_to_value(whole: i128) -> Option<Value> {
    i64::try_from(whole).map(Value::from).or_else(|_| u64::try_from(whole).map(Value::from)).ok()
}
