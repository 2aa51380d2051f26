//! Every property becomes required; what may be left out may be null instead.

use serde_json::{Map, Value, json};

use super::json_text::kind;
use super::subject::admits_all;
use super::unions::is_null;
use crate::lower::{
    Draft, Impossible, LIFT, Lookup, LookupMut, Mark, Part, Seen, Severity, Spot, mark,
};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        if kind(members) == Some("object") {
            require_all(members, spot);
        }
    });
    draft.adds(Seen::of(&["anyOf"]).or(Seen::NULL));
    Ok(())
}

fn require_all(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let mut required = match members.find_mut("required") {
        Some(Value::Array(names)) => std::mem::take(names),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = members.find_mut("properties") else {
        return;
    };
    for (name, part) in properties.iter_mut() {
        if required.iter().any(|other| other == name) {
            continue;
        }
        if let Value::Object(part) = part {
            may_be_absent(part, &mut spot.below("properties", Part::Named(name)));
        }
    }
    let names = properties.keys().map(|name| {
        let known = required.iter_mut().find(|other| *other == name);
        known.map_or_else(|| Value::from(name.as_str()), Value::take)
    });
    let names = names.collect();
    members.put("required", names);
}

/// Lets a property that is to be required be null, for leaving it out.
pub(super) fn may_be_absent(part: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    if admits_null(part) {
        // Its own null and the one for leaving it out are the same from now on.
        spot.lose("null", Severity::Note, None);
    } else if let Some(Value::Array(branches)) = part.find_mut("anyOf") {
        branches.push(null());
    } else {
        // The description, the branches and a mark.
        let mut inner = std::mem::replace(part, Map::with_capacity(3));
        if let Some((keyword, told)) = inner.shift_remove_entry("description") {
            part.insert(keyword, told);
        }
        if let Some(Value::Object(marks)) = inner.find_mut(LIFT)
            && let Some(name) = marks.take_out("name")
        {
            let own = Map::from_iter([("name".to_owned(), name)]);
            part.put(LIFT, Value::Object(own));
        }
        let branches = vec![Value::Object(inner), null()];
        part.put("anyOf", Value::Array(branches));
    }
    mark(part, Mark::Absent);
}

fn null() -> Value {
    json!({"type": "null"})
}

fn admits_null(schema: &Map<String, Value>) -> bool {
    match schema.find("anyOf") {
        Some(Value::Array(branches)) => branches.iter().any(is_null),
        _ => kind(schema) == Some("null") || admits_all(schema),
    }
}
