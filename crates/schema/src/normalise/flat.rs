//! Parameters that stand where only keywords may stand.
//!
//! To a validator such a word is merely unknown: the schema would compile, and ask for nothing.

use serde_json::Value;

use super::{
    Members, Outcome, Walker, kinds,
    vocabulary::{Holds, INSTEAD_OF_TYPE, holds},
    words::{Kind, kind},
};
use crate::SchemaError;

/// What OpenAPI says of a parameter beside its `schema`.
const BESIDE_SCHEMA: [&str; 12] = [
    "name",
    "in",
    "description",
    "title",
    "required",
    "optional",
    "deprecated",
    "example",
    "examples",
    "style",
    "explode",
    "allowReserved",
];

/// Puts parameters where they belong: in `properties`.
pub(super) fn gather(walker: &mut Walker, members: &mut Members) -> Outcome {
    unwrap_schema(walker, members)?;
    let names = if is_all_parameters(members) {
        let each = members.iter();
        let parameters = each.filter(|(name, value)| is_parameter(name, value));
        parameters.map(|(name, _)| name.clone()).collect()
    } else if members.contains_key("properties") {
        unwrap_doubled(walker, members)?;
        return beside_properties(walker, members);
    } else if is_object(members) {
        parameters_among(walker, members)?
    } else {
        Vec::new()
    };
    if names.is_empty() {
        return refuse_nonsense(walker, members);
    }
    let mut properties = Members::new();
    for name in names {
        let schema = members.shift_remove(&name).unwrap_or_default();
        walker.note(format!("`{name}` read as a property"));
        properties.insert(name, schema);
    }
    if !members.contains_key("type") {
        members.insert("type".to_owned(), Value::from("object"));
    }
    members.insert("properties".to_owned(), Value::Object(properties));
    Ok(())
}

/// A schema without a single known word asks for nothing; that cannot be what it was written for.
fn refuse_nonsense(walker: &Walker, members: &Members) -> Outcome {
    let said = || {
        members
            .iter()
            .filter(|(name, value)| says_something(name, value))
    };
    match said().next() {
        Some((first, _)) if said().all(|(name, _)| holds(name).is_none()) => {
            Err(no_keyword(walker, first))
        }
        _ => Ok(()),
    }
}

/// Says where a parameter belongs.
pub(super) fn no_keyword(walker: &Walker, name: &str) -> SchemaError {
    let message = format!("`{name}` is no keyword; a parameter belongs in `properties`");
    walker.error_at(name, message)
}

/// OpenAPI wraps the schema of a parameter: `{"name": …, "in": "query", "schema": {…}}`.
fn unwrap_schema(walker: &mut Walker, members: &mut Members) -> Outcome {
    let wraps = matches!(members.get("schema"), Some(Value::Object(_)))
        && members
            .keys()
            .all(|key| key == "schema" || BESIDE_SCHEMA.contains(&key.as_str()));
    if wraps && let Some(Value::Object(inner)) = members.shift_remove("schema") {
        walker.note("`schema` read as the schema itself");
        // These say how the parameter travels, not what it is.
        for keyword in ["name", "in", "style", "explode", "allowReserved"] {
            members.shift_remove(keyword);
        }
        merge(walker, members, inner, "schema")?;
    }
    Ok(())
}

/// `"properties": {"type": "object", "properties": {…}}`
fn unwrap_doubled(walker: &mut Walker, members: &mut Members) -> Outcome {
    let Some(Value::Object(inner)) = members.get("properties") else {
        return Ok(());
    };
    let names_object = inner
        .get("type")
        .and_then(Value::as_str)
        .is_some_and(|word| kind(word) == Some(Kind::Object));
    if names_object
        && inner.get("properties").is_some_and(Value::is_object)
        && inner.keys().all(|key| holds(key).is_some())
        && let Some(Value::Object(mut inner)) = members.shift_remove("properties")
    {
        walker.note("`properties` read as the object it holds");
        if members.contains_key("type") {
            inner.shift_remove("type");
        }
        merge(walker, members, inner, "properties")?;
    }
    Ok(())
}

/// Adds what the inner schema says; of two descriptions the outer one stays.
fn merge(walker: &Walker, members: &mut Members, inner: Members, place: &str) -> Outcome {
    for (keyword, value) in inner {
        match members.get(&keyword) {
            None => {
                members.insert(keyword, value);
            }
            Some(outer) if *outer == value || holds(&keyword) == Some(Holds::Prose) => {}
            Some(_) => {
                let message = format!("says `{keyword}`, and so does the schema around it");
                return Err(walker.error_at(place, message));
            }
        }
    }
    Ok(())
}

