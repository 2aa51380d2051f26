//! Gemini's `parameters`: a subset of OpenAPI's schema object, whose parser rejects unknown fields.

use serde_json::Value;

use super::require_known_property_ordering;
use crate::provider_rules::{
    Rejection, keywords, object_properties,
    report::{RejectionReport, excerpt},
    root,
    subschemas::{Subschema, SubschemaList},
    value_types,
};

/// The type of value that a field holds.
#[derive(Clone, Copy)]
enum FieldType {
    String,
    StringList,
    Boolean,
    Number,
    Integer,
    Object,
    SchemaMap,
    Any,
}

/// Every field that the parser knows.
const FIELDS: [(&str, FieldType); 22] = [
    ("type", FieldType::String),
    ("title", FieldType::String),
    ("description", FieldType::String),
    ("format", FieldType::String),
    ("pattern", FieldType::String),
    ("enum", FieldType::StringList),
    ("required", FieldType::StringList),
    ("propertyOrdering", FieldType::StringList),
    ("nullable", FieldType::Boolean),
    ("minimum", FieldType::Number),
    ("maximum", FieldType::Number),
    ("minItems", FieldType::Integer),
    ("maxItems", FieldType::Integer),
    ("minLength", FieldType::Integer),
    ("maxLength", FieldType::Integer),
    ("minProperties", FieldType::Integer),
    ("maxProperties", FieldType::Integer),
    ("properties", FieldType::Object),
    ("items", FieldType::Object),
    ("anyOf", FieldType::SchemaMap),
    ("default", FieldType::Any),
    ("example", FieldType::Any),
];

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// `parameters`.
pub(crate) fn openapi(schema: &Value) -> Vec<Rejection> {
    let accepted = FIELDS.map(|(field, _)| field);
    let subschemas = SubschemaList::under_keywords(schema, &accepted);
    let mut report = RejectionReport::new(&subschemas);
    let upper = match schema.get("type").and_then(Value::as_str) {
        Some("object") => false,
        Some("OBJECT") => true,
        _ => {
            report.reject_root("the root must have `type: \"object\"`");
            false
        }
    };
    root::forbid_composed_root(&mut report);
    for subschema in subschemas.entries() {
        keywords::require_object_schema(subschema, &mut report);
        keywords::allow_only(subschema, &accepted, &mut report);
        require_field_types(subschema, &mut report);
        value_types::require_type(subschema, &["anyOf"], &mut report);
        value_types::require_known_type(subschema, &TYPES, &mut report);
        require_consistent_type_case(subschema, upper, &mut report);
        value_types::require_any_of_alone(subschema, &mut report);
        value_types::require_string_enum(subschema, &mut report);
        value_types::require_items(subschema, &mut report);
        object_properties::require_nonempty(subschema, &mut report);
        object_properties::require_declared_required(subschema, &mut report);
        object_properties::require_identifier_names(subschema, &mut report);
        require_known_property_ordering(subschema, &mut report);
        require_supported_format(subschema, &mut report);
    }
    report.into_rejections()
}

fn require_field_types<'a>(subschema: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    for (field, holds) in FIELDS {
        let Some(value) = subschema.get(field) else {
            continue;
        };
        let all =
            |test: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(test));
        let (fits, what) = match holds {
            FieldType::String => (value.is_string(), "text"),
            FieldType::StringList => (all(Value::is_string), "a list of strings"),
            FieldType::Boolean => (value.is_boolean(), "`true` or `false`"),
            FieldType::Number => (value.is_number(), "a number"),
            FieldType::Integer => (value.is_u64(), "a whole number"),
            FieldType::Object => (value.is_object(), "an object"),
            FieldType::SchemaMap => {
                (value.as_array().is_some_and(|list| !list.is_empty()), "a list that is not empty")
            }
            FieldType::Any => continue,
        };
        if !fits {
            report.reject(subschema, format!("`{field}` must be {what}"));
        }
    }
}

/// All types must be in upper case if the root's is, otherwise in lower case.
fn require_consistent_type_case<'a>(
    subschema: &Subschema<'a>,
    upper: bool,
    report: &mut RejectionReport<'_, 'a>,
) {
    let name = subschema.get("type").and_then(Value::as_str).unwrap_or_default();
    if name.chars().any(|letter| letter.is_ascii_uppercase() != upper) {
        report.reject(
            subschema,
            format!("the type `{}` is not in the same case as the root's", excerpt(name)),
        );
    }
}

/// Only the few formats that are known to be accepted.
fn require_supported_format<'a>(subschema: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    let of_numbers =
        value_types::has_type(subschema, "integer") || value_types::has_type(subschema, "number");
    let safe: &[&str] = match of_numbers {
        true => &["int32", "int64"],
        false if value_types::has_type(subschema, "string") => &["date-time", "enum"],
        false => &[],
    };
    keywords::allow_formats(subschema, safe, report);
}
