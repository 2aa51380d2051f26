//! Merges the deltas of a message's fields.

use serde_json::Value;

use crate::limits::MAX_ITEMS;
use crate::protocol::json::JsonObject;

/// Adds a delta to `reasoning_details`, which are replayed as a list.
///
/// Deltas with the same type and index are one element; its signature comes with the last of them.
pub(super) fn merge_reasoning_detail(details: &mut Vec<Value>, delta: JsonObject) {
    let same = |detail: &Value| {
        ["type", "index"].iter().all(|name| detail.get(name) == delta.get(*name))
            && !delta.contains_key("data")
    };
    let existing = match delta.get("index") {
        Some(_) => details.iter_mut().rev().find(|detail| same(detail)),
        None => details.last_mut().filter(|detail| same(detail)),
    };
    let Some(Value::Object(existing)) = existing else {
        // No model sends as many; the rest is dropped.
        if details.len() < MAX_ITEMS {
            details.push(Value::Object(delta));
        }
        return;
    };
    for (name, value) in delta {
        let field = existing.entry(name.as_str()).or_insert(Value::Null);
        if matches!(name.as_str(), "text" | "summary") {
            append_text(field, value);
        } else if !value.is_null() {
            *field = value;
        }
    }
}

fn append_text(target: &mut Value, delta: Value) {
    match (target, delta) {
        (Value::String(text), Value::String(delta)) => text.push_str(&delta),
        (target @ Value::Null, delta) => *target = delta,
        _ => {}
    }
}

/// Merges a delta into a field as OpenAI's own clients do: texts and lists are appended, objects merged.
pub(super) fn merge_value(target: &mut Value, delta: Value) {
    match (target, delta) {
        (_, Value::Null) => {}
        (Value::String(text), Value::String(delta)) => text.push_str(&delta),
        (Value::Array(items), Value::Array(delta)) => items.extend(delta),
        (Value::Object(fields), Value::Object(delta)) => {
            for (name, value) in delta {
                let field = fields.entry(name.as_str()).or_insert(Value::Null);
                // Labels are repeated, not continued.
                if matches!(name.as_str(), "id" | "type" | "index") {
                    *field = value;
                } else {
                    merge_value(field, value);
                }
            }
        }
        (target, delta) => *target = delta,
    }
}
