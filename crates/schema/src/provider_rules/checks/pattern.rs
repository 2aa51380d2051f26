//! Checks of regular expressions.

use serde_json::{Value, json};

use crate::provider_rules::{report::Report, subschemas::Subschema};

/// A regular expression may not use look-around.
pub(crate) fn forbid_lookaround(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let Some(pattern) = subschema.get("pattern").and_then(Value::as_str) else {
        return;
    };
    if uses_lookaround(pattern) {
        report.reject(subschema, "look-around is not accepted in `pattern`");
    } else if jsonschema::draft202012::new(&json!({"pattern": pattern})).is_err() {
        report.reject(subschema, "`pattern` is not a regular expression");
    }
}

/// Returns true if `(?=`, `(?!`, `(?<=` or `(?<!` occurs outside of classes and escapes.
fn uses_lookaround(pattern: &str) -> bool {
    let mut letters = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && letters.next_if_eq(&'?').is_some() => {
                letters.next_if_eq(&'<');
                if matches!(letters.peek(), Some('=' | '!')) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
