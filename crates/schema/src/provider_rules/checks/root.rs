//! Checks of the root schema.

use serde_json::Value;

use crate::provider_rules::report::Report;

/// The root must have `"type": "object"`, and no other type.
pub(crate) fn require_object_root(report: &mut Report<'_>) {
    let root = report.subschemas().root();
    if !root.is_object() {
        report.reject_root("the root must be a JSON object");
    } else if root.get("type").and_then(Value::as_str) != Some("object") {
        report.reject_root("the root must have `type: \"object\"`");
    }
}

/// The root may be neither a union nor a reference.
pub(crate) fn forbid_composed_root(report: &mut Report<'_>) {
    let root = report.subschemas().root();
    for keyword in ["anyOf", "oneOf", "allOf", "$ref", "not", "enum"] {
        if root.get(keyword).is_some() {
            report.reject_root(format!("`{keyword}` is not accepted at the root"));
        }
    }
}

/// The root must have `properties`, which may be empty.
pub(crate) fn require_root_properties(report: &mut Report<'_>) {
    let root = report.subschemas().root();
    if root.is_object() && root.get("properties").is_none() {
        report.reject_root("the root must have `properties`, even if empty");
    }
}
