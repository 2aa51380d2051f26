//! More of a field in, the field as far as it has come out.

use serde_json::{Map, Value};

use crate::limits::MAX_ITEMS;

/// Adds a piece to the reasoning that goes back as a list.
///
/// Texts with the same type and index are one; a signature comes with the last of them.
pub(super) fn merge_reasoning_detail(details: &mut Vec<Value>, piece: Map<String, Value>) {
    let same = |detail: &Value| {
        ["type", "index"]
            .iter()
            .all(|name| detail.get(name) == piece.get(*name))
            && !piece.contains_key("data")
    };
    let open = match piece.get("index") {
        Some(_) => details.iter_mut().rev().find(|detail| same(detail)),
        None => details.last_mut().filter(|detail| same(detail)),
    };
    let Some(Value::Object(open)) = open else {
        // Nobody thinks in so many parts; what is more is not needed to go on.
        if details.len() < MAX_ITEMS {
            details.push(Value::Object(piece));
        }
        return;
    };
    for (name, value) in piece {
        let kept = open.entry(name.as_str()).or_insert(Value::Null);
        if matches!(name.as_str(), "text" | "summary") {
            append_text(kept, value);
        } else if !value.is_null() {
            *kept = value;
        }
    }
}

fn append_text(kept: &mut Value, more: Value) {
    match (kept, more) {
        (Value::String(kept), Value::String(more)) => kept.push_str(&more),
        (kept @ Value::Null, more) => *kept = more,
        _ => {}
    }
}

/// Adds more of a field to what there is, as streams of this protocol are meant to be put together.
pub(super) fn merge_value(kept: &mut Value, more: Value) {
    match (kept, more) {
        (_, Value::Null) => {}
        (Value::String(kept), Value::String(more)) => kept.push_str(&more),
        (Value::Array(kept), Value::Array(more)) => kept.extend(more),
        (Value::Object(kept), Value::Object(more)) => {
            for (name, value) in more {
                let field = kept.entry(name.as_str()).or_insert(Value::Null);
                // Labels are repeated, not continued.
                if matches!(name.as_str(), "id" | "type" | "index") {
                    *field = value;
                } else {
                    merge_value(field, value);
                }
            }
        }
        (kept, more) => *kept = more,
    }
}

pub(super) fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
