//! The size limits of strict mode.

use serde_json::Value;

use crate::provider_rules::{
    report::Report,
    subschemas::{PathSegment, Subschema},
    value_types,
};

const MAX_DEPTH: usize = 10;
const MAX_PROPERTIES: usize = 5_000;
/// In the names of properties and definitions, and in the values of `enum` and `const`.
const MAX_CHARACTERS: usize = 120_000;
const MAX_ENUM_VALUES: usize = 1_000;
/// From this many strings on, an `enum` has its own limit.
const LONG_ENUM_THRESHOLD: usize = 250;
const MAX_LONG_ENUM_CHARACTERS: usize = 15_000;

/// Counts properties, enum values and characters.
pub(super) fn check_totals(report: &mut Report<'_>) {
    let (mut properties, mut values, mut characters) = (0, 0, 0);
    for subschema in report.subschemas().entries() {
        properties += subschema.properties().map_or(0, |properties| properties.len());
        characters +=
            name_characters(subschema) + subschema.get("const").map_or(0, value_characters);
        let listed = subschema.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        values += listed.len();
        characters += listed.iter().map(value_characters).sum::<usize>();
        check_long_enum(subschema, listed, report);
    }
    report.reject_above(MAX_PROPERTIES, properties, "properties");
    report.reject_above(MAX_ENUM_VALUES, values, "enum values");
    let what = "characters of names, enum values and constants";
    report.reject_above(MAX_CHARACTERS, characters, what);
}

/// Counts the nesting of objects and arrays; each definition starts at 0, and references are not followed.
pub(super) fn check_depth(report: &mut Report<'_>) {
    let subschemas = report.subschemas().entries();
    let mut levels: Vec<usize> = Vec::with_capacity(subschemas.len());
    for subschema in subschemas {
        let outer = match (subschema.segment, subschema.parent_index) {
            (PathSegment::Name("$defs", _), _) | (_, None) => 0,
            (_, Some(parent)) => levels.get(parent).copied().unwrap_or_default(),
        };
        let nests = ["object", "array"]
            .into_iter()
            .any(|json_type| value_types::has_type(subschema, json_type));
        let level = outer + usize::from(nests);
        if level > MAX_DEPTH && outer <= MAX_DEPTH {
            let rule = format!("objects and arrays may nest no deeper than {MAX_DEPTH} levels");
            report.reject(subschema, rule);
        }
        levels.push(level);
    }
}

fn check_long_enum(subschema: &Subschema<'_>, listed: &[Value], report: &mut Report<'_>) {
    let texts = || listed.iter().filter(|value| value.is_string());
    if texts().count() > LONG_ENUM_THRESHOLD {
        let characters: usize = texts().map(value_characters).sum();
        if characters > MAX_LONG_ENUM_CHARACTERS {
            let rule = format!(
                "an `enum` of more than {LONG_ENUM_THRESHOLD} strings may have {MAX_LONG_ENUM_CHARACTERS} characters"
            );
            report.reject(subschema, format!("{rule}, and this one has {characters}"));
        }
    }
}

/// The number of characters in the names that a schema declares.
fn name_characters(subschema: &Subschema<'_>) -> usize {
    let named = ["properties", "$defs"]
        .into_iter()
        .filter_map(|keyword| subschema.get(keyword)?.as_object());
    named.flat_map(|members| members.keys()).map(|name| name.chars().count()).sum()
}

fn value_characters(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    }
}
