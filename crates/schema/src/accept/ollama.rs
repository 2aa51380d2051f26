//! What Ollama keeps: it reads schemas into structs of few fields, and drops the rest without a word.

use serde_json::Value;

use super::{Refusal, draft, keyword, outline::Outline, report::Report, root};

const AT_THE_ROOT: [&str; 5] = ["type", "$defs", "items", "required", "properties"];

const BELOW: [&str; 7] = [
    "anyOf",
    "type",
    "items",
    "description",
    "enum",
    "properties",
    "required",
];

pub(super) fn tool(schema: &Value) -> Vec<Refusal> {
    // Definitions are kept, but nothing can refer to them: what they say does not matter.
    let outline = Outline::within(schema, &BELOW);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    draft::is_2020_12(&mut report);
    for place in outline.places() {
        let kept: &[&str] = if place.is_root() {
            &AT_THE_ROOT
        } else {
            &BELOW
        };
        keyword::is_object(place, &mut report);
        keyword::only(place, kept, &mut report);
    }
    report.into_refusals()
}
