//! Every property becomes required; what may be left out may be null instead.

use serde_json::{Map, Value, json};

use super::json_text::kind;
use super::subject::admits_all;
use super::unions::is_null;
use crate::lower::{Draft, Impossible, LIFT, Mark, Severity, Spot, mark};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        if kind(members) == Some("object") {
            require_all(members, spot);
        }
    });
    Ok(())
}

fn require_all(members: &mut Map<String, Value>, spot: &mut Spot) {
    let required = match members.get_mut("required") {
        Some(Value::Array(names)) => std::mem::take(names),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = members.get_mut("properties") else {
        return;
    };
    for (name, part) in properties.iter_mut() {
        if required.iter().any(|other| other == name) {
            continue;
        }
        if let Value::Object(part) = part {
            spot.below("properties", Some(name), |spot| may_be_absent(part, spot));
        }
    }
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let names = Value::from(names);
    members.insert("required".to_owned(), names);
}

/// Lets a property that is to be required be null, for leaving it out.
pub(super) fn may_be_absent(part: &mut Map<String, Value>, spot: &mut Spot) {
    if admits_null(part) {
        // Its own null and the one for leaving it out are the same from now on.
        spot.lose("null", Severity::Note, None);
    } else if let Some(Value::Array(branches)) = part.get_mut("anyOf") {
        branches.push(json!({"type": "null"}));
    } else {
        let mut inner = std::mem::take(part);
        if let Some(told) = inner.shift_remove("description") {
            part.insert("description".to_owned(), told);
        }
        if let Some(Value::Object(marks)) = inner.get_mut(LIFT)
            && let Some(name) = marks.shift_remove("name")
        {
            let own = Map::from_iter([("name".to_owned(), name)]);
            part.insert(LIFT.to_owned(), Value::Object(own));
        }
        let branches = vec![Value::Object(inner), json!({"type": "null"})];
        part.insert("anyOf".to_owned(), Value::Array(branches));
    }
    mark(part, Mark::Absent);
}

fn admits_null(schema: &Map<String, Value>) -> bool {
    match schema.get("anyOf") {
        Some(Value::Array(branches)) => branches.iter().any(is_null),
        _ => kind(schema) == Some("null") || admits_all(schema),
    }
}
