//! Makes `required` a list of names, whatever form it was written in.

use std::collections::HashSet;

use serde_json::Value;

use crate::lower::KeywordLookup;
use crate::normalise::{JsonObject, NormaliseResult, Normaliser};

/// Makes `required` a list of names.
pub(crate) fn normalise_required(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    let Some(given) = members.get("required") else {
        return Ok(());
    };
    let names = match given {
        Value::Array(names) => match deduplicated_names(normaliser, names)? {
            None => return Ok(()),
            Some(names) => names,
        },
        Value::Null => Vec::new(),
        Value::String(text) => split_names(members, text),
        Value::Object(flags) if flags.values().all(Value::is_boolean) => {
            let required = flags.iter().filter(|(_, is_required)| **is_required == true);
            required.map(|(name, _)| name.clone()).collect()
        }
        other => return Err(normaliser.expected("required", "a list of names", other)),
    };
    let shown = match given {
        Value::Array(_) | Value::Object(_) => given.to_string(),
        _ => normaliser.excerpt(given),
    };
    if names.is_empty() {
        normaliser.add_fix(format!("`required: {shown}` dropped"));
        members.shift_remove("required");
    } else {
        let names = Value::from(names);
        normaliser.add_fix(format!("`required: {shown}` read as {names}"));
        members.insert("required".to_owned(), names);
    }
    Ok(())
}

/// Drops `optional`, the list of optional names: properties are optional by default.
pub(crate) fn drop_optional_list(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    let Some(given) = members.shift_remove("optional") else {
        return Ok(());
    };
    let names: Vec<&Value> = match &given {
        Value::Null => Vec::new(),
        Value::String(name) if is_property(members, name) => vec![&given],
        Value::Array(names) if names.iter().all(Value::is_string) => names.iter().collect(),
        other => {
            let wanted = "true, false or a list of names";
            return Err(normaliser.expected("optional", wanted, other));
        }
    };
    let required: HashSet<&Value> = members.list("required").into_iter().flatten().collect();
    if let Some(name) = names.iter().find(|name| required.contains(**name)) {
        let message = format!("{name} is `required` too");
        return Err(normaliser.error_at("optional", message));
    }
    normaliser.add_fix("`optional` dropped: what is not `required` is optional");
    Ok(())
}

/// Checks that a list holds names; returns the list without duplicates if it has any.
fn deduplicated_names(
    normaliser: &Normaliser,
    names: &[Value],
) -> NormaliseResult<Option<Vec<String>>> {
    let mut seen = HashSet::with_capacity(names.len());
    for name in names {
        let Some(text) = name.as_str() else {
            let shown = normaliser.excerpt(name);
            let message = format!("expected a list of names, but {shown} is none");
            return Err(normaliser.error_at("required", message));
        };
        seen.insert(text);
    }
    if seen.len() == names.len() {
        return Ok(None);
    }
    let names = names.iter().filter_map(Value::as_str);
    let once = names.filter(|name| seen.remove(*name));
    Ok(Some(once.map(str::to_owned).collect()))
}

/// One name, or several separated by commas, if all of them are properties.
fn split_names(members: &JsonObject, text: &str) -> Vec<String> {
    let several: Vec<&str> = text.split(',').map(str::trim).collect();
    if text.trim().is_empty() {
        Vec::new()
    } else if several.iter().all(|name| is_property(members, name)) {
        several.into_iter().map(str::to_owned).collect()
    } else {
        vec![text.to_owned()]
    }
}

pub(crate) fn is_property(members: &JsonObject, name: &str) -> bool {
    members.object("properties").is_some_and(|properties| properties.contains_key(name))
}
