//! Bounds that a dialect has no word for, said with the words it has.

use serde_json::{Map, Number, Value};

use super::json_text::kind;
use super::words::words;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Seen, Spot};

/// Beyond it neighbouring integers are one and the same float.
const EXACT: f64 = 9_007_199_254_740_992.0;

const BOUNDS: [&str; 11] = [
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "uniqueItems",
];

/// Bounds of integers become inclusive and whole; bounds that bind nothing go.
pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&BOUNDS) {
        return Ok(());
    }
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        match kind(members) {
            Some("integer") => integer(members, spot),
            Some("string") => {
                drop_if(members, "minLength", is_zero);
                count(members, "minLength");
                count(members, "maxLength");
            }
            Some("array") => {
                drop_if(members, "minItems", is_zero);
                drop_if(members, "uniqueItems", |value| *value == Value::Bool(false));
                count(members, "minItems");
                count(members, "maxItems");
            }
            Some("object") => {
                drop_if(members, "minProperties", is_zero);
                count(members, "minProperties");
                count(members, "maxProperties");
            }
            _ => {}
        }
    });
    draft.adds(Seen::of(&["maximum", "minimum"]));
    Ok(())
}

/// Writes `2.0` as `2`.
fn count(members: &mut Map<String, Value>, keyword: &str) {
    if let Some(value) = members.find_mut(keyword)
        && value.is_f64()
        && let Some(whole) = value
            .as_f64()
            .filter(|value| value.fract() == 0.0 && (0.0..EXACT).contains(value))
    {
        *value = Value::from(whole as u64);
    }
}

/// For dialects whose `minItems` is 0 or 1.
pub(crate) fn at_most_one_item(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["minItems"]) {
        return Ok(());
    }
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(least) = members.find("minItems").and_then(Value::as_f64) else {
            return;
        };
        if least > 1.0
            && let Some(value) = members.put("minItems", Value::from(1))
            && let Some(words) = words("minItems", &value)
        {
            spot.spill(members, "minItems", words);
        }
    });
    Ok(())
}

fn integer(members: &mut Map<String, Value>, spot: &Spot<'_>) {
    // Greater than 2.5 and greater than 2 both mean at least 3.
    let above = |value: &Value| whole(value, f64::floor)?.checked_add(1);
    let below = |value: &Value| whole(value, f64::ceil)?.checked_sub(1);
    if !spot.rules.keeps("exclusiveMinimum") {
        include(members, "exclusiveMinimum", "minimum", above, |old, new| {
            old < new
        });
    }
    if !spot.rules.keeps("exclusiveMaximum") {
        include(members, "exclusiveMaximum", "maximum", below, |old, new| {
            old > new
        });
    }
    round(members, "minimum", f64::ceil);
    round(members, "maximum", f64::floor);
}

/// Replaces an exclusive bound by an inclusive one, unless the schema has a tighter one already.
fn include(
    members: &mut Map<String, Value>,
    exclusive: &str,
    inclusive: &str,
    step: impl Fn(&Value) -> Option<i128>,
    looser: impl Fn(i128, i128) -> bool,
) {
    let Some(new) = members.find(exclusive).and_then(step) else {
        return;
    };
    let tighter = match members.find(inclusive) {
        None => true,
        Some(old) => {
            let toward = if inclusive == "minimum" {
                f64::ceil
            } else {
                f64::floor
            };
            match whole(old, toward) {
                Some(old) => looser(old, new),
                None => return,
            }
        }
    };
    if tighter {
        let Some(number) = number(new) else { return };
        members.put(inclusive, Value::Number(number));
    }
    members.take_out(exclusive);
}

/// Makes a bound with a fraction whole.
fn round(members: &mut Map<String, Value>, bound: &str, toward: fn(f64) -> f64) {
    if let Some(value) = members.find_mut(bound)
        && value.as_f64().is_some_and(|number| number.fract() != 0.0)
        && let Some(number) = whole(value, toward).and_then(number)
    {
        *value = Value::Number(number);
    }
}

fn whole(value: &Value, toward: fn(f64) -> f64) -> Option<i128> {
    let number = value.as_number()?;
    if let Some(number) = number.as_i64() {
        return Some(number.into());
    }
    if let Some(number) = number.as_u64() {
        return Some(number.into());
    }
    let number = toward(number.as_f64()?);
    (number.abs() < EXACT).then_some(number as i128)
}

fn number(whole: i128) -> Option<Number> {
    i64::try_from(whole)
        .map(Number::from)
        .or_else(|_| u64::try_from(whole).map(Number::from))
        .ok()
}

fn is_zero(value: &Value) -> bool {
    value.as_f64() == Some(0.0)
}

fn drop_if(members: &mut Map<String, Value>, keyword: &str, nothing: fn(&Value) -> bool) {
    if members.find(keyword).is_some_and(nothing) {
        members.take_out(keyword);
    }
}
