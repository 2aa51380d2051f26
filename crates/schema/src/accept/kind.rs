//! Which values a schema admits: `type`, `enum`, `const`, and what an array holds.

use serde_json::Value;

use super::{
    outline::Place,
    report::{Report, short},
};

/// The types a schema names, in lower case.
pub(super) fn kinds(place: &Place<'_>) -> Vec<String> {
    let names = match place.get("type") {
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
        None => &[],
    };
    names
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_ascii_lowercase)
        .collect()
}

pub(super) fn is(place: &Place<'_>, kind: &str) -> bool {
    kinds(place).iter().any(|name| name == kind)
}

/// A `type`, or one of the keywords that stand for one; the root has a rule of its own.
pub(super) fn is_typed<'a>(place: &Place<'a>, instead: &[&str], report: &mut Report<'_, 'a>) {
    let known = |keyword: &str| place.get(keyword).is_some();
    let inner = place.schema.is_object() && !place.is_root();
    if inner && !known("type") && !instead.iter().any(|keyword| known(keyword)) {
        report.refuse(place, "an untyped schema is not accepted");
    }
}

/// One type, as text.
pub(super) fn is_single<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if place.get("type").is_some_and(|kind| !kind.is_string()) {
        report.refuse(place, "`type` must be a single type");
    }
}

/// A type of the list, in whatever case.
pub(super) fn is_known<'a>(place: &Place<'a>, known: &[&str], report: &mut Report<'_, 'a>) {
    if let Some(kind) = place.get("type").and_then(Value::as_str)
        && !known.iter().any(|known| known.eq_ignore_ascii_case(kind))
    {
        report.refuse(place, format!("the type `{}` is not accepted", short(kind)));
    }
}

/// Nothing beside `anyOf`.
pub(super) fn choice_is_alone<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if place.is_root() || place.get("anyOf").is_none() {
        return;
    }
    for (keyword, _) in place.members().filter(|(keyword, _)| *keyword != "anyOf") {
        report.refuse(
            place,
            format!("`{}` is not accepted beside `anyOf`", short(keyword)),
        );
    }
}

/// One type, or one type and `null`.
pub(super) fn is_single_or_null<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let Some(Value::Array(names)) = place.get("type") else {
        return;
    };
    let nulls = names.iter().filter(|name| *name == "null").count();
    if (names.len(), nulls) != (2, 1) {
        report.refuse(place, "a list of types must be one type and `null`");
    }
}

/// An array says what it holds.
pub(super) fn has_items<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if is(place, "array") && place.get("items").is_none() {
        report.refuse(place, "an array must have `items`");
    }
}

/// The values of `enum` and `const`.
fn values<'a>(place: &Place<'a>) -> impl Iterator<Item = &'a Value> + use<'a> {
    let listed = place.get("enum").and_then(Value::as_array);
    listed.into_iter().flatten().chain(place.get("const"))
}

/// Values to choose from, all of the type that is named beside them.
pub(super) fn values_fit<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if place
        .get("enum")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty)
    {
        report.refuse(place, "an empty `enum` is not accepted");
    }
    let kinds = kinds(place);
    let fits = |value: &Value| kinds.iter().any(|kind| fits(value, kind));
    if !kinds.is_empty() && !values(place).all(fits) {
        report.refuse(place, "a value of `enum` or `const` does not fit `type`");
    }
}

fn fits(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(number) => {
            let whole = number.is_i64()
                || number.is_u64()
                || number.as_f64().is_some_and(|float| float.fract() == 0.0);
            kind == "number" || kind == "integer" && whole
        }
    }
}

/// Values to choose from, none of them an array or object.
pub(super) fn values_are_primitive<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if values(place).any(|value| value.is_array() || value.is_object()) {
        report.refuse(
            place,
            "arrays and objects are not accepted in `enum` and `const`",
        );
    }
}

/// Values to choose from, all of them text that is not empty, and said to be text.
pub(super) fn enum_is_text<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let Some(listed) = place.get("enum") else {
        return;
    };
    if kinds(place) != ["string"] {
        report.refuse(place, "`enum` is accepted only on strings");
    }
    match listed.as_array() {
        None => report.refuse(place, "`enum` must be a list"),
        Some(values) if values.is_empty() => {
            report.refuse(place, "an empty `enum` is not accepted")
        }
        Some(values) => {
            if !values
                .iter()
                .all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
            {
                report.refuse(place, "`enum` may list only strings that are not empty");
            }
        }
    }
}
