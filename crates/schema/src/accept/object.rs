//! What an object schema must say about its properties.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    kind,
    outline::Place,
    report::{Report, short},
};

/// `additionalProperties: false`.
pub(super) fn is_closed<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if kind::is(place, "object") && place.get("additionalProperties") != Some(&Value::Bool(false)) {
        report.refuse(place, "an object must have `additionalProperties: false`");
    }
}

/// `properties`, though they be empty.
pub(super) fn has_properties<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if kind::is(place, "object") && place.get("properties").is_none() {
        report.refuse(place, "an object must have `properties`");
    }
}

/// At least one property; the root may do without.
pub(super) fn is_not_empty<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let empty = || {
        place
            .properties()
            .is_none_or(|properties| properties.is_empty())
    };
    if !place.is_root() && kind::is(place, "object") && empty() {
        report.refuse(place, "a nested object must have at least one property");
    }
}

/// Every property in `required`.
pub(super) fn requires_all<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let required: HashSet<&str> = place.required().collect();
    let names = place
        .properties()
        .into_iter()
        .flat_map(|properties| properties.keys());
    for name in names.filter(|name| !required.contains(name.as_str())) {
        report.refuse(
            place,
            format!(
                "`required` must list every property, and `{}` is missing",
                short(name)
            ),
        );
    }
}

/// Nothing in `required` that is no property.
pub(super) fn requires_what_exists<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let properties = place.properties();
    for name in place.required() {
        if !properties.is_some_and(|properties| properties.contains_key(name)) {
            report.refuse(
                place,
                format!("`required` names `{}`, which is no property", short(name)),
            );
        }
    }
}

/// Properties named `[A-Za-z_][A-Za-z0-9_]*`, at most 64 characters.
pub(super) fn names_are_words<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let is_word = |name: &str| {
        name.len() <= 64
            && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let names = place
        .properties()
        .into_iter()
        .flat_map(|properties| properties.keys());
    for name in names.filter(|name| !is_word(name)) {
        let name = short(name);
        report.refuse(
            place,
            format!("the parameter name `{name}` does not match `^[A-Za-z_][A-Za-z0-9_]{{0,63}}$`"),
        );
    }
}
