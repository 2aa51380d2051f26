//! What Mistral, xAI, Bedrock and DeepSeek's strict mode accept: OpenAI's ways, each with exceptions.

use serde_json::Value;

use super::{
    Refusal, definition, draft, keyword, kind, object, openai,
    outline::{Outline, Place, Step},
    pattern, reference,
    report::Report,
    root,
};

/// Keywords that came after Draft 7, and which it passes over in silence.
const AFTER_DRAFT_7: [&str; 13] = [
    "prefixItems",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "minContains",
    "maxContains",
    "contentSchema",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
];

/// Mistral: Draft 7.
pub(super) fn mistral(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::of(schema);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    root::is_plain(&mut report);
    draft::is_7(&mut report);
    reference::are_local(&mut report);
    for place in outline.places() {
        keyword::none(place, &AFTER_DRAFT_7, &mut report);
        reference::is_alone(place, &mut report);
    }
    report.into_refusals()
}

/// xAI: as OpenAI, without bounds on length.
pub(super) fn xai(schema: &Value) -> Vec<Refusal> {
    const REFUSED: [&str; 5] = ["minLength", "maxLength", "minItems", "maxItems", "allOf"];
    let outline = Outline::of(schema);
    let mut report = Report::on(&outline);
    openai::any_object(&mut report);
    for place in outline.places() {
        keyword::none(place, &REFUSED, &mut report);
    }
    report.into_refusals()
}

/// Bedrock's Converse: 2020-12, without definitions.
pub(super) fn bedrock(schema: &Value) -> Vec<Refusal> {
    let outline = Outline::of(schema);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    root::is_plain(&mut report);
    draft::is_2020_12(&mut report);
    for place in outline.places() {
        keyword::none(
            place,
            &["$ref", "$dynamicRef", "$defs", "definitions"],
            &mut report,
        );
    }
    report.into_refusals()
}

/// The keywords of DeepSeek's strict mode.
const DEEPSEEK: [&str; 19] = [
    "type",
    "description",
    "enum",
    "const",
    "anyOf",
    "allOf",
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
    "properties",
    "required",
    "additionalProperties",
];

/// DeepSeek with strict mode.
pub(super) fn deepseek_strict(schema: &Value) -> Vec<Refusal> {
    const FORMATS: [&str; 5] = ["email", "hostname", "ipv4", "ipv6", "uuid"];
    let outline = Outline::within(schema, &DEEPSEEK);
    let mut report = Report::on(&outline);
    root::is_object(&mut report);
    root::is_plain(&mut report);
    draft::is_2020_12(&mut report);
    definition::are_found(&mut report);
    for place in outline.places() {
        keyword::is_object(place, &mut report);
        keyword::only(place, &DEEPSEEK, &mut report);
        keyword::only_at_root(place, "$defs", &mut report);
        keyword::formats(place, &FORMATS, &mut report);
        kind::is_typed(place, &["$ref", "anyOf", "allOf"], &mut report);
        kind::has_items(place, &mut report);
        kind::values_fit(place, &mut report);
        object::has_properties(place, &mut report);
        object::is_not_empty(place, &mut report);
        object::is_closed(place, &mut report);
        object::requires_all(place, &mut report);
        object::requires_what_exists(place, &mut report);
        pattern::is_plain(place, &mut report);
        lists_no_containers(place, &mut report);
        merges_one_at_most(place, &mut report);
        refers_outside_of_choices(place, &mut report);
    }
    report.into_refusals()
}

fn lists_no_containers<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let contains = |kind| kind::is(place, kind);
    if place.get("type").is_some_and(Value::is_array) && (contains("object") || contains("array")) {
        report.refuse(place, "a list of types may not contain `object` or `array`");
    }
}

fn merges_one_at_most<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    if place
        .get("allOf")
        .and_then(Value::as_array)
        .is_some_and(|all| all.len() > 1)
    {
        report.refuse(place, "an `allOf` of more than one schema is not accepted");
    }
}

fn refers_outside_of_choices<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let is_choice = |place: &Place<'_>| matches!(place.step, Step::Numbered("anyOf", _));
    if place.get("$ref").is_some() && report.outline().outwards(place).any(is_choice) {
        report.refuse(place, "`$ref` is not accepted inside `anyOf`");
    }
}
