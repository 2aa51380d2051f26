//! Moves formats and patterns that a dialect does not support into the description.

use serde_json::Value;

use crate::lower::pass::describe::describe_keyword;
use crate::lower::{
    JsonObject, KeywordLookup, LowerError, LoweringState, SchemaCursor, Severity,
    append_to_description,
};

/// The formats that the validator checks.
const VALIDATED_FORMATS: [&str; 19] = [
    "date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4",
    "ipv6", "iri", "iri-reference", "json-pointer", "regex", "relative-json-pointer", "time",
    "uri", "uri-reference", "uri-template", "uuid",
];

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["format", "pattern"]) {
        return Ok(());
    }
    let rules = state.rules;
    let reads_patterns = rules.keywords.is_some() && rules.allows_keyword("pattern");
    state.visit_top_down(|members, cursor| {
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

fn is_supported(schema: &JsonObject, supported: &[&str]) -> bool {
    schema.text("format").is_some_and(|format| {
        let fits = match schema.text("type") {
            Some("string") => !is_numeric_format(format),
            Some("integer" | "number") => is_numeric_format(format),
            _ => true,
        };
        fits && supported.contains(&format)
    })
}

/// Describes a format that was removed from a schema.
///
/// Not a loss if no validator checks the format. Formats of numbers are not even described, because schemars writes them
/// beside the bounds that they imply.
pub(crate) fn move_format_to_description(
    schema: &mut JsonObject,
    format: &Value,
    cursor: &mut SchemaCursor<'_>,
) {
    let Some(name) = format.as_str() else {
        return;
    };
    let is_text = schema.text("type").is_none_or(|json_type| json_type == "string");
    if !is_text || is_numeric_format(name) {
        return;
    }
    if let Some(words) = describe_keyword("format", format) {
        append_to_description(schema, &words);
        let validated = VALIDATED_FORMATS.contains(&name);
        let severity = if validated { Severity::Wider } else { Severity::Note };
        cursor.report_loss("format", severity, Some(words));
    }
}

fn is_numeric_format(format: &str) -> bool {
    let integer = format.strip_prefix('u').unwrap_or(format).strip_prefix("int");
    matches!(format, "double" | "float")
        || matches!(integer, Some("" | "8" | "16" | "32" | "64" | "128"))
}

/// Returns true if a pattern needs backtracking: look-around, or a back-reference.
pub(crate) fn needs_backtracking(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    let mut within_class = false;
    while let Some(letter) = letters.next() {
        let follows = |starts: &[&str]| {
            !within_class && starts.iter().any(|start| letters.as_str().starts_with(start))
        };
        match letter {
            '\\' if follows(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "k<"]) => return true,
            '\\' => drop(letters.next()),
            '[' => within_class = true,
            ']' => within_class = false,
            '(' if follows(&["?=", "?!", "?<=", "?<!"]) => return true,
            _ => {}
        }
    }
    false
}
