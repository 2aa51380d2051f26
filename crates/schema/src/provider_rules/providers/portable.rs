//! The rules that every provider has outside of its strict mode.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, keywords, meta_schema, object_properties, report::RejectionReport, root,
    subschemas::SubschemaList, value_types,
};

const KEYWORDS: [&str; 7] =
    ["type", "description", "enum", "anyOf", "items", "properties", "required"];

const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

pub(crate) fn check(schema: &Value) -> Vec<Rejection> {
    let subschemas = SubschemaList::under_keywords(schema, &KEYWORDS);
    let mut report = RejectionReport::new(&subschemas);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    root::require_root_properties(&mut report);
    meta_schema::require_2020_12(&mut report);
    for subschema in subschemas.entries() {
        keywords::require_object_schema(subschema, &mut report);
        keywords::allow_only(subschema, &KEYWORDS, &mut report);
        value_types::require_type(subschema, &["anyOf"], &mut report);
        value_types::require_single_type(subschema, &mut report);
        value_types::require_known_type(subschema, &TYPES, &mut report);
        value_types::require_any_of_alone(subschema, &mut report);
        value_types::require_string_enum(subschema, &mut report);
        value_types::require_items(subschema, &mut report);
        object_properties::require_nonempty(subschema, &mut report);
        object_properties::require_declared_required(subschema, &mut report);
        object_properties::require_identifier_names(subschema, &mut report);
    }
    report.into_rejections()
}
