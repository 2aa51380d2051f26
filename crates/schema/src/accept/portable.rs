//! What every provider accepts outside of its strict mode.

use serde_json::Value;

use super::{Refusal, draft, keyword, kind, object, outline::Outline, report::Report, root};

const KEYWORDS: [&str; 7] = [
    "type",
    "description",
    "enum",
    "anyOf",
    "items",
    "properties",
    "required",
];

const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

pub(super) fn tool(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::within(schema, &KEYWORDS);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    root::is_plain(&mut report);
    root::has_properties(&mut report);
    draft::is_2020_12(&mut report);
    for place in outline.places() {
        keyword::is_object(place, &mut report);
        keyword::only(place, &KEYWORDS, &mut report);
        kind::is_typed(place, &["anyOf"], &mut report);
        kind::is_single(place, &mut report);
        kind::is_known(place, &KINDS, &mut report);
        kind::choice_is_alone(place, &mut report);
        kind::enum_is_text(place, &mut report);
        kind::has_items(place, &mut report);
        object::is_not_empty(place, &mut report);
        object::requires_what_exists(place, &mut report);
        object::names_are_words(place, &mut report);
    }
    report.into_refusals()
}
