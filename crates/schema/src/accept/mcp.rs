//! What the Model Context Protocol accepts: any JSON Schema of an object that needs no network.

use serde_json::Value;

use super::{
    Refusal, draft, kind,
    outline::{Outline, Place, Step},
    reference,
    report::Report,
    root,
};

pub(super) fn tool(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::of(schema);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    draft::is_what_it_says(&mut report);
    reference::are_local(&mut report);
    for place in outline.places() {
        can_be_a_header(place, &mut report);
    }
    report.into_refusals()
}

/// A parameter that is also sent as a header is a single word or number, reached by properties alone.
fn can_be_a_header<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if place.get("x-mcp-header").is_none() {
        return;
    }
    let kinds = kind::kinds(place);
    if !matches!(kinds.as_slice(), [kind] if ["string", "integer", "boolean"].contains(&kind.as_str()))
    {
        report.refuse(
            place,
            "`x-mcp-header` is accepted only on strings, integers and booleans",
        );
    }
    let is_property =
        |place: &Place<'_>| matches!(place.step, Step::Root | Step::Named("properties", _));
    if place.is_root() || !report.outline().outwards(place).all(is_property) {
        report.refuse(
            place,
            "`x-mcp-header` is accepted only on properties of properties of the root",
        );
    }
}
