//! Is it JSON Schema at all?

use jsonschema::{
    ValidationError, draft4, draft6, draft7, draft201909, draft202012, meta::MetaValidator,
};
use serde_json::Value;

use super::{outline::Step, report::Report};

/// Valid JSON Schema 2020-12, whatever `$schema` says.
pub(super) fn is_2020_12(report: &mut Report<'_, '_>) {
    let root = report.outline().root();
    check("2020-12", &draft202012::meta::validator(), "", root, report);
}

/// Valid Draft 7, whatever `$schema` says.
pub(super) fn is_7(report: &mut Report<'_, '_>) {
    let outline = report.outline();
    let meta = draft7::meta::validator();
    check("Draft 7", &meta, "", outline.root(), report);
    // Draft 7 does not know `$defs`, and finds schemas there only by reference.
    for place in outline.places() {
        if matches!(place.step, Step::Named("$defs", _)) {
            check("Draft 7", &meta, &outline.path(place), place.schema, report);
        }
    }
}

/// Valid by the draft that `$schema` names, 2020-12 if it names none.
pub(super) fn is_what_it_says(report: &mut Report<'_, '_>) {
    let root = report.outline().root();
    let Some(said) = root.get("$schema").and_then(Value::as_str) else {
        return is_2020_12(report);
    };
    let bare = said.trim_end_matches('#');
    let bare = bare
        .strip_prefix("https")
        .or_else(|| bare.strip_prefix("http"));
    let (name, meta) = match bare {
        Some("://json-schema.org/draft/2020-12/schema") => return is_2020_12(report),
        Some("://json-schema.org/draft/2019-09/schema") => {
            ("2019-09", draft201909::meta::validator())
        }
        Some("://json-schema.org/draft-07/schema") => ("Draft 7", draft7::meta::validator()),
        Some("://json-schema.org/draft-06/schema") => ("Draft 6", draft6::meta::validator()),
        Some("://json-schema.org/draft-04/schema") => ("Draft 4", draft4::meta::validator()),
        _ => return report.refuse_at("/$schema".to_owned(), "names no known draft of JSON Schema"),
    };
    check(name, &meta, "", root, report);
}

fn check(
    name: &str,
    meta: &MetaValidator<'_>,
    path: &str,
    schema: &Value,
    report: &mut Report<'_, '_>,
) {
    // Counted twice the room there is: one mistake may be found by more than one branch of the meta-schema.
    for error in meta.iter_errors(schema).take(2 * Report::MOST) {
        let at = format!("{path}{}", error.instance_path());
        report.refuse_at(
            at,
            format!("not valid JSON Schema {name}: {}", words(&error)),
        );
    }
}

fn words(error: &ValidationError<'_>) -> String {
    error.masked().to_string()
}
