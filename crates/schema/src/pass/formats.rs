//! Formats and patterns that a dialect does not read, told in words.

use serde_json::{Map, Value};

use super::words::words;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Severity, Spot, describe};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["format", "pattern"]) {
        return Ok(());
    }
    let rules = draft.rules;
    let reads_patterns = rules.keywords.is_some() && rules.keeps("pattern");
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        if let Some(known) = rules.formats
            && members.has("format")
            && !is_read(members, known)
            && let Some(format) = members.take_out("format")
        {
            give_up(members, &format, spot);
        }
        if reads_patterns
            && let Some(Value::String(pattern)) = members.find("pattern")
            && looks_around(pattern)
            && let Some(pattern) = members.take_out("pattern")
            && let Some(words) = words("pattern", &pattern)
        {
            spot.spill(members, "pattern", words);
        }
    });
    Ok(())
}

fn is_read(schema: &Map<String, Value>, known: &[&str]) -> bool {
    let Some(Value::String(format)) = schema.find("format") else {
        return false;
    };
    let fits = match schema.find("type").and_then(Value::as_str) {
        Some("string") => !of_numbers(format),
        Some("integer" | "number") => of_numbers(format),
        _ => true,
    };
    fits && known.contains(&format.as_str())
}

/// Tells of a format that was taken out of a schema.
///
/// A format that no validator checks costs nothing; one of numbers is not even worth words, because schemars writes it
/// beside the bounds that it stands for.
pub(super) fn give_up(schema: &mut Map<String, Value>, format: &Value, spot: &mut Spot<'_>) {
    let Some(name) = format.as_str() else {
        return;
    };
    let is_text = !matches!(schema.find("type"), Some(Value::String(kind)) if kind != "string");
    if !is_text || of_numbers(name) {
        return;
    }
    let Some(words) = words("format", format) else {
        return;
    };
    if is_checked(name) {
        spot.spill(schema, "format", words);
    } else {
        describe(schema, &words);
        spot.lose("format", Severity::Note, Some(words));
    }
}

fn of_numbers(format: &str) -> bool {
    matches!(
        format,
        "double"
            | "float"
            | "int"
            | "int8"
            | "int16"
            | "int32"
            | "int64"
            | "int128"
            | "uint"
            | "uint8"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uint128"
    )
}

/// Whether the validator of canonical schemas refuses text that is not in this format.
fn is_checked(format: &str) -> bool {
    matches!(
        format,
        "date"
            | "date-time"
            | "duration"
            | "email"
            | "hostname"
            | "idn-email"
            | "idn-hostname"
            | "ipv4"
            | "ipv6"
            | "iri"
            | "iri-reference"
            | "json-pointer"
            | "regex"
            | "relative-json-pointer"
            | "time"
            | "uri"
            | "uri-reference"
            | "uri-template"
            | "uuid"
    )
}

/// Whether a pattern needs more than an automaton: look-around, or a reference to what it matched before.
pub(super) fn looks_around(pattern: &str) -> bool {
    let mut rest = pattern;
    let mut within_class = false;
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '\\' => {
                let Some(escaped) = rest.chars().next() else {
                    return false;
                };
                if !within_class && (('1'..='9').contains(&escaped) || rest.starts_with("k<")) {
                    return true;
                }
                rest = rest.get(escaped.len_utf8()..).unwrap_or_default();
            }
            '[' => within_class = true,
            ']' => within_class = false,
            '(' if !within_class => {
                let ahead = ["?=", "?!", "?<=", "?<!"];
                if ahead.iter().any(|start| rest.starts_with(start)) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
