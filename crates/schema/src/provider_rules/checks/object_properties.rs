//! Checks of the properties of object schemas.

use std::collections::HashSet;

use serde_json::Value;

use crate::provider_rules::{
    report::{Report, excerpt},
    subschemas::Subschema,
    value_types,
};

/// Objects must have `additionalProperties: false`.
pub(crate) fn require_closed(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if value_types::has_type(subschema, "object")
        && subschema.get("additionalProperties") != Some(&Value::Bool(false))
    {
        report.reject(subschema, "an object must have `additionalProperties: false`");
    }
}

/// Objects must have `properties`, which may be empty.
pub(crate) fn require_properties(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if value_types::has_type(subschema, "object") && subschema.get("properties").is_none() {
        report.reject(subschema, "an object must have `properties`");
    }
}

/// Objects below the root must have at least one property.
pub(crate) fn require_nonempty(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let empty = || subschema.properties().is_none_or(|properties| properties.is_empty());
    if !subschema.is_root() && value_types::has_type(subschema, "object") && empty() {
        report.reject(subschema, "a nested object must have at least one property");
    }
}

/// Every property must be required.
pub(crate) fn require_all_required(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let required: HashSet<&str> = subschema.required().collect();
    for name in subschema.property_names().filter(|name| !required.contains(name.as_str())) {
        let name = excerpt(name);
        let rule = format!("`required` must list every property, and `{name}` is missing");
        report.reject(subschema, rule);
    }
}

/// Every required name must be a declared property.
pub(crate) fn require_declared_required(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let properties = subschema.properties();
    for name in subschema.required() {
        if !properties.is_some_and(|properties| properties.contains_key(name)) {
            let name = excerpt(name);
            report.reject(subschema, format!("`required` names `{name}`, which is no property"));
        }
    }
}

/// Properties must be named `[A-Za-z_][A-Za-z0-9_]*`, at most 64 characters.
pub(crate) fn require_identifier_names(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let is_word = |name: &str| {
        name.len() <= 64
            && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    for name in subschema.property_names().filter(|name| !is_word(name)) {
        let name = excerpt(name);
        report.reject(
            subschema,
            format!("the parameter name `{name}` does not match `^[A-Za-z_][A-Za-z0-9_]{{0,63}}$`"),
        );
    }
}
