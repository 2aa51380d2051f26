//! Is it JSON Schema at all?

use jsonschema::{
    ValidationError, draft4, draft6, draft7, draft201909, draft202012, meta::MetaValidator,
};
use serde_json::Value;

use crate::provider_rules::{report::RejectionReport, subschemas::PathSegment};

/// Valid JSON Schema 2020-12, whatever `$schema` says.
pub(crate) fn require_2020_12(report: &mut RejectionReport<'_, '_>) {
    let root = report.subschemas().root();
    check_meta_schema("2020-12", &draft202012::meta::validator(), "", root, report);
}

/// Valid Draft 7, whatever `$schema` says.
pub(crate) fn require_draft_7(report: &mut RejectionReport<'_, '_>) {
    let subschemas = report.subschemas();
    let meta = draft7::meta::validator();
    check_meta_schema("Draft 7", &meta, "", subschemas.root(), report);
    // Draft 7 does not know `$defs`, and finds schemas there only by reference.
    for subschema in subschemas.entries() {
        if matches!(subschema.segment, PathSegment::Name("$defs", _)) {
            check_meta_schema(
                "Draft 7",
                &meta,
                &subschemas.pointer(subschema),
                subschema.schema,
                report,
            );
        }
    }
}

/// Valid by the draft that `$schema` names, 2020-12 if it names none.
pub(crate) fn require_declared_draft(report: &mut RejectionReport<'_, '_>) {
    let root = report.subschemas().root();
    let Some(said) = root.get("$schema").and_then(Value::as_str) else {
        return require_2020_12(report);
    };
    let bare = said.trim_end_matches('#');
    let bare = bare
        .strip_prefix("https")
        .or_else(|| bare.strip_prefix("http"));
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
    report: &mut RejectionReport<'_, '_>,
) {
    // Counted twice the room there is: one mistake may be found by more than one branch of the meta-schema.
    for error in meta
        .iter_errors(schema)
        .take(2 * RejectionReport::MAX_REJECTIONS)
    {
        let at = format!("{path}{}", error.instance_path());
        report.reject_at(
            at,
            format!("not valid JSON Schema {name}: {}", error_text(&error)),
        );
    }
}

fn error_text(error: &ValidationError<'_>) -> String {
    error.masked().to_string()
}
