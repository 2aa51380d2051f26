//! How large a schema of strict mode may be.

use serde_json::Value;

use crate::accept::{
    kind,
    outline::{Place, Step},
    report::Report,
};

const LEVELS: usize = 10;
const PROPERTIES: usize = 5_000;
/// Of the names of properties and definitions, and of the values of `enum` and `const`.
const CHARACTERS: usize = 120_000;
const ENUM_VALUES: usize = 1_000;
/// From this many strings on, an `enum` has a budget of its own.
const LONG_ENUM: usize = 250;
const LONG_ENUM_CHARACTERS: usize = 15_000;

pub(in crate::accept) fn is_kept(report: &mut Report<'_, '_>) {
    levels(report);
    let (mut properties, mut values, mut characters) = (0, 0, 0);
    for place in report.outline().places() {
        properties += place.properties().map_or(0, |properties| properties.len());
        characters += names(place) + place.get("const").map_or(0, length);
        let listed = place
            .get("enum")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        values += listed.len();
        characters += listed.iter().map(length).sum::<usize>();
        long_enum(place, listed, report);
    }
    let budgets = [
        (properties, PROPERTIES, "properties"),
        (values, ENUM_VALUES, "enum values"),
        (
            characters,
            CHARACTERS,
            "characters of names, enum values and constants",
        ),
    ];
    for (spent, budget, what) in budgets {
        if spent > budget {
            report.refuse_all(format!("{spent} {what}, and at most {budget} are accepted"));
        }
    }
}

/// Objects and arrays nest; each definition starts anew, and references are not followed.
fn levels(report: &mut Report<'_, '_>) {
    let places = report.outline().places();
    let mut levels: Vec<usize> = Vec::with_capacity(places.len());
    for place in places {
        let outer = match (place.step, place.around()) {
            (Step::Named("$defs", _), _) | (_, None) => 0,
            (_, Some(around)) => levels.get(around).copied().unwrap_or_default(),
        };
        let nests = ["object", "array"]
            .into_iter()
            .any(|kind| kind::is(place, kind));
        let level = outer + usize::from(nests);
        if level > LEVELS && outer <= LEVELS {
            report.refuse(
                place,
                format!("objects and arrays may nest no deeper than {LEVELS} levels"),
            );
        }
        levels.push(level);
    }
}

fn long_enum<'a>(place: &Place<'a>, listed: &[Value], report: &mut Report<'_, 'a>) {
    let texts = || listed.iter().filter(|value| value.is_string());
    if texts().count() > LONG_ENUM {
        let characters: usize = texts().map(length).sum();
        if characters > LONG_ENUM_CHARACTERS {
            let rule = format!(
                "an `enum` of more than {LONG_ENUM} strings may have {LONG_ENUM_CHARACTERS} characters"
            );
            report.refuse(place, format!("{rule}, and this one has {characters}"));
        }
    }
}

/// The characters in the names that a schema gives.
fn names(place: &Place<'_>) -> usize {
    let named = ["properties", "$defs"]
        .into_iter()
        .filter_map(|keyword| place.get(keyword)?.as_object());
    named
        .flat_map(|members| members.keys())
        .map(|name| name.chars().count())
        .sum()
}

fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    }
}
