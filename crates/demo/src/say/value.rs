//! JSON in, a line that people read out.

use serde_json::Value;

/// How many fields and elements are told, and how deep.
const MOST: usize = 12;
const DEPTH: usize = 3;

/// Tells a text that is a JSON object or list; nothing if it is plain text.
pub(super) fn told(text: &str) -> Option<String> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    Some(line(&value, DEPTH))
}

fn line(value: &Value, depth: usize) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(_) | Value::Object(_) if depth == 0 => "…".to_owned(),
        Value::Array(list) => {
            let told: Vec<String> = list
                .iter()
                .take(MOST)
                .map(|value| line(value, depth - 1))
                .collect();
            let separator = if list.iter().any(Value::is_object) {
                "; "
            } else {
                ", "
            };
            shortened(told.join(separator), list.len())
        }
        Value::Object(fields) => {
            let told = fields.iter().take(MOST);
            let told: Vec<String> = told
                .map(|(name, value)| {
                    format!("{} {}", name.replace('_', " "), line(value, depth - 1))
                })
                .collect();
            shortened(told.join(", "), fields.len())
        }
    }
}

fn shortened(told: String, of: usize) -> String {
    match of.checked_sub(MOST) {
        Some(more) if more > 0 => format!("{told} and {more} more"),
        _ => told,
    }
}

/// Joins options: "a, b or c".
pub(super) fn either(options: &[String]) -> String {
    match options {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
