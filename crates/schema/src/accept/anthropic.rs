//! What Anthropic accepts: JSON Schema 2020-12 of an object, or the subset of strict mode.

use serde_json::Value;

use super::{
    Refusal, definition, draft, keyword, kind, object, openai,
    outline::{Outline, Place, Step},
    reference,
    report::Report,
    root,
};

/// Without strict mode.
pub(super) fn plain(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::of(schema);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    root::is_plain(&mut report);
    draft::is_2020_12(&mut report);
    reference::are_local(&mut report);
    report.into_refusals()
}

/// The keywords of strict mode.
const KEYWORDS: [&str; 14] = [
    "type",
    "description",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "$defs",
    "$ref",
    "format",
    "items",
    "minItems",
    "properties",
    "required",
    "additionalProperties",
];

/// How many parameters of a request may be optional.
const OPTIONAL: usize = 24;
/// How many parameters of a request may have a union for a type.
const UNIONS: usize = 16;

/// With strict mode.
pub(super) fn strict(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::within(schema, &KEYWORDS);
    let mut report = Report::on(&outline);
    let formats: Vec<&str> = openai::FORMATS.into_iter().chain(["uri"]).collect();
    root::is_object(&mut report);
    root::is_plain(&mut report);
    draft::is_2020_12(&mut report);
    definition::are_found(&mut report);
    definition::are_not_recursive(&mut report);
    for place in outline.places() {
        keyword::is_object(place, &mut report);
        keyword::only(place, &KEYWORDS, &mut report);
        keyword::only_at_root(place, "$defs", &mut report);
        keyword::formats(place, &formats, &mut report);
        kind::is_typed(place, &["$ref", "anyOf", "allOf"], &mut report);
        kind::is_single_or_null(place, &mut report);
        kind::has_items(place, &mut report);
        kind::values_fit(place, &mut report);
        kind::values_are_primitive(place, &mut report);
        object::is_closed(place, &mut report);
        object::requires_what_exists(place, &mut report);
        reference::is_alone(place, &mut report);
        asks_for_one_item_at_most(place, &mut report);
    }
    budget(&mut report);
    report.into_refusals()
}

fn asks_for_one_item_at_most<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let few = |least: &Value| {
        least
            .as_f64()
            .is_some_and(|least| least == 0.0 || least == 1.0)
    };
    if place.get("minItems").is_some_and(|least| !few(least)) {
        report.refuse(place, "`minItems` may only be 0 or 1");
    }
}

/// What all strict tools together may use, one tool may not exceed alone. References are not followed.
fn budget(report: &mut Report<'_, '_>) {
    let (mut optional, mut unions) = (0, 0);
    for place in report.outline().places() {
        let required: std::collections::HashSet<&str> = place.required().collect();
        let names = place
            .properties()
            .into_iter()
            .flat_map(|properties| properties.keys());
        optional += names
            .filter(|name| !required.contains(name.as_str()))
            .count();
        let is_union =
            place.get("anyOf").is_some() || place.get("type").is_some_and(Value::is_array);
        unions += usize::from(is_union && matches!(place.step, Step::Named("properties", _)));
    }
    for (spent, budget, what) in [
        (optional, OPTIONAL, "optional"),
        (unions, UNIONS, "union-typed"),
    ] {
        if spent > budget {
            report.refuse_all(format!(
                "{spent} {what} parameters, and at most {budget} are accepted"
            ));
        }
    }
}
