//! Checks against the meta-schemas of JSON Schema.

use jsonschema::{draft4, draft6, draft7, draft201909, draft202012, meta::MetaValidator};
use serde_json::Value;

use crate::provider_rules::{report::Report, subschemas::PathSegment};

/// The schema must be valid JSON Schema 2020-12, regardless of `$schema`.
pub(crate) fn require_2020_12(report: &mut Report<'_>) {
    let root = report.subschemas().root();
    check_meta_schema("2020-12", &draft202012::meta::validator(), "", root, report);
}

/// The schema must be valid Draft 7, regardless of `$schema`.
pub(crate) fn require_draft_7(report: &mut Report<'_>) {
    let subschemas = report.subschemas();
    let meta = draft7::meta::validator();
    check_meta_schema("Draft 7", &meta, "", subschemas.root(), report);
    // Draft 7 has no `$defs`, and finds schemas there only by reference.
    for subschema in subschemas.entries() {
        if matches!(subschema.segment, PathSegment::Name("$defs", _)) {
            let path = subschemas.pointer(subschema);
            check_meta_schema("Draft 7", &meta, &path, subschema.schema, report);
        }
    }
}

/// The schema must be valid by the draft that `$schema` names, 2020-12 by default.
pub(crate) fn require_declared_draft(report: &mut Report<'_>) {
    let root = report.subschemas().root();
    let Some(uri) = root.get("$schema").and_then(Value::as_str) else {
        return require_2020_12(report);
    };
    let bare = uri.trim_end_matches('#');
    let bare = bare.strip_prefix("https").or_else(|| bare.strip_prefix("http"));
    let (name, meta) = match bare {
        Some("://json-schema.org/draft/2020-12/schema") => return require_2020_12(report),
        Some("://json-schema.org/draft/2019-09/schema") => {
            ("2019-09", draft201909::meta::validator())
        }
        Some("://json-schema.org/draft-07/schema") => ("Draft 7", draft7::meta::validator()),
        Some("://json-schema.org/draft-06/schema") => ("Draft 6", draft6::meta::validator()),
        Some("://json-schema.org/draft-04/schema") => ("Draft 4", draft4::meta::validator()),
        _ => return report.reject_at("/$schema".to_owned(), "names no known draft of JSON Schema"),
    };
    check_meta_schema(name, &meta, "", root, report);
}

fn check_meta_schema(
    name: &str,
    meta: &MetaValidator<'_>,
    path: &str,
    schema: &Value,
    report: &mut Report<'_>,
) {
    // Twice the limit, because several branches of the meta-schema may find the same mistake.
    for error in meta.iter_errors(schema).take(2 * Report::MAX_REJECTIONS) {
        let at = format!("{path}{}", error.instance_path());
        report.reject_at(at, format!("not valid JSON Schema {name}: {}", error.masked()));
    }
}
