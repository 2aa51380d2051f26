//! What every provider accepts outside of its strict mode.

use serde_json::Value;

use crate::provider_rules::{
    Rejection, keywords, meta_schema, object_properties, report::RejectionReport, root,
    subschemas::SubschemaList, value_types,
};

const KEYWORDS: [&str; 7] = [
    "type",
    "description",
    "enum",
    "anyOf",
    "items",
    "properties",
    "required",
];

const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

pub(crate) fn check(schema: &Value) -> Vec<Rejection> {
    let outline = SubschemaList::under_keywords(schema, &KEYWORDS);
    let mut report = RejectionReport::new(&outline);
    root::require_object_root(&mut report);
    root::forbid_composed_root(&mut report);
    root::require_root_properties(&mut report);
    meta_schema::require_2020_12(&mut report);
    for place in outline.entries() {
        keywords::require_object_schema(place, &mut report);
        keywords::allow_only(place, &KEYWORDS, &mut report);
        value_types::require_type(place, &["anyOf"], &mut report);
        value_types::require_single_type(place, &mut report);
        value_types::require_known_type(place, &TYPES, &mut report);
        value_types::require_any_of_alone(place, &mut report);
        value_types::require_string_enum(place, &mut report);
        value_types::require_items(place, &mut report);
        object_properties::require_nonempty(place, &mut report);
        object_properties::require_declared_required(place, &mut report);
        object_properties::require_identifier_names(place, &mut report);
    }
    report.into_rejections()
}
