//! Gemini's `parameters`: a part of OpenAPI's schema object, read by a parser that refuses every name it does not know.

use serde_json::Value;

use super::orders_what_exists;
use crate::accept::{
    Refusal, keyword, kind, object,
    outline::{Outline, Place},
    report::{Report, short},
    root,
};

/// What a field holds.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Texts,
    Flag,
    Number,
    Count,
    Object,
    Schemas,
    Anything,
}

/// Every field the parser knows.
const FIELDS: [(&str, Holds); 22] = [
    ("type", Holds::Text),
    ("title", Holds::Text),
    ("description", Holds::Text),
    ("format", Holds::Text),
    ("pattern", Holds::Text),
    ("enum", Holds::Texts),
    ("required", Holds::Texts),
    ("propertyOrdering", Holds::Texts),
    ("nullable", Holds::Flag),
    ("minimum", Holds::Number),
    ("maximum", Holds::Number),
    ("minItems", Holds::Count),
    ("maxItems", Holds::Count),
    ("minLength", Holds::Count),
    ("maxLength", Holds::Count),
    ("minProperties", Holds::Count),
    ("maxProperties", Holds::Count),
    ("properties", Holds::Object),
    ("items", Holds::Object),
    ("anyOf", Holds::Schemas),
    ("default", Holds::Anything),
    ("example", Holds::Anything),
];

const KINDS: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// `parameters`.
pub(in crate::accept) fn openapi(schema: &Value) -> Vec<Refusal> {
    let accepted = FIELDS.map(|(field, _)| field);
    let outline = Outline::within(schema, &accepted);
    let mut report = Report::on(&outline);
    let upper = match schema.get("type").and_then(Value::as_str) {
        Some("object") => false,
        Some("OBJECT") => true,
        _ => {
            report.refuse_all("the root must have `type: \"object\"`");
            false
        }
    };
    root::is_plain(&mut report);
    for place in outline.places() {
        keyword::is_object(place, &mut report);
        keyword::only(place, &accepted, &mut report);
        fields_hold(place, &mut report);
        kind::is_typed(place, &["anyOf"], &mut report);
        kind::is_known(place, &KINDS, &mut report);
        is_in_case(place, upper, &mut report);
        kind::choice_is_alone(place, &mut report);
        kind::enum_is_text(place, &mut report);
        kind::has_items(place, &mut report);
        object::is_not_empty(place, &mut report);
        object::requires_what_exists(place, &mut report);
        object::names_are_words(place, &mut report);
        orders_what_exists(place, &mut report);
        has_safe_format(place, &mut report);
    }
    report.into_refusals()
}

fn fields_hold<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    for (field, holds) in FIELDS {
        let Some(value) = place.get(field) else {
            continue;
        };
        let all =
            |test: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(test));
        let (fits, what) = match holds {
            Holds::Text => (value.is_string(), "text"),
            Holds::Texts => (all(Value::is_string), "a list of strings"),
            Holds::Flag => (value.is_boolean(), "`true` or `false`"),
            Holds::Number => (value.is_number(), "a number"),
            Holds::Count => (value.is_u64(), "a whole number"),
            Holds::Object => (value.is_object(), "an object"),
            Holds::Schemas => (
                value.as_array().is_some_and(|list| !list.is_empty()),
                "a list that is not empty",
            ),
            Holds::Anything => continue,
        };
        if !fits {
            report.refuse(place, format!("`{field}` must be {what}"));
        }
    }
}

/// The type is in upper case where the root's is, and else in lower case.
fn is_in_case<'a>(place: &Place<'a>, upper: bool, report: &mut Report<'_, 'a>) {
    let name = place
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if name
        .chars()
        .any(|letter| letter.is_ascii_uppercase() != upper)
    {
        report.refuse(
            place,
            format!(
                "the type `{}` is not in the same case as the root's",
                short(name)
            ),
        );
    }
}

/// One of the few formats that are known not to be refused.
fn has_safe_format<'a>(place: &Place<'a>, report: &mut Report<'_, 'a>) {
    let of_numbers = kind::is(place, "integer") || kind::is(place, "number");
    let safe: &[&str] = match of_numbers {
        true => &["int32", "int64"],
        false if kind::is(place, "string") => &["date-time", "enum"],
        false => &[],
    };
    keyword::formats(place, safe, report);
}
