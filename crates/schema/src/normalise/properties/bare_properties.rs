//! Moves parameters that are written in place of keywords into `properties`.
//!
//! To a validator such a name is merely an unknown keyword: the schema would compile and accept anything.

use serde_json::Value;

use crate::normalise::{
    JsonObject, NormaliseResult, Normaliser,
    keyword_table::{IMPLIED_TYPE_KEYWORDS, KeywordValue, keyword_value},
    type_keyword,
    type_names::json_type,
};
use crate::{SchemaError, lower::KeywordLookup};

/// Fields that OpenAPI has on a parameter beside its `schema`.
const OPENAPI_PARAMETER_FIELDS: [&str; 12] = [
    "name", "in", "description", "title", "required", "optional", "deprecated", "example",
    "examples", "style", "explode", "allowReserved",
];

/// Moves parameters into `properties`.
pub(crate) fn collect_bare_properties(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    unwrap_openapi_schema(normaliser, members)?;
    let names = if all_members_are_parameters(members) {
        let parameters = members.iter().filter(|(name, value)| is_parameter(name, value));
        parameters.map(|(name, _)| name.clone()).collect()
    } else if members.contains_key("properties") {
        unwrap_nested_properties(normaliser, members)?;
        return move_stray_properties(normaliser, members);
    } else if may_be_object(members) {
        find_parameters(normaliser, members)?
    } else {
        Vec::new()
    };
    if names.is_empty() {
        return reject_unknown_keywords(normaliser, members);
    }
    let mut properties = JsonObject::new();
    for name in names {
        let schema = members.shift_remove(&name).unwrap_or_default();
        normaliser.add_fix(format!("`{name}` read as a property"));
        properties.insert(name, schema);
    }
    if !members.contains_key("type") {
        members.insert("type".to_owned(), Value::from("object"));
    }
    members.insert("properties".to_owned(), Value::Object(properties));
    Ok(())
}

/// A schema without any known keyword accepts everything, which is not what its author intended.
fn reject_unknown_keywords(normaliser: &Normaliser, members: &JsonObject) -> NormaliseResult {
    let effective = || members.iter().filter(|(name, value)| has_effect(name, value));
    match effective().next() {
        Some((first, _)) if effective().all(|(name, _)| keyword_value(name).is_none()) => {
            Err(unknown_keyword_error(normaliser, first))
        }
        _ => Ok(()),
    }
}

/// The error that names the place where a parameter belongs.
pub(crate) fn unknown_keyword_error(normaliser: &Normaliser, name: &str) -> SchemaError {
    let message = format!("`{name}` is no keyword; a parameter belongs in `properties`");
    normaliser.error_at(name, message)
}

/// OpenAPI wraps the schema of a parameter: `{"name": …, "in": "query", "schema": {…}}`.
fn unwrap_openapi_schema(normaliser: &mut Normaliser, members: &mut JsonObject) -> NormaliseResult {
    let is_field = |key: &str| key == "schema" || OPENAPI_PARAMETER_FIELDS.contains(&key);
    let wraps = members.object("schema").is_some() && members.keys().all(|key| is_field(key));
    if wraps && let Some(Value::Object(inner)) = members.shift_remove("schema") {
        normaliser.add_fix("`schema` read as the schema itself");
        // These describe the transport of the parameter, not its values.
        for keyword in ["name", "in", "style", "explode", "allowReserved"] {
            members.shift_remove(keyword);
        }
        merge_inner_schema(normaliser, members, inner, "schema")?;
    }
    Ok(())
}

/// `"properties": {"type": "object", "properties": {…}}`
fn unwrap_nested_properties(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    let Some(Value::Object(inner)) = members.get("properties") else {
        return Ok(());
    };
    if inner.text("type").and_then(json_type) == Some("object")
        && inner.get("properties").is_some_and(Value::is_object)
        && inner.keys().all(|key| keyword_value(key).is_some())
        && let Some(Value::Object(mut inner)) = members.shift_remove("properties")
    {
        normaliser.add_fix("`properties` read as the object it holds");
        if members.contains_key("type") {
            inner.shift_remove("type");
        }
        merge_inner_schema(normaliser, members, inner, "properties")?;
    }
    Ok(())
}

/// Merges the inner schema; of two descriptions the outer one stays.
fn merge_inner_schema(
    normaliser: &Normaliser,
    members: &mut JsonObject,
    inner: JsonObject,
    keyword_path: &str,
) -> NormaliseResult {
    for (keyword, value) in inner {
        match members.get(&keyword) {
            None => {
                members.insert(keyword, value);
            }
            Some(outer)
                if *outer == value || keyword_value(&keyword) == Some(KeywordValue::Prose) => {}
            Some(_) => {
                let message = format!("repeats `{keyword}` of the schema around it");
                return Err(normaliser.error_at(keyword_path, message));
            }
        }
    }
    Ok(())
}

