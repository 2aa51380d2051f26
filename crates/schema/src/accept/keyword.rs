//! Which words a schema may use.

use serde_json::Value;

use super::{
    outline::Place,
    report::{Report, short},
};

/// A JSON object, not `true` or `false`.
pub(super) fn is_object<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if !place.is_root() && !place.schema.is_object() {
        report.refuse(place, "a schema must be a JSON object");
    }
}

/// Only keywords of the list.
pub(super) fn only<'a>(place: &Place<'a>, accepted: &[&str], report: &mut Report<'_, 'a>) {
    for (keyword, _) in place.members() {
        if !accepted.contains(&keyword.as_str()) {
            report.refuse(place, format!("`{}` is not accepted", short(keyword)));
        }
    }
}

/// No keyword of the list.
pub(super) fn none<'a>(place: &Place<'a>, refused: &[&str], report: &mut Report<'_, 'a>) {
    for (keyword, _) in place.members() {
        if refused.contains(&keyword.as_str()) {
            report.refuse(place, format!("`{keyword}` is not accepted"));
        }
    }
}

/// Not this keyword, except at the root.
pub(super) fn only_at_root<'a>(place: &Place<'a>, keyword: &str, report: &mut Report<'_, 'a>) {
    if !place.is_root() && place.get(keyword).is_some() {
        report.refuse(place, format!("`{keyword}` is accepted only at the root"));
    }
}

/// Only formats of the list.
pub(super) fn formats<'a>(place: &Place<'a>, accepted: &[&str], report: &mut Report<'_, 'a>) {
    if let Some(format) = place.get("format").and_then(Value::as_str)
        && !accepted.contains(&format)
    {
        report.refuse(place, format!("format `{}` is not accepted", short(format)));
    }
}
