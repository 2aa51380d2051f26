//! Moves formats and patterns that a dialect does not support into the description.

use serde_json::{Map, Value};

use crate::lower::pass::describe::describe_keyword;
use crate::lower::{
    KeywordLookup, KeywordLookupMut, LowerError, LoweringState, SchemaCursor, Severity,
    append_to_description,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["format", "pattern"]) {
        return Ok(());
    }
    let rules = state.rules;
    let reads_patterns = rules.keywords.is_some() && rules.allows_keyword("pattern");
    state.visit_top_down(|schema, cursor| {
        let Value::Object(members) = schema else {
            return;
        };
        if let Some(supported) = rules.formats
            && members.has_keyword("format")
            && !is_supported(members, supported)
            && let Some(format) = members.remove_keyword("format")
        {
            move_format_to_description(members, &format, cursor);
        }
        if reads_patterns
            && let Some(Value::String(pattern)) = members.keyword("pattern")
            && needs_backtracking(pattern)
            && let Some(pattern) = members.remove_keyword("pattern")
            && let Some(words) = describe_keyword("pattern", &pattern)
        {
            cursor.move_to_description(members, "pattern", words);
        }
    });
    Ok(())
}

fn is_supported(schema: &Map<String, Value>, supported: &[&str]) -> bool {
    let Some(Value::String(format)) = schema.keyword("format") else {
        return false;
    };
    let fits = match schema.keyword("type").and_then(Value::as_str) {
        Some("string") => !is_numeric_format(format),
        Some("integer" | "number") => is_numeric_format(format),
        _ => true,
    };
    fits && supported.contains(&format.as_str())
}

/// Describes a format that was removed from a schema.
///
/// Not a loss if no validator checks the format. Formats of numbers are not even described, because schemars writes them
/// beside the bounds that they imply.
pub(crate) fn move_format_to_description(
    schema: &mut Map<String, Value>,
    format: &Value,
    cursor: &mut SchemaCursor<'_>,
) {
    let Some(name) = format.as_str() else {
        return;
    };
    let is_text =
        !matches!(schema.keyword("type"), Some(Value::String(json_type)) if json_type != "string");
    if !is_text || is_numeric_format(name) {
        return;
    }
    let Some(words) = describe_keyword("format", format) else {
        return;
    };
    if is_validated_format(name) {
        cursor.move_to_description(schema, "format", words);
    } else {
        append_to_description(schema, &words);
        cursor.report_loss("format", Severity::Note, Some(words));
    }
}

fn is_numeric_format(format: &str) -> bool {
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

/// Returns true if the validator checks this format.
fn is_validated_format(format: &str) -> bool {
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

/// Returns true if a pattern needs backtracking: look-around, or a back-reference.
pub(crate) fn needs_backtracking(pattern: &str) -> bool {
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
