//! Checks of `type`, `enum`, `const`, and `items`.

use serde_json::Value;

use crate::provider_rules::{
    report::{Report, excerpt},
    subschemas::Subschema,
};

const KNOWN_TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// The types that a schema names, in lower case.
pub(crate) fn type_names(subschema: &Subschema<'_>) -> Vec<String> {
    let names = match subschema.get("type") {
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
        None => &[],
    };
    names.iter().filter_map(Value::as_str).map(str::to_ascii_lowercase).collect()
}

pub(crate) fn has_type(subschema: &Subschema<'_>, json_type: &str) -> bool {
    type_names(subschema).iter().any(|name| name == json_type)
}

/// A schema below the root must have a `type`, or one of the keywords `instead`.
pub(crate) fn require_type(subschema: &Subschema<'_>, instead: &[&str], report: &mut Report<'_>) {
    let known = |keyword: &str| subschema.get(keyword).is_some();
    let inner = subschema.schema.is_object() && !subschema.is_root();
    if inner && !known("type") && !instead.iter().any(|keyword| known(keyword)) {
        report.reject(subschema, "an untyped schema is not accepted");
    }
}

/// `type` must be a string.
pub(crate) fn require_single_type(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if subschema.get("type").is_some_and(|json_type| !json_type.is_string()) {
        report.reject(subschema, "`type` must be a single type");
    }
}

/// The type must be one of those that all providers know, in any case.
pub(crate) fn require_known_type(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if let Some(json_type) = subschema.get("type").and_then(Value::as_str)
        && !KNOWN_TYPES.iter().any(|known| known.eq_ignore_ascii_case(json_type))
    {
        report.reject(subschema, format!("the type `{}` is not accepted", excerpt(json_type)));
    }
}

/// `anyOf` may have no siblings.
pub(crate) fn require_any_of_alone(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if subschema.is_root() || subschema.get("anyOf").is_none() {
        return;
    }
    for (keyword, _) in subschema.members().filter(|(keyword, _)| *keyword != "anyOf") {
        report.reject(subschema, format!("`{}` is not accepted beside `anyOf`", excerpt(keyword)));
    }
}

/// `type` must be one type, or one type and `null`.
pub(crate) fn require_single_or_nullable_type(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let Some(Value::Array(names)) = subschema.get("type") else {
        return;
    };
    let nulls = names.iter().filter(|name| *name == "null").count();
    if (names.len(), nulls) != (2, 1) {
        report.reject(subschema, "a list of types must be one type and `null`");
    }
}

/// An array must have `items`.
pub(crate) fn require_items(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if has_type(subschema, "array") && subschema.get("items").is_none() {
        report.reject(subschema, "an array must have `items`");
    }
}

/// The values of `enum` and `const`.
fn enum_and_const_values<'a>(
    subschema: &Subschema<'a>,
) -> impl Iterator<Item = &'a Value> + use<'a> {
    let listed = subschema.get("enum").and_then(Value::as_array);
    listed.into_iter().flatten().chain(subschema.get("const"))
}

/// The values of `enum` and `const` must have the type beside them.
pub(crate) fn require_values_match_type(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if subschema.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        report.reject(subschema, "an empty `enum` is not accepted");
    }
    let types = type_names(subschema);
    let fits = |value: &Value| types.iter().any(|json_type| matches_type(value, json_type));
    if !types.is_empty() && !enum_and_const_values(subschema).all(fits) {
        report.reject(subschema, "a value of `enum` or `const` does not fit `type`");
    }
}

fn matches_type(value: &Value, json_type: &str) -> bool {
    match value {
        Value::Null => json_type == "null",
        Value::Bool(_) => json_type == "boolean",
        Value::String(_) => json_type == "string",
        Value::Array(_) => json_type == "array",
        Value::Object(_) => json_type == "object",
        Value::Number(number) => {
            let whole = number.as_f64().is_some_and(|float| float.fract() == 0.0);
            json_type == "number" || json_type == "integer" && whole
        }
    }
}

/// The values of `enum` and `const` may not be arrays or objects.
pub(crate) fn require_primitive_values(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if enum_and_const_values(subschema).any(|value| value.is_array() || value.is_object()) {
        report.reject(subschema, "arrays and objects are not accepted in `enum` and `const`");
    }
}

/// The values of `enum` must be non-empty strings, and `type` must be `string`.
pub(crate) fn require_string_enum(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let Some(listed) = subschema.get("enum") else {
        return;
    };
    if type_names(subschema) != ["string"] {
        report.reject(subschema, "`enum` is accepted only on strings");
    }
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    match listed.as_array().map(Vec::as_slice) {
        None => report.reject(subschema, "`enum` must be a list"),
        Some([]) => report.reject(subschema, "an empty `enum` is not accepted"),
        Some(values) if values.iter().all(is_text) => {}
        Some(_) => report.reject(subschema, "`enum` may list only strings that are not empty"),
    }
}