/// A stray that the object requires is surely one of its properties; any other might be anything.
fn beside_properties(walker: &mut Walker, members: &mut Members) -> Outcome {
    for name in strays(members) {
        let required = members
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.iter().any(|known| known.as_str() == Some(&name)));
        let fresh = members
            .get("properties")
            .and_then(Value::as_object)
            .is_some_and(|properties| !properties.contains_key(&name));
        if !required || !fresh {
            return Err(no_keyword(walker, &name));
        }
        let schema = members.shift_remove(&name).unwrap_or_default();
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            walker.note(format!("`{name}` read as a property: it is required"));
            properties.insert(name, schema);
        }
    }
    Ok(())
}

/// Whether every member is a parameter: `{"city": {"type": "string"}, "days": "int"}`.
fn is_all_parameters(members: &Members) -> bool {
    let is_keyword = |name: &String| {
        matches!(
            holds(name),
            Some(Holds::Schema | Holds::Schemas | Holds::Named | Holds::Free)
        )
    };
    let mut said = members
        .iter()
        .filter(|(name, value)| says_something(name, value));
    said.all(|(name, value)| is_parameter(name, value)) && !members.keys().all(is_keyword)
}

/// A keyword that holds null will be dropped.
fn says_something(name: &str, value: &Value) -> bool {
    holds(name).is_none() || !value.is_null()
}

fn is_parameter(name: &str, value: &Value) -> bool {
    match (holds(name), value) {
        (None, Value::Object(_) | Value::Null) => true,
        (None | Some(Holds::Schema), Value::String(word)) => kinds::is_type(word),
        (Some(_), Value::Object(schema)) => {
            is_schema(name, schema) || schema.contains_key("description")
        }
        _ => false,
    }
}

/// Parameters among keywords: where there is one, every word that is no keyword has to be another.
fn parameters_among(walker: &Walker, members: &Members) -> Outcome<Vec<String>> {
    let mut names = strays(members);
    if names.is_empty() {
        return Ok(names);
    }
    for (name, value) in members {
        let is_type = || value.as_str().is_some_and(kinds::is_type);
        match holds(name) {
            None if names.contains(name) => {}
            None if is_parameter(name, value) => names.push(name.clone()),
            None => return Err(no_keyword(walker, name)),
            // `"title": "string"` may be a parameter like its neighbours.
            Some(Holds::Prose) if !members.contains_key("type") && is_type() => {
                return Err(walker.error_at(name, "text for readers, or a parameter?"));
            }
            Some(_) => {}
        }
    }
    Ok(names)
}

/// Whether a schema without `properties` may still be meant as an object.
fn is_object(members: &Members) -> bool {
    match members.get("type") {
        Some(Value::String(word)) => kind(word) == Some(Kind::Object),
        Some(Value::Array(words)) => words
            .iter()
            .any(|word| word.as_str().and_then(kind) == Some(Kind::Object)),
        Some(_) => false,
        None => !INSTEAD_OF_TYPE
            .iter()
            .any(|keyword| members.contains_key(*keyword)),
    }
}

/// Members that no dialect knows as keywords, or not with such a value, and that look like schemas.
fn strays(members: &Members) -> Vec<String> {
    let is_stray = |name: &str, value: &Value| match (holds(name), value) {
        (Some(Holds::Schema | Holds::Schemas | Holds::Named | Holds::Free), _) => false,
        (_, Value::Object(schema)) => is_schema(name, schema),
        // A bare word may be a note of somebody's own: `"widget": "text"`.
        _ => false,
    };
    let strays = members.iter().filter(|(name, value)| is_stray(name, value));
    strays.map(|(name, _)| name.clone()).collect()
}

/// Whether a member holds what must be a schema.
fn is_schema(name: &str, members: &Members) -> bool {
    let names_type = match members.get("type") {
        Some(Value::String(word)) => kinds::is_type(word),
        Some(Value::Array(_)) => true,
        _ => false,
    };
    // These hold properties by name, and `enum` is as good a name as any.
    if matches!(name, "dependencies" | "dependentRequired" | "defs") {
        return names_type && members.contains_key("description");
    }
    names_type
        || members.get("$ref").is_some_and(Value::is_string)
        || members.get("properties").is_some_and(Value::is_object)
        || ["enum", "anyOf", "oneOf", "allOf"]
            .iter()
            .any(|keyword| members.get(*keyword).is_some_and(Value::is_array))
}
