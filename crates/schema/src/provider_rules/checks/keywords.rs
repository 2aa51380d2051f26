//! Which words a schema may use.

use serde_json::Value;

use crate::provider_rules::{
    report::{RejectionReport, excerpt},
    subschemas::Subschema,
};

/// A JSON object, not `true` or `false`.
pub(crate) fn require_object_schema<'a>(
    place: &Subschema<'a>,
    report: &mut RejectionReport<'_, 'a>,
) {
    if !place.is_root() && !place.schema.is_object() {
        report.reject(place, "a schema must be a JSON object");
    }
}

/// Only keywords of the list.
pub(crate) fn allow_only<'a>(
    place: &Subschema<'a>,
    accepted: &[&str],
    report: &mut RejectionReport<'_, 'a>,
) {
    for (keyword, _) in place.members() {
        if !accepted.contains(&keyword.as_str()) {
            report.reject(place, format!("`{}` is not accepted", excerpt(keyword)));
        }
    }
}

/// No keyword of the list.
pub(crate) fn forbid<'a>(
    place: &Subschema<'a>,
    refused: &[&str],
    report: &mut RejectionReport<'_, 'a>,
) {
    for (keyword, _) in place.members() {
        if refused.contains(&keyword.as_str()) {
            report.reject(place, format!("`{keyword}` is not accepted"));
        }
    }
}

/// Not this keyword, except at the root.
pub(crate) fn forbid_below_root<'a>(
    place: &Subschema<'a>,
    keyword: &str,
    report: &mut RejectionReport<'_, 'a>,
) {
    if !place.is_root() && place.get(keyword).is_some() {
        report.reject(place, format!("`{keyword}` is accepted only at the root"));
    }
}

/// Only formats of the list.
pub(crate) fn allow_formats<'a>(
    place: &Subschema<'a>,
    accepted: &[&str],
    report: &mut RejectionReport<'_, 'a>,
) {
    if let Some(format) = place.get("format").and_then(Value::as_str)
        && !accepted.contains(&format)
    {
        report.reject(
            place,
            format!("format `{}` is not accepted", excerpt(format)),
        );
    }
}