/// An unknown keyword that the object requires must be one of its properties; any other is ambiguous.
fn move_stray_properties(normaliser: &mut Normaliser, members: &mut JsonObject) -> NormaliseResult {
    for name in stray_members(members) {
        let required = members.required_names().any(|known| known == name);
        let properties = members.object("properties");
        let fresh = properties.is_some_and(|properties| !properties.contains_key(&name));
        if !required || !fresh {
            return Err(unknown_keyword_error(normaliser, &name));
        }
        let schema = members.shift_remove(&name).unwrap_or_default();
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            normaliser.add_fix(format!("`{name}` read as a property: it is required"));
            properties.insert(name, schema);
        }
    }
    Ok(())
}

/// Returns true if every member is a parameter: `{"city": {"type": "string"}, "days": "int"}`.
fn all_members_are_parameters(members: &JsonObject) -> bool {
    let mut effective = members.iter().filter(|(name, value)| has_effect(name, value));
    effective.all(|(name, value)| is_parameter(name, value))
        && !members.keys().all(|name| may_hold_schema(name))
}

/// Returns true if an object is a valid value of the keyword.
fn may_hold_schema(name: &str) -> bool {
    keyword_value(name).is_some_and(|holds| holds.is_schema() || holds == KeywordValue::AnyValue)
}

/// A keyword that holds null will be dropped.
fn has_effect(name: &str, value: &Value) -> bool {
    keyword_value(name).is_none() || !value.is_null()
}

fn is_parameter(name: &str, value: &Value) -> bool {
    match (keyword_value(name), value) {
        (None, Value::Object(_) | Value::Null) => true,
        (None | Some(KeywordValue::Schema), Value::String(word)) => {
            type_keyword::is_type_expression(word)
        }
        (Some(_), Value::Object(schema)) => {
            looks_like_schema(name, schema) || schema.contains_key("description")
        }
        _ => false,
    }
}

/// Finds parameters among keywords: if there is one, every unknown keyword has to be a parameter too.
fn find_parameters(normaliser: &Normaliser, members: &JsonObject) -> NormaliseResult<Vec<String>> {
    let mut names = stray_members(members);
    if names.is_empty() {
        return Ok(names);
    }
    for (name, value) in members {
        let is_type = || value.as_str().is_some_and(type_keyword::is_type_expression);
        match keyword_value(name) {
            None if names.contains(name) => {}
            None if is_parameter(name, value) => names.push(name.clone()),
            None => return Err(unknown_keyword_error(normaliser, name)),
            // `"title": "string"` may be a parameter like its neighbours.
            Some(KeywordValue::Prose) if !members.contains_key("type") && is_type() => {
                return Err(normaliser.error_at(name, "text for readers, or a parameter?"));
            }
            Some(_) => {}
        }
    }
    Ok(names)
}

/// Returns true if a schema without `properties` may be an object.
fn may_be_object(members: &JsonObject) -> bool {
    let names_object = |word: &Value| word.as_str().and_then(json_type) == Some("object");
    match members.get("type") {
        Some(Value::Array(words)) => words.iter().any(names_object),
        Some(word) => names_object(word),
        None => !members.has_any_keyword(&IMPLIED_TYPE_KEYWORDS),
    }
}

/// JsonObject that are not keywords, or not with such a value, and that look like schemas.
fn stray_members(members: &JsonObject) -> Vec<String> {
    // A plain word may be a custom annotation: `"widget": "text"`.
    let is_stray = |name: &str, value: &Value| {
        let schema = value.as_object().filter(|_| !may_hold_schema(name));
        schema.is_some_and(|schema| looks_like_schema(name, schema))
    };
    let strays = members.iter().filter(|(name, value)| is_stray(name, value));
    strays.map(|(name, _)| name.clone()).collect()
}

/// Returns true if a member must be a schema.
fn looks_like_schema(name: &str, members: &JsonObject) -> bool {
    let names_type = match members.get("type") {
        Some(Value::String(word)) => type_keyword::is_type_expression(word),
        Some(Value::Array(_)) => true,
        _ => false,
    };
    // These hold properties by name, and one may be called `enum`.
    if matches!(name, "dependencies" | "dependentRequired" | "defs") {
        return names_type && members.contains_key("description");
    }
    names_type
        || members.text("$ref").is_some()
        || members.object("properties").is_some()
        || ["enum", "anyOf", "oneOf", "allOf"].iter().any(|union| members.list(union).is_some())
}
