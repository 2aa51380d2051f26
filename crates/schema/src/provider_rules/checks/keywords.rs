//! Checks of the keywords that a schema uses.

use serde_json::Value;

use crate::provider_rules::{
    report::{Report, excerpt},
    subschemas::Subschema,
};

/// The schema must be an object, not `true` or `false`.
pub(crate) fn require_object_schema(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if !subschema.is_root() && !subschema.schema.is_object() {
        report.reject(subschema, "a schema must be a JSON object");
    }
}

/// Only keywords of the list are allowed.
pub(crate) fn allow_only(subschema: &Subschema<'_>, accepted: &[&str], report: &mut Report<'_>) {
    for (keyword, _) in subschema.members() {
        if !accepted.contains(&keyword.as_str()) {
            report.reject(subschema, format!("`{}` is not accepted", excerpt(keyword)));
        }
    }
}

/// No keyword of the list is allowed.
pub(crate) fn forbid(subschema: &Subschema<'_>, refused: &[&str], report: &mut Report<'_>) {
    for (keyword, _) in subschema.members() {
        if refused.contains(&keyword.as_str()) {
            report.reject(subschema, format!("`{keyword}` is not accepted"));
        }
    }
}

/// The keyword is allowed only at the root.
pub(crate) fn forbid_below_root(subschema: &Subschema<'_>, keyword: &str, report: &mut Report<'_>) {
    if !subschema.is_root() && subschema.get(keyword).is_some() {
        report.reject(subschema, format!("`{keyword}` is accepted only at the root"));
    }
}

/// Only formats of the list are allowed.
pub(crate) fn allow_formats(subschema: &Subschema<'_>, accepted: &[&str], report: &mut Report<'_>) {
    if let Some(format) = subschema.get("format").and_then(Value::as_str)
        && !accepted.contains(&format)
    {
        report.reject(subschema, format!("format `{}` is not accepted", excerpt(format)));
    }
}
