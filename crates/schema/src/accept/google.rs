//! What Gemini accepts: a part of JSON Schema in `parametersJsonSchema`, or the OpenAPI form in `parameters`.

use serde_json::Value;

use super::{
    Refusal, draft, keyword, kind, object,
    outline::{Outline, Place},
    reference,
    report::Report,
    root,
};

mod openapi;

pub(super) use openapi::openapi;

const KEYWORDS: [&str; 17] = [
    "type",
    "title",
    "description",
    "enum",
    "anyOf",
    "$defs",
    "$ref",
    "minimum",
    "maximum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
    "propertyOrdering",
];

/// How many items all arrays of a tool may have together: more ends in an opaque refusal.
const ITEMS: f64 = 960.0;

/// `parametersJsonSchema`.
pub(super) fn json_schema(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::within(schema, &KEYWORDS);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    root::is_plain(&mut report);
    draft::is_2020_12(&mut report);
    reference::are_local(&mut report);
    for place in outline.places() {
        keyword::is_object(place, &mut report);
        keyword::only(place, &KEYWORDS, &mut report);
        kind::is_single_or_null(place, &mut report);
        kind::values_fit(place, &mut report);
        object::names_are_words(place, &mut report);
        orders_what_exists(place, &mut report);
    }
    let most = |place: &Place<'_>| place.get("maxItems").and_then(Value::as_f64);
    let items: f64 = outline.places().iter().filter_map(most).sum();
    if items > ITEMS {
        report.refuse_all(format!(
            "`maxItems` add up to {items}, and at most {ITEMS} are accepted"
        ));
    }
    report.into_refusals()
}

/// `propertyOrdering` lists properties.
fn orders_what_exists<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let Some(order) = place.get("propertyOrdering") else {
        return;
    };
    let exists = |name: &Value| {
        let name = name.as_str();
        name.zip(place.properties())
            .is_some_and(|(name, properties)| properties.contains_key(name))
    };
    if !order
        .as_array()
        .is_some_and(|names| names.iter().all(exists))
    {
        report.refuse(place, "`propertyOrdering` must be a list of properties");
    }
}
