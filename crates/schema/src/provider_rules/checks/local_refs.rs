//! Checks of the targets of `$ref`.

use std::{collections::HashSet, ptr};

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::provider_rules::{
    report::{Report, excerpt},
    subschemas::{Subschema, SubschemaList},
};

/// References must point to a schema in the same document.
pub(crate) fn require_local_refs(report: &mut Report<'_>) {
    let subschemas = report.subschemas();
    let anchors = anchors(subschemas);
    for subschema in subschemas.entries() {
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(reference) = subschema.get(keyword).and_then(Value::as_str) else {
                continue;
            };
            let Some(fragment) = reference.strip_prefix('#') else {
                report.reject(
                    subschema,
                    format!("`{keyword}` leaves the schema: `{}`", excerpt(reference)),
                );
                continue;
            };
            let resource = enclosing_resource(subschemas, subschema);
            let found = if fragment.is_empty() || fragment.starts_with('/') {
                let pointer = percent_decode_str(fragment).decode_utf8();
                let target = pointer.ok().and_then(|pointer| resource.pointer(&pointer));
                target.is_some_and(|target| target.is_object() || target.is_boolean())
            } else {
                anchors.contains(&(ptr::from_ref(resource), fragment))
            };
            if !found {
                report.reject(
                    subschema,
                    format!("`{keyword}` finds no schema at `{}`", excerpt(reference)),
                );
            }
        }
    }
}

/// A `$ref` may have no siblings.
pub(crate) fn require_ref_alone(subschema: &Subschema<'_>, report: &mut Report<'_>) {
    if subschema.get("$ref").is_none() {
        return;
    }
    for (keyword, _) in subschema.members().filter(|(keyword, _)| *keyword != "$ref") {
        report.reject(subschema, format!("`{}` is not accepted beside `$ref`", excerpt(keyword)));
    }
}

/// The innermost enclosing schema with an `$id`, to which `#` refers.
fn enclosing_resource<'a>(
    subschemas: &'a SubschemaList<'a>,
    subschema: &'a Subschema<'a>,
) -> &'a Value {
    let named = |subschema: &&Subschema<'_>| {
        subschema.get("$id").and_then(Value::as_str).is_some_and(|id| !id.starts_with('#'))
    };
    subschemas
        .self_and_ancestors(subschema)
        .find(named)
        .map_or(subschemas.root(), |subschema| subschema.schema)
}

fn anchors<'a>(subschemas: &'a SubschemaList<'a>) -> HashSet<(*const Value, &'a str)> {
    let mut anchors = HashSet::new();
    for subschema in subschemas.entries() {
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = subschema.get(keyword).and_then(Value::as_str) {
                anchors.insert((ptr::from_ref(enclosing_resource(subschemas, subschema)), name));
            }
        }
    }
    anchors
}
