//! Gemini writes properties in alphabetic order unless it is told theirs.

use serde_json::Value;

use crate::lower::{Draft, Impossible, Lookup, LookupMut, Seen};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    draft.walk(|schema, _| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(Value::Object(properties)) = members.find("properties") else {
            return;
        };
        if properties.len() > 1 {
            let names: Vec<&str> = properties.keys().map(String::as_str).collect();
            let names = Value::from(names);
            members.put("propertyOrdering", names);
        }
    });
    draft.adds(Seen::OTHER);
    Ok(())
}
