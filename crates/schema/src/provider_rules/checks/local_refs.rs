//! Where `$ref` may point.

use std::{collections::HashSet, ptr};

use serde_json::Value;

use crate::provider_rules::{
    report::{RejectionReport, excerpt},
    subschemas::{Subschema, SubschemaList},
};

/// References stay inside the schema, and find one there.
pub(crate) fn require_local_refs(report: &mut RejectionReport<'_, '_>) {
    let outline = report.subschemas();
    let anchors = anchors(outline);
    for place in outline.entries() {
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(reference) = place.get(keyword).and_then(Value::as_str) else {
                continue;
            };
            let Some(fragment) = reference.strip_prefix('#') else {
                report.reject(
                    place,
                    format!("`{keyword}` leaves the schema: `{}`", excerpt(reference)),
                );
                continue;
            };
            let resource = enclosing_resource(outline, place);
            let found = if fragment.is_empty() || fragment.starts_with('/') {
                let target =
                    percent_decode(fragment).and_then(|pointer| resource.pointer(&pointer));
                target.is_some_and(|target| target.is_object() || target.is_boolean())
            } else {
                anchors.contains(&(ptr::from_ref(resource), fragment))
            };
            if !found {
                report.reject(
                    place,
                    format!("`{keyword}` finds no schema at `{}`", excerpt(reference)),
                );
            }
        }
    }
}

/// Nothing beside `$ref`.
pub(crate) fn require_ref_alone<'a>(place: &Subschema<'a>, report: &mut RejectionReport<'_, 'a>) {
    if place.get("$ref").is_none() {
        return;
    }
    for (keyword, _) in place.members().filter(|(keyword, _)| *keyword != "$ref") {
        report.reject(
            place,
            format!("`{}` is not accepted beside `$ref`", excerpt(keyword)),
        );
    }
}

/// The innermost schema with an `$id` around a place, against which `#` is read.
fn enclosing_resource<'a>(outline: &SubschemaList<'a>, place: &Subschema<'a>) -> &'a Value {
    let named = |place: &&Subschema<'a>| {
        place
            .get("$id")
            .and_then(Value::as_str)
            .is_some_and(|id| !id.starts_with('#'))
    };
    outline
        .self_and_ancestors(place)
        .find(named)
        .map_or(outline.root(), |place| place.schema)
}

fn anchors<'a>(outline: &SubschemaList<'a>) -> HashSet<(*const Value, &'a str)> {
    let mut anchors = HashSet::new();
    for place in outline.entries() {
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = place.get(keyword).and_then(Value::as_str) {
                anchors.insert((ptr::from_ref(enclosing_resource(outline, place)), name));
            }
        }
    }
    anchors
}

/// Undoes percent-encoding.
pub(crate) fn percent_decode(fragment: &str) -> Option<String> {
    let mut bytes = fragment.bytes();
    let mut plain = Vec::with_capacity(fragment.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            plain.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
        } else {
            plain.push(byte);
        }
    }
    String::from_utf8(plain).ok()
}
