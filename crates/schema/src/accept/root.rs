//! What the outermost schema must look like.

use serde_json::Value;

use super::report::Report;

/// `"type": "object"`, and nothing else.
pub(super) fn is_object(report: &mut Report<'_, '_>) {
    let root = report.outline().root();
    if !root.is_object() {
        report.refuse_all("the root must be a JSON object");
    } else if root.get("type").and_then(Value::as_str) != Some("object") {
        report.refuse_all("the root must have `type: \"object\"`");
    }
}

/// No choice between several roots, and no root that stands elsewhere.
pub(super) fn is_plain(report: &mut Report<'_, '_>) {
    let root = report.outline().root();
    for keyword in ["anyOf", "oneOf", "allOf", "$ref", "not", "enum"] {
        if root.get(keyword).is_some() {
            report.refuse_all(format!("`{keyword}` is not accepted at the root"));
        }
    }
}

/// `properties`, though they be empty.
pub(super) fn has_properties(report: &mut Report<'_, '_>) {
    let root = report.outline().root();
    if root.is_object() && root.get("properties").is_none() {
        report.refuse_all("the root must have `properties`, even if empty");
    }
}
