//! Gemini's `parameters`: a subset of OpenAPI's schema object, whose parser rejects unknown fields.

use serde_json::Value;

use super::{NO_RULES, ProviderRules, require_known_property_ordering};
use crate::provider_rules::{
    keywords, object_properties,
    report::{Report, excerpt},
    root,
    subschemas::Subschema,
    value_types,
};

/// Every field that the parser knows.
const FIELDS: [&str; 22] = [
    "type", "title", "description", "format", "pattern", "enum", "required", "propertyOrdering",
    "nullable", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength",
    "minProperties", "maxProperties", "properties", "items", "anyOf", "default", "example",
];

/// `parameters`: every field must be known and hold the type of value that the parser expects.
pub(crate) const OPENAPI: ProviderRules = ProviderRules {
    whole: &[require_object_type, root::forbid_composed_root],
    keywords: Some(&FIELDS),
    each: &[
        require_field_types,
        |subschema, report| value_types::require_type(subschema, &["anyOf"], report),
        value_types::require_known_type,
        require_consistent_type_case,
        value_types::require_any_of_alone,
        value_types::require_string_enum,
        value_types::require_items,
        object_properties::require_nonempty,
        object_properties::require_declared_required,
        object_properties::require_identifier_names,
        require_known_property_ordering,
        require_supported_format,
    ],
    ..NO_RULES
};

/// The root must be an object; the types may be in upper case.
fn require_object_type(report: &mut Report<'_>) {
    let root_type = report.subschemas().root().get("type").and_then(Value::as_str);
    if !matches!(root_type, Some("object" | "OBJECT")) {
        report.reject_root("the root must have `type: \"object\"`");
    }
}

/// Every field must hold the type of value that the parser expects.
fn require_field_types(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    for field in FIELDS {
        let Some(value) = subschema.get(field) else {
            continue;
        };
        let list = value.as_array();
        let (fits, what) = match field {
            "type" | "title" | "description" | "format" | "pattern" => (value.is_string(), "text"),
            "enum" | "required" | "propertyOrdering" => {
                (list.is_some_and(|list| list.iter().all(Value::is_string)), "a list of strings")
            }
            "nullable" => (value.is_boolean(), "`true` or `false`"),
            "minimum" | "maximum" => (value.is_number(), "a number"),
            "properties" | "items" => (value.is_object(), "an object"),
            "anyOf" => (list.is_some_and(|list| !list.is_empty()), "a list that is not empty"),
            "default" | "example" => continue,
            _ => (value.is_u64(), "a whole number"),
        };
        if !fits {
            report.reject(subschema, format!("`{field}` must be {what}"));
        }
    }
}

/// All types must be in upper case if the root's is, otherwise in lower case.
fn require_consistent_type_case(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let upper = report.subschemas().root().get("type").is_some_and(|name| name == "OBJECT");
    let name = subschema.get("type").and_then(Value::as_str).unwrap_or_default();
    if name.chars().any(|letter| letter.is_ascii_uppercase() != upper) {
        report.reject(
            subschema,
            format!("the type `{}` is not in the same case as the root's", excerpt(name)),
        );
    }
}

/// Only the few formats that are known to be accepted.
fn require_supported_format(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    let has_type = |json_type| value_types::has_type(subschema, json_type);
    let safe: &[&str] = match has_type("integer") || has_type("number") {
        true => &["int32", "int64"],
        false if has_type("string") => &["date-time", "enum"],
        false => &[],
    };
    keywords::allow_formats(subschema, safe, report);
}
