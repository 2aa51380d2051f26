//! What a regular expression may use.

use std::iter::Peekable;

use serde_json::{Value, json};

use super::{outline::Place, report::Report};

/// A regular expression that looks neither ahead nor behind.
pub(super) fn is_plain<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let Some(pattern) = place.get("pattern").and_then(Value::as_str) else {
        return;
    };
    if looks_around(pattern) {
        report.refuse(place, "look-around is not accepted in `pattern`");
    } else if jsonschema::draft202012::new(&json!({"pattern": pattern})).is_err() {
        report.refuse(place, "`pattern` is not a regular expression");
    }
}

/// Whether `(?=`, `(?!`, `(?<=` or `(?<!` stands outside of classes and escapes.
fn looks_around(pattern: &str) -> bool {
    let mut letters = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && take(&mut letters, '?') => {
                take(&mut letters, '<');
                if matches!(letters.peek(), Some('=' | '!')) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn take(letters: &mut Peekable<impl Iterator<Item = char>>, wanted: char) -> bool {
    letters.next_if_eq(&wanted).is_some()
}
