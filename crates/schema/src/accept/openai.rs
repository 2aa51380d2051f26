//! What OpenAI accepts: any JSON Schema of an object, or the subset of strict mode.

use serde_json::Value;

use super::{
    Refusal, definition, draft, keyword, kind, object, outline::Outline, pattern, reference,
    report::Report, root,
};

mod budget;

/// Without strict mode.
pub(super) fn plain(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::of(schema);
    let mut report = Report::on(&outline);
    any_object(&mut report);
    report.into_refusals()
}

/// JSON Schema 2020-12 with a plain root that has `properties`: what those who copied OpenAI accept as well.
pub(super) fn any_object(report: &mut Report<'_, '_>) {
    root::is_object(report);
    root::is_plain(report);
    root::has_properties(report);
    draft::is_2020_12(report);
    reference::are_local(report);
}

/// The keywords of strict mode.
const KEYWORDS: [&str; 20] = [
    "type",
    "description",
    "enum",
    "const",
    "anyOf",
    "$defs",
    "$ref",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
];

/// The formats of strict mode.
pub(super) const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// With strict mode.
pub(super) fn strict(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::within(schema, &KEYWORDS);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    root::is_plain(&mut report);
    draft::is_2020_12(&mut report);
    definition::are_found(&mut report);
    for place in outline.places() {
        keyword::is_object(place, &mut report);
        keyword::only(place, &KEYWORDS, &mut report);
        keyword::only_at_root(place, "$defs", &mut report);
        keyword::formats(place, &FORMATS, &mut report);
        kind::is_typed(place, &["$ref", "anyOf"], &mut report);
        kind::is_single_or_null(place, &mut report);
        kind::has_items(place, &mut report);
        kind::values_fit(place, &mut report);
        object::has_properties(place, &mut report);
        object::is_closed(place, &mut report);
        object::requires_all(place, &mut report);
        object::requires_what_exists(place, &mut report);
        pattern::is_plain(place, &mut report);
        reference::is_alone(place, &mut report);
    }
    budget::is_kept(&mut report);
    report.into_refusals()
}
