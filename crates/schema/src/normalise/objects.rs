//! The properties of an object, in whatever they were put.

use serde_json::Value;

use super::{Members, Outcome, Walker, required, wish};

/// Makes `properties` an object of schemas, mends each, and gathers which of them must be sent.
pub(super) fn mend(walker: &mut Walker, members: &mut Members) -> Outcome {
    make_object(walker, members)?;
    lift_required(walker, members);
    required::make_list(walker, members)?;
    required::drop_optional(walker, members)?;
    let Some(Value::Object(properties)) = members.get_mut("properties") else {
        return Ok(());
    };
    let mut wishes = Vec::new();
    walker.below("properties", |walker| {
        for (name, schema) in properties {
            if let Some(wish) = walker.below(name, |walker| walker.schema(schema))? {
                wishes.push((name.clone(), wish));
            }
        }
        Ok(())
    })?;
    wish::grant(walker, members, wishes);
    Ok(())
}

fn make_object(walker: &mut Walker, members: &mut Members) -> Outcome {
    let Some(given) = members.get_mut("properties") else {
        return Ok(());
    };
    match given {
        Value::Object(_) => {}
        Value::Null => {
            walker.note("`properties: null` read as {}");
            *given = Value::Object(Members::new());
        }
        Value::Array(elements) => {
            let elements = std::mem::take(elements);
            let named = walker.below("properties", |walker| by_name(walker, elements))?;
            walker.note("a list in `properties` read as an object");
            *given = Value::Object(named);
        }
        other => {
            let message = format!("expected an object of schemas, got {}", walker.show(other));
            return Err(walker.error_at("properties", message));
        }
    }
    Ok(())
}

/// `[{"name": "city", "type": "string"}]`, `[{"city": {"type": "string"}}]` or `["city"]` by name.
fn by_name(walker: &mut Walker, elements: Vec<Value>) -> Outcome<Members> {
    let mut named = Members::new();
    for (at, element) in elements.into_iter().enumerate() {
        let at = at.to_string();
        let found = match element {
            Value::String(name) => Some((name, Value::Null)),
            Value::Object(mut members) => match members.get("name") {
                Some(Value::String(name)) => {
                    let name = name.clone();
                    members.shift_remove("name");
                    Some((name, Value::Object(members)))
                }
                _ if members.len() == 1 => {
                    let only = members.into_iter().next();
                    only.filter(|(_, schema)| schema.is_object())
                }
                _ => None,
            },
            _ => None,
        };
        match found {
            Some((name, _)) if named.contains_key(&name) => {
                let message = format!("`{name}` is named twice");
                return Err(walker.error_at(&at, message));
            }
            Some((name, schema)) => named.insert(name, schema),
            None => return Err(walker.error_at(&at, "a property without a `name`")),
        };
    }
    Ok(named)
}

/// `"properties": {"city": {…}, "required": ["city"]}`
fn lift_required(walker: &mut Walker, members: &mut Members) {
    if members.contains_key("required") {
        return;
    }
    let Some(Value::Object(properties)) = members.get_mut("properties") else {
        return;
    };
    let is_property = |name: &Value| {
        name.as_str()
            .is_some_and(|name| properties.contains_key(name))
    };
    if let Some(Value::Array(names)) = properties.get("required")
        && names.iter().all(is_property)
        && let Some(names) = properties.shift_remove("required")
    {
        walker.note("`required` stood in `properties`: read as the list of the object");
        members.insert("required".to_owned(), names);
    }
}
