//! Makes `properties` an object of schemas, whatever form it was written in.

use serde_json::Value;

use crate::normalise::{JsonObject, NormaliseResult, Normaliser, required_flag, required_list};

/// Normalises `properties` and each of the schemas, and collects the required flags.
pub(crate) fn normalise_properties(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    properties_to_object(normaliser, members)?;
    move_required_out(normaliser, members);
    required_list::normalise_required(normaliser, members)?;
    required_list::drop_optional_list(normaliser, members)?;
    let Some(Value::Object(properties)) = members.get_mut("properties") else {
        return Ok(());
    };
    let mut flags = Vec::new();
    normaliser.with_path_segment("properties", |normaliser| {
        for (name, schema) in properties {
            let flag = normaliser
                .with_path_segment(name, |normaliser| normaliser.normalise_schema(schema))?;
            flags.extend(flag.map(|flag| (name.clone(), flag)));
        }
        Ok(())
    })?;
    required_flag::apply_required_flags(normaliser, members, flags);
    Ok(())
}

fn properties_to_object(normaliser: &mut Normaliser, members: &mut JsonObject) -> NormaliseResult {
    match members.get_mut("properties") {
        None | Some(Value::Object(_)) => {}
        Some(given @ Value::Null) => {
            normaliser.add_fix("`properties: null` read as {}");
            *given = Value::Object(JsonObject::new());
        }
        Some(given @ Value::Array(_)) => {
            let elements = given.as_array_mut().map(std::mem::take).unwrap_or_default();
            let named = normaliser.with_path_segment("properties", |normaliser| {
                properties_from_list(normaliser, elements)
            })?;
            normaliser.add_fix("a list in `properties` read as an object");
            *given = Value::Object(named);
        }
        Some(other) => {
            return Err(normaliser.expected("properties", "an object of schemas", other));
        }
    }
    Ok(())
}

/// `[{"name": "city", "type": "string"}]`, `[{"city": {"type": "string"}}]` or `["city"]` by name.
fn properties_from_list(
    normaliser: &mut Normaliser,
    elements: Vec<Value>,
) -> NormaliseResult<JsonObject> {
    let mut named = JsonObject::new();
    for (at, element) in elements.into_iter().enumerate() {
        let at = at.to_string();
        let found = match element {
            Value::String(name) => Some((name, Value::Null)),
            Value::Object(mut members) => match members.get("name").cloned() {
                Some(Value::String(name)) => {
                    members.shift_remove("name");
                    Some((name, Value::Object(members)))
                }
                _ if members.len() == 1 => {
                    members.into_iter().next().filter(|(_, schema)| schema.is_object())
                }
                _ => None,
            },
            _ => None,
        };
        match found {
            Some((name, _)) if named.contains_key(&name) => {
                let message = format!("`{name}` is named twice");
                return Err(normaliser.error_at(&at, message));
            }
            Some((name, schema)) => named.insert(name, schema),
            None => return Err(normaliser.error_at(&at, "a property without a `name`")),
        };
    }
    Ok(named)
}

/// `"properties": {"city": {…}, "required": ["city"]}`
fn move_required_out(normaliser: &mut Normaliser, members: &mut JsonObject) {
    if members.contains_key("required") {
        return;
    }
    let Some(Value::Object(properties)) = members.get_mut("properties") else {
        return;
    };
    let is_property =
        |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
    if let Some(Value::Array(names)) = properties.get("required")
        && names.iter().all(is_property)
        && let Some(names) = properties.shift_remove("required")
    {
        normaliser.add_fix("`required` stood in `properties`: read as the list of the object");
        members.insert("required".to_owned(), names);
    }
}
